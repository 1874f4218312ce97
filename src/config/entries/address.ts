/** Addresses: `host:port` of listeners, and the endpoints and headers of OTLP signals. */
import type { Environment } from '../document.ts';
import { percentDecoded } from '../../model/percent-decoded.ts';

export interface Address {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

const WRITTEN = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):(\d{1,5})$/;

export function addressOf(text: string): Address | undefined {
  const match = WRITTEN.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** `true` for addresses of this machine only. A name other than localhost may resolve to any address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** The parts of `listen` that show whether a URL leads to this service. */
interface Listeners {
  readonly otlpHttp?: Address | undefined;
  readonly otlpGrpc?: Address | undefined;
  readonly tls?: object | undefined;
}

/** Makes a test for URLs of the listener for OTLP over HTTP. */
export function leadsBack(listen: Listeners): (url: string) => boolean {
  return (url) => isOwn(url, listen);
}

/** `true` for the URL of a listener of this service. */
export function isOwn(url: string, listen: Listeners, key: 'otlpHttp' | 'otlpGrpc' = 'otlpHttp'): boolean {
  const own = listen[key];
  const target = URL.parse(url);
  const protocol = listen.tls === undefined ? 'http:' : 'https:';
  if (own === undefined || target === null || target.protocol !== protocol) return false;
  const host = target.hostname.replace(/^\[|\]$/g, '');
  return (
    Number(target.port === '' ? { 'http:': 80, 'https:': 443 }[protocol] : target.port) === own.port &&
    (host === own.host || (isLoopback(host) && isLoopback(own.host)))
  );
}

export type Signal = 'traces' | 'logs' | 'metrics';

/** The full URL of a signal, from the configuration or the OTLP variables; `undefined` without either. Metrics need their own endpoint. */
export function signalEndpoint(signal: Signal, configured: string | undefined, env: Environment): string | undefined {
  if (configured !== undefined) return withPath(signal, configured);
  const own = env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`];
  if (own !== undefined && own !== '') return own;
  const base = signal === 'metrics' ? undefined : env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  return base === undefined || base === '' ? undefined : withPath(signal, base);
}

/** Headers of OTLP exporters from their variables. */
export function environmentHeaders(signal: Signal, env: Environment): { readonly [name: string]: string } {
  return environmentPairs(env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_HEADERS`] ?? env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '');
}

/** Reads `key=value,key=value` with percent-encoded values, the form of OpenTelemetry variables. */
export function environmentPairs(text: string): { readonly [name: string]: string } {
  const pairs = text.split(',').flatMap((pair): readonly (readonly [string, string])[] => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).trim();
    return name === '' ? [] : [[name, percentDecoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

/** Adds `/v1/` and the signal to the path, unless it ends so already. */
function withPath(signal: Signal, base: string): string {
  const url = URL.parse(base);
  if (url === null) return base;
  if (!url.pathname.endsWith(`/v1/${signal}`)) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`;
  return url.href;
}
