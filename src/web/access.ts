/** Who may ask the console for what: pages of other sites may not, and programs with the tokens that are asked for. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { HostRule } from '../model/http-hosts.ts';
import { failure } from './api/serve-api.ts';

export interface AccessOptions {
  readonly hosts: HostRule;
  /** Values of the tokens that may read. Empty: everybody may. Health needs none. */
  readonly readTokens: readonly string[];
  /** Values of the tokens that may change something. Where there are none, everybody may who needs no token to read. */
  readonly operateTokens: readonly string[];
  /** Likewise, of those that may annotate. */
  readonly annotateTokens: readonly string[];
}

export interface Denied {
  readonly status: 401 | 403;
  readonly body: ReturnType<typeof failure>;
}

/** The value of a token that nobody has: header values hold no line breaks. */
const noToken = '\n';

/** Why a request is not let in; undefined: it is. */
export function accessControl(options: AccessOptions): (request: FastifyRequest) => Denied | undefined {
  const mayRead = bearers(options.readTokens);
  const changing = (tokens: readonly string[]) => bearers(tokens.length > 0 ? tokens : options.readTokens.length > 0 ? [noToken] : []);
  const may = { operate: changing(options.operateTokens), annotate: changing(options.annotateTokens) };

  return (request) => {
    const { host, origin } = request.headers;
    if (!options.hosts.allowsHost(host)) return denied(403, 'host_not_allowed', `Host ${JSON.stringify(host?.slice(0, 100))} is not served here.`, 'Use the address that the service printed, or add the name to listen.allowed_hosts.');
    if (request.method === 'GET' || request.method === 'HEAD') return mayRead(request.headers.authorization) ? undefined : denied(401, 'unauthenticated', 'The request carries no token that may read.', 'Send Authorization: Bearer with a token of listen.tokens.');
    // A page of another site must not press a button here; browsers say where a request comes from.
    if (!['same-origin', 'none', undefined].includes(request.headers['sec-fetch-site'])) return denied(403, 'other_site', 'The request comes from a page of another site.', 'Send it from the console, or from a program.');
    if (!options.hosts.allowsOrigin(origin, host)) return denied(403, 'other_site', `The request comes from a page of ${JSON.stringify(origin?.slice(0, 100))}.`, 'Send it from the console or from a program, or add the origin to listen.allowed_origins.');
    const wanted = (request.routeOptions.config as { readonly may?: keyof typeof may }).may ?? 'operate';
    return may[wanted](request.headers.authorization) ? undefined : denied(401, 'unauthenticated', `The request carries no token that may ${wanted}.`, `Send Authorization: Bearer with a token of listen.tokens that may ${wanted}.`);
  };
}

function denied(status: Denied['status'], code: string, message: string, todo: string): Denied {
  return { status, body: failure(code, message, todo) };
}

/** No tokens: everybody. */
function bearers(tokens: readonly string[]): (authorization: string | undefined) => boolean {
  if (tokens.length === 0) return () => true;
  const hashes = tokens.map(hash);
  return (authorization) => {
    const given = hash(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '');
    // Every token is compared, so that the time tells nothing.
    return hashes.map((known) => timingSafeEqual(known, given)).includes(true);
  };
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
