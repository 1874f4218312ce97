/** An entry of `export` as the service reads it. */
import type { ClientTls } from '../../model/client-tls.ts';
import { scoreApis } from '../../exporters/index.ts';
import { otlpProtocols, type OtlpProtocol } from '../../exporters/settings.ts';
import { quantityOf } from '../../model/quantities.ts';
import type { ExporterConfig } from '../config.ts';
import { environmentHeaders, signalEndpoint, type Signal } from './endpoint.ts';
import { forwardSettings } from './forward-entry.ts';
import { nativeGiven } from './native-entry.ts';
import { objectAt } from '../partial-value.ts';
import type { Environment } from '../substitution.ts';
import { webhookSettings } from './webhook-entry.ts';
import { member, type JsonObject } from '../../model/json.ts';

/** `certificates`: those that were read for it. */
export function exporterEntry(written: JsonObject, env: Environment, certificates: ClientTls | undefined): ExporterConfig {
  const [name, to] = [exporterName(written), member(written, 'to')];
  const given = Object.fromEntries(Object.entries(objectAt(written, 'headers')).map(([header, value]) => [header, String(value)] as const));
  const headers = (signal: Signal) => (Object.keys(given).length === 0 ? environmentHeaders(signal, env) : given);
  const url = (signal: Signal): string | undefined => signalEndpoint(signal, member(written, 'endpoint'), env);
  const tls = certificates === undefined ? {} : { tls: certificates };
  const giveUp = {
    attempts: Number(member(objectAt(written, 'give_up'), 'attempts')),
    ageMs: duration(objectAt(written, 'give_up'), 'age'),
  };
  const native = scoreApis.find(({ id }) => id === to);
  if (native !== undefined) {
    const { endpoint = '', keys } = nativeGiven(native, written, env);
    return {
      to: native.id,
      name,
      giveUp: { ...giveUp, missingMs: duration(objectAt(written, 'give_up'), 'missing') },
      endpoint,
      headers: given,
      keys,
      ...tls,
    };
  }
  const traces = { tracesEndpoint: url('traces') ?? '', headers: headers('traces') };
  switch (to) {
    case 'webhook':
      return { to, name, giveUp, headers: given, webhook: webhookSettings(written), ...tls };
    case 'log_events':
      return { to, name, giveUp, logsEndpoint: url('logs') ?? '', headers: headers('logs'), protocol: otlpProtocol(written), ...tls };
    case 'forward':
      return { to, name, giveUp, ...forwardSettings(written, traces), ...tls };
    case 'span_events':
      return { to, name, giveUp, ...traces, protocol: otlpProtocol(written), judgeCalls: member(written, 'judge_calls') !== false, ...tls };
    default: {
      const place = url('metrics');
      const temporality = member(written, 'temporality') === 'delta' ? 'delta' : 'cumulative';
      return {
        to: 'metrics',
        name,
        ...(place === undefined
          ? {}
          : { push: { url: place, headers: headers('metrics'), intervalMs: duration(written, 'interval'), temporality, ...tls } }),
      };
    }
  }
}

function otlpProtocol(written: JsonObject): OtlpProtocol {
  return otlpProtocols.find((one) => one === member(written, 'protocol')) ?? 'http/protobuf';
}

function duration(from: JsonObject, key: string): number {
  return quantityOf('duration', member(from, key)) ?? 0;
}

/** That of its kind when it has none of its own. */
export function exporterName(entry: JsonObject): string {
  const [name, to] = [member(entry, 'name'), member(entry, 'to')];
  return typeof name === 'string' ? name : typeof to === 'string' ? to : '';
}
