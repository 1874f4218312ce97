/** `host:port` of a listener. */
import { member, type JsonObject } from '../../model/json.ts';
import { objectAt } from '../partial-value.ts';

export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

const WRITTEN = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):(\d{1,5})$/;

export function addressOf(text: string): Address | undefined {
  const match = WRITTEN.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** Reachable from this machine only. A name other than localhost may lead anywhere, so it is not. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** Whether a URL is that of the listener for OTLP over HTTP. */
export function leadsBack(value: JsonObject): (url: string) => boolean {
  return (url) => isOwn(url, objectAt(value, 'listen'));
}

/** Whether a URL is that of a listener of this service. */
export function isOwn(url: string, listen: JsonObject, key: 'otlp_http' | 'otlp_grpc' = 'otlp_http'): boolean {
  const written = member(listen, key);
  const own = typeof written === 'string' ? addressOf(written) : undefined;
  const target = URL.parse(url);
  const protocol = member(listen, 'tls') === undefined ? 'http:' : 'https:';
  if (own === undefined || target === null || target.protocol !== protocol) return false;
  const host = target.hostname.replace(/^\[|\]$/g, '');
  return (
    Number(target.port === '' ? { 'http:': 80, 'https:': 443 }[protocol] : target.port) === own.port &&
    (host === own.host || (isLoopback(host) && isLoopback(own.host)))
  );
}
