/** The destination of an entry of `export`, from the entry or a variable. */
import { scoreApis } from '../../exporters/index.ts';
import { member, type JsonObject } from '../../model/json.ts';
import { signalEndpoint, type Signal } from './endpoint.ts';
import { nativeGiven } from './native-entry.ts';
import type { Environment } from '../substitution.ts';

const signals: ReadonlyMap<unknown, Signal> = new Map([
  ['span_events', 'traces'],
  ['forward', 'traces'],
  ['log_events', 'logs'],
  ['metrics', 'metrics'],
]);

/** What an entry sends over OTLP; undefined: it sends something else. */
export function exportSignal(entry: JsonObject): Signal | undefined {
  return signals.get(member(entry, 'to'));
}

/** Undefined when neither names one. */
export function exportUrl(entry: JsonObject, env: Environment): string | undefined {
  const [to, written] = [member(entry, 'to'), member(entry, 'endpoint')];
  const native = scoreApis.find(({ id }) => id === to);
  if (native !== undefined) return nativeGiven(native, entry, env).endpoint;
  const signal = exportSignal(entry);
  if (signal !== undefined) return signalEndpoint(signal, written, env);
  return typeof written === 'string' ? written : undefined;
}
