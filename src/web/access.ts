/** Who may ask the console for what: pages of other sites may not, and programs with the tokens that are asked for. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { HostRule } from '../model/http-hosts.ts';
import { tenant } from '../model/ids.ts';
import { failure, type OnlyTenant } from './api/serve-api.ts';

export interface AccessOptions {
  readonly hosts: HostRule;
  /** Values of the tokens that may read. Empty: everybody may. Health needs none. */
  readonly readTokens: readonly string[];
  /** Of these, the ones that see the tenant of their name alone; absent: none. */
  readonly ownTokens?: readonly { readonly name: string; readonly value: string }[];
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
  const onlyTenant = tenantsSeen(options);
  const changing = (tokens: readonly string[]) => bearers(tokens.length > 0 ? tokens : options.readTokens.length > 0 ? [noToken] : []);
  const may = { operate: changing(options.operateTokens), annotate: changing(options.annotateTokens) };

  return (request) => {
    const { host, origin } = request.headers;
    if (!options.hosts.allowsHost(host))
      return denied(
        403,
        'host_not_allowed',
        `Host ${JSON.stringify(host?.slice(0, 100))} is not served here.`,
        'Use the address that the service printed, or add the name to listen.allowed_hosts.',
      );
    const isScoped = onlyTenant(request.headers.authorization) !== undefined;
    if (request.method === 'GET' || request.method === 'HEAD') {
      if (!mayRead(request.headers.authorization))
        return denied(
          401,
          'unauthenticated',
          'The request carries no token that may read.',
          'Send Authorization: Bearer with a token of listen.tokens.',
        );
      const isOfTenants = (request.routeOptions.config as { readonly isOfTenants?: boolean }).isOfTenants === true;
      return isScoped && !isOfTenants
        ? denied(
            403,
            'all_tenants',
            'This tells of all tenants, and the token sees its own alone.',
            'Use a token of listen.tokens that sees all tenants.',
          )
        : undefined;
    }
    // A page of another site must not press a button here; browsers say where a request comes from.
    if (!['same-origin', 'none', undefined].includes(request.headers['sec-fetch-site']))
      return denied(403, 'other_site', 'The request comes from a page of another site.', 'Send it from the console, or from a program.');
    if (!options.hosts.allowsOrigin(origin, host))
      return denied(
        403,
        'other_site',
        `The request comes from a page of ${JSON.stringify(origin?.slice(0, 100))}.`,
        'Send it from the console or from a program, or add the origin to listen.allowed_origins.',
      );
    const wanted = (request.routeOptions.config as { readonly may?: keyof typeof may }).may ?? 'operate';
    return may[wanted](request.headers.authorization) && !isScoped
      ? undefined
      : denied(
          401,
          'unauthenticated',
          `The request carries no token that may ${wanted}.`,
          `Send Authorization: Bearer with a token of listen.tokens that may ${wanted}.`,
        );
  };
}

function denied(status: Denied['status'], code: string, message: string, todo: string): Denied {
  return { status, body: failure(code, message, todo) };
}

/** The tenant that a token sees alone: that of its name. */
export function tenantsSeen({ ownTokens = [] }: Pick<AccessOptions, 'ownTokens'>): OnlyTenant {
  const known = ownTokens.map(({ name, value }) => ({ name: tenant(name), isOf: bearers([value]) }));
  return (authorization) => known.filter(({ isOf }) => isOf(authorization)).at(0)?.name;
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
