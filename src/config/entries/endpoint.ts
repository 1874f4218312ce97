/** Where and how a signal is sent: the configuration first, then the variables that every OTLP exporter knows. */
import type { JsonValue } from '../../model/json.ts';
import type { Environment } from '../substitution.ts';

export type Signal = 'traces' | 'logs' | 'metrics';

/** The complete URL of a signal; undefined when nobody named one. Metrics have a page: only who names them has them pushed as well. */
export function signalEndpoint(signal: Signal, configured: JsonValue | undefined, env: Environment): string | undefined {
  if (typeof configured === 'string') return withPath(signal, configured);
  const own = env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`];
  if (own !== undefined && own !== '') return own;
  const base = signal === 'metrics' ? undefined : env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  return base === undefined || base === '' ? undefined : withPath(signal, base);
}

/** Headers of the exporter, as its specification writes them. */
export function environmentHeaders(signal: Signal, env: Environment): { readonly [name: string]: string } {
  return environmentPairs(env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_HEADERS`] ?? env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '');
}

/** `key=value,key=value` with percent-encoded values: the form of headers and of resource attributes in the variables of OpenTelemetry. */
export function environmentPairs(text: string): { readonly [name: string]: string } {
  const pairs = text.split(',').flatMap((pair): readonly (readonly [string, string])[] => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).trim();
    return name === '' ? [] : [[name, decoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `/v1/` and the signal below whatever path the base has; a base that names the signal already is taken as it is. */
function withPath(signal: Signal, base: string): string {
  const url = URL.parse(base);
  if (url === null) return base;
  if (!url.pathname.endsWith(`/v1/${signal}`)) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`;
  return url.href;
}
