/** Where and how spans are sent: the configuration first, then the variables that every OTLP exporter knows. */
import type { JsonValue } from '../model/json.ts';
import type { Environment } from './substitution.ts';

/** The complete URL of the trace signal; undefined when nobody named one. */
export function traceEndpoint(configured: JsonValue | undefined, env: Environment): string | undefined {
  if (typeof configured === 'string') return withPath(configured);
  const traces = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (traces !== undefined && traces !== '') return traces;
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  return base === undefined || base === '' ? undefined : withPath(base);
}

/** `key=value,key=value`, values percent-encoded, as the OTLP exporter specification writes headers. */
export function environmentHeaders(env: Environment): { readonly [name: string]: string } {
  const text = env['OTEL_EXPORTER_OTLP_TRACES_HEADERS'] ?? env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '';
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

/** `/v1/traces` below whatever path the base has; a base that names the signal already is taken as it is. */
function withPath(base: string): string {
  const url = URL.parse(base);
  if (url === null) return base;
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
}
