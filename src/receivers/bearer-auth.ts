/** Who sends: the token of a request decides the tenant. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { noTenant, tenant, type Tenant } from '../model/ids.ts';

export interface Token {
  readonly name: string;
  readonly value: string;
}

/** The tenant of an Authorization header; undefined: it carries no valid token. Without tokens everybody is `noTenant`. */
export function tenantByToken(tokens: readonly Token[]): (authorization: string | undefined) => Tenant | undefined {
  const known = tokens.map(({ name, value }) => ({ tenant: tenant(name), digest: digest(value) }));
  if (known.length === 0) return () => noTenant;
  return (authorization) => {
    const sent = digest(BEARER.exec(authorization ?? '')?.[1] ?? '');
    let found: Tenant | undefined;
    // Every token is compared, so that the time tells nothing about which one was close; equal digests hide the lengths.
    for (const row of known) if (timingSafeEqual(row.digest, sent)) found = row.tenant;
    return found;
  };
}

const BEARER = /^Bearer +(\S+) *$/i;

function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
