/** Where and how a signal is sent: the configuration first, then the variables that every OTLP exporter knows. */
import type { JsonValue } from '../../model/json.ts';
import type { Environment } from '../substitution.ts';

export type Signal = 'traces' | 'logs' | 'metrics';

/** The complete URL of a signal; undefined when none is named. Metrics have a page: they are pushed only where an endpoint of their own is named. */
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

/** Adds `/v1/` and the signal to the path of the base; a base that names the signal already stays unchanged. */
function withPath(signal: Signal, base: string): string {
  const url = URL.parse(base);
  if (url === null) return base;
  if (!url.pathname.endsWith(`/v1/${signal}`)) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`;
  return url.href;
}
