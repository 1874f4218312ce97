/** Sign-in of people with OpenID Connect: the authorization code flow with PKCE, state and nonce. */
import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  type IDToken,
} from 'openid-client';
import type { Access } from './access.ts';
import { type Right, rights } from './api/route.ts';
import type { SessionHolder } from './browser-sessions.ts';
import type { IsOpen } from './console-files.ts';
import { recentMap } from '../model/recent-map.ts';

export interface AllowedPeople {
  /** An address, or `*@example.org` for all of a domain. The issuer must have verified it. */
  readonly email?: string;
  /** `sub` of the issuer. */
  readonly subject?: string;
  readonly may: readonly Right[];
}

export interface PeopleSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Secret. */
  readonly clientSecret: string;
  readonly allowed: readonly AllowedPeople[];
  /** Address of the console as browsers see it; `undefined`: that of the request. */
  readonly url?: string;
  /** Another way to the issuer than that of Node. */
  readonly fetch?: CustomFetch;
}

export interface PeopleOptions extends PeopleSettings {
  readonly nowMs: () => number;
  readonly secret: () => string;
  /** Known to all processes on one store: a sign-in may begin at one and end at another. */
  readonly sharedSecret?: string | undefined;
  readonly isSecure: boolean;
  readonly port: number;
  readonly onRefused: () => void;
  readonly onFault: (error: Error) => void;
}

const startedMs = 10 * 60_000;
/** Tickets that have come back; at the bound the oldest is forgotten. The issuer takes a code once as well. */
export const usedTicketsMax = 1_000;
/** Time limit of one request to the issuer. */
const issuerTimeoutS = 10;

export function servePeople(app: FastifyInstance, access: Pick<Access, 'begin'>, options: PeopleOptions): void {
  const { nowMs, secret, isSecure, port, clientId } = options;
  const key = options.sharedSecret ?? secret();
  const used = recentMap<string, true>(usedTicketsMax);
  const cookieName = `${isSecure ? '__Secure-' : ''}tracejury_${port}_sign_in`;
  // Lax: the browser comes back from the issuer, which is another site.
  const cookieOptions = { path: '/sign-in', httpOnly: true, sameSite: 'lax', secure: isSecure } as const;
  const isOpen: IsOpen = () => true;
  let known: Promise<Configuration> | undefined;

  /** Shared by all who ask meanwhile. A request that fails is sent again for the next one. */
  function issuer(): Promise<Configuration> {
    known ??= discovery(new URL(options.issuer), clientId, options.clientSecret, undefined, {
      timeout: issuerTimeoutS,
      // The signature of an ID token is checked even though it comes from the issuer's own address.
      execute: [enableNonRepudiationChecks],
      ...(options.fetch === undefined ? {} : { [customFetch]: options.fetch }),
    }).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  /**
   * All data of a ticket follows from it, so the service keeps nothing of a sign-in on its way, and a flood of them ends no other one. A ticket that
   * the service has not given fails, because only the service can make its state.
   */
  function partOf(ticket: string, part: 'state' | 'nonce' | 'verifier'): string {
    return createHmac('sha256', key).update(`${part} ${ticket}`).digest('base64url');
  }

  function callbackOf(request: FastifyRequest): string {
    return new URL('/sign-in/callback', options.url ?? `${isSecure ? 'https' : 'http'}://${request.host}`).href;
  }

  app.get('/sign-in/start', { config: { isOpen } }, async (request, reply) => {
    try {
      const config = await issuer();
      const ticket = `${nowMs() + startedMs}.${secret()}`;
      const to = buildAuthorizationUrl(config, {
        redirect_uri: callbackOf(request),
        scope: 'openid email profile',
        code_challenge: await calculatePKCECodeChallenge(partOf(ticket, 'verifier')),
        code_challenge_method: 'S256',
        state: partOf(ticket, 'state'),
        nonce: partOf(ticket, 'nonce'),
      });
      return await reply.setCookie(cookieName, ticket, { ...cookieOptions, maxAge: startedMs / 1_000 }).redirect(to.href, 302);
    } catch (error) {
      options.onFault(faultOf('the issuer of OpenID Connect cannot be reached', error));
      return await reply.redirect('/sign-in?refused=failed', 302);
    }
  });

  app.get('/sign-in/callback', { config: { isOpen } }, async (request, reply) => {
    const ticket = request.cookies[cookieName] ?? '';
    const [expiresAtMs = ''] = ticket.split('.', 1);
    void reply.clearCookie(cookieName, cookieOptions);
    // One attempt for each start.
    if (!(Number(expiresAtMs) > nowMs()) || used.get(ticket) === true) return await refuse('expired');
    used.set(ticket, true);
    try {
      const tokens = await authorizationCodeGrant(await issuer(), new URL(request.url, callbackOf(request)), {
        pkceCodeVerifier: partOf(ticket, 'verifier'),
        expectedState: partOf(ticket, 'state'),
        expectedNonce: partOf(ticket, 'nonce'),
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      const holder = claims === undefined ? undefined : personOf(claims, options.allowed);
      if (holder === undefined) return await refuse('not_allowed');
      await access.begin(reply, holder);
      return await reply.redirect('/', 302);
    } catch (error) {
      options.onFault(faultOf('a sign-in with OpenID Connect failed', error));
      return await refuse('failed');
    }

    async function refuse(why: 'expired' | 'not_allowed' | 'failed'): Promise<unknown> {
      options.onRefused();
      return await reply.redirect(`/sign-in?refused=${why}`, 302);
    }
  });
}

/** The person with the rights of all entries that name them; `undefined`: no entry does, or none of them may read. */
export function personOf(claims: IDToken, allowed: readonly AllowedPeople[]): SessionHolder | undefined {
  // An address that the issuer has not verified may be anybody's.
  const email = typeof claims['email'] === 'string' && claims['email_verified'] === true ? claims['email'].toLowerCase() : undefined;
  const entries = allowed.filter(
    (one) => one.subject === claims.sub || (email !== undefined && one.email !== undefined && isOf(email, one.email.toLowerCase())),
  );
  const held = rights.filter((right) => entries.some(({ may }) => may.includes(right)));
  return held.includes('read') ? { name: email ?? claims.sub, isPerson: true, rights: held, tenant: undefined } : undefined;
}

function isOf(email: string, allowed: string): boolean {
  return allowed.startsWith('*@')
    ? email.endsWith(allowed.slice(1)) && email.indexOf('@') === email.length - allowed.length + 1
    : email === allowed;
}

/** Without the parameters of the request, which hold a code. */
function faultOf(what: string, error: unknown): Error {
  const { message, code } = error as { readonly message?: string; readonly code?: string };
  return new Error(`${what}: ${message ?? 'unknown fault'}${code === undefined ? '' : ` (${code})`}`);
}
