/** Identifies callers of the console and their rights: by host, origin, token and session. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { machineOf } from '../model/client-address.ts';
import type { HostRule } from '../model/http-hosts.ts';
import { tenant } from '../model/ids.ts';
import type { SignInStore } from '../model/store/sign-in-store.ts';
import { type Caller, type Right, rights, type SignInWay, type Visit } from './api/route.ts';
import { failure } from './api/serve-api.ts';
import type { IsOpen } from './console-files.ts';
import type { Holder } from './request-guard.ts';
import { attemptLimiter, type Session, type SessionHolder, sessionMs, sharedSessionTable, sessionTable } from './browser-sessions.ts';

export interface AccessToken {
  readonly name: string;
  /** Secret. */
  readonly value: string;
  /** `read`, `annotate` and `operate` count here. */
  readonly may: readonly string[];
  /** `own`: the token sees only the tenant of its name. */
  readonly sees?: 'own';
}

export interface AccessOptions {
  readonly hosts: HostRule;
  /** Everybody may read when no token may; a change then needs a token only where one may make it. Health checks need no token. */
  readonly tokens: readonly AccessToken[];
  /** True when people may sign in with OpenID Connect, and no one reads without a sign-in or a token. */
  readonly hasPeople: boolean;
  /** True when the listener speaks TLS, so its cookies travel only over TLS. */
  readonly isSecure: boolean;
  /** In the name of the cookie: browsers share cookies between the ports of a host. */
  readonly port: number;
  readonly nowMs: () => number;
  /** Text of 256 random bits. */
  readonly secret: () => string;
  /** Sign-ins of all processes on one store. When absent, this process keeps its own. */
  readonly shared?: SharedSignIns | undefined;
  /** Called for each sign-in that is refused. */
  readonly onRefused: () => void;
}

export interface SharedSignIns {
  readonly store: Pick<SignInStore, 'begin' | 'find' | 'end'>;
  /** Known to all processes on the store, and to no one else. */
  readonly secret: string;
  /** Settings of people who may sign in, as a text. */
  readonly people: string;
}

interface Denied {
  readonly status: 401 | 403;
  readonly body: ReturnType<typeof failure>;
}

export interface Access {
  /** Finds the session of a request; before it, the request has none. */
  identify(request: FastifyRequest): Promise<void>;
  callerOf(request: FastifyRequest): Caller;
  /** The holder of an answer's room: the token or the person, or else the machine. */
  holderOf(request: FastifyRequest): Holder;
  /** The refusal of a request; `undefined` when it is allowed. */
  denied(request: FastifyRequest): Denied | undefined;
  /** The caller with what changes its session. */
  visitOf(request: FastifyRequest, reply: FastifyReply): Omit<Visit, 'otlp'>;
  /** Begins a session and gives the browser its cookie. */
  begin(reply: FastifyReply, holder: SessionHolder): Promise<Session>;
}

export function accessControl(options: AccessOptions): Access {
  const { tokens, hosts, isSecure, port } = options;
  const hashes = tokens.map(({ value }) => hash(value));
  const { shared } = options;
  const sessions =
    shared === undefined
      ? sessionTable(options)
      : sharedSessionTable({ ...options, store: shared.store, allowed: JSON.stringify([tokens, shared.people]) });
  const attempts = attemptLimiter(options.nowMs);
  const callers = new WeakMap<IncomingMessage, Caller>();
  // Behind one address the processes may listen on different ports.
  const place = shared === undefined ? port : hash(shared.secret).toString('hex').slice(0, 12);
  const cookieName = `${isSecure ? '__Host-' : ''}tracejury_${place}`;
  const isSignInNeeded = options.hasPeople || tokens.some(({ may }) => may.includes('read'));
  const ofAnyone = rights.filter((right) => !isSignInNeeded && !tokens.some(({ may }) => may.includes(right)));
  const ways: readonly SignInWay[] = [
    ...(tokens.some(({ may }) => may.includes('read')) ? (['token'] as const) : []),
    ...(options.hasPeople ? (['oidc'] as const) : []),
  ];

  function tokenHolder(value: string): SessionHolder | undefined {
    const given = hash(value);
    // Compares every token, so that the duration reveals nothing.
    const isOf = hashes.map((known) => timingSafeEqual(known, given));
    const found = tokens.filter((_, at) => isOf[at] === true);
    const [first] = found;
    if (first === undefined) return undefined;
    const own = found.find(({ may, sees }) => sees === 'own' && may.includes('read'));
    // Changes concern all tenants.
    if (own !== undefined) return { name: own.name, isPerson: false, rights: ['read'], tenant: tenant(own.name) };
    const held = rights.filter((right) => ofAnyone.includes(right) || found.some(({ may }) => may.includes(right)));
    return { name: first.name, isPerson: false, rights: held, tenant: undefined };
  }

  function read(request: FastifyRequest, session: Session | undefined): Caller {
    const { authorization } = request.headers;
    const anyone = { name: undefined, isPerson: false, rights: ofAnyone, tenant: undefined, session: undefined };
    if (authorization !== undefined) {
      const holder = tokenHolder(/^Bearer (.+)$/i.exec(authorization)?.[1] ?? '');
      return holder === undefined ? anyone : { ...holder, session: undefined };
    }
    if (session === undefined) return anyone;
    const { name, isPerson, rights: held, tenant: only } = session;
    return { name, isPerson, rights: held, tenant: only, session };
  }

  function callerOf(request: FastifyRequest): Caller {
    return callers.get(request.raw) ?? read(request, undefined);
  }

  async function identify(request: FastifyRequest): Promise<void> {
    const cookie = request.headers.authorization === undefined ? (request.cookies[cookieName] ?? '') : '';
    callers.set(request.raw, read(request, await sessions.of(cookie)));
  }

  const cookieOptions = { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure } as const;

  async function begin(reply: FastifyReply, holder: SessionHolder): Promise<Session> {
    const { cookie, session } = await sessions.begin(holder);
    void reply.setCookie(cookieName, cookie, { ...cookieOptions, maxAge: sessionMs / 1_000 });
    return session;
  }

  async function signIn(token: string, request: FastifyRequest, reply: FastifyReply): ReturnType<Visit['signIn']> {
    const holder = attempts.allows(machineOf(request.ip)) ? tokenHolder(token) : 'too_many';
    if (holder !== 'too_many' && holder?.rights.includes('read') === true) {
      await sessions.end(request.cookies[cookieName] ?? '');
      return { ...holder, session: await begin(reply, holder) };
    }
    options.onRefused();
    if (holder === 'too_many') return holder;
    attempts.failed(machineOf(request.ip));
    return 'refused';
  }

  return {
    identify,
    callerOf,
    holderOf(request) {
      const { name, rights: held } = callerOf(request);
      return { name: name === undefined ? `address ${machineOf(request.ip)}` : `name ${name}`, isStranger: !held.includes('read') };
    },
    begin,
    denied: (request) => denialOf(request, callerOf(request), hosts),
    visitOf: (request, reply) => ({
      ...callerOf(request),
      isSignInNeeded,
      ways,
      signIn: (token) => signIn(token, request, reply),
      async signOut() {
        await sessions.end(request.cookies[cookieName] ?? '');
        void reply.clearCookie(cookieName, cookieOptions);
      },
    }),
  };
}

function denialOf(request: FastifyRequest, caller: Caller, hosts: HostRule): Denied | undefined {
  const { host, origin } = request.headers;
  if (!hosts.allowsHost(host))
    return denied(
      403,
      'host_not_allowed',
      `The console does not serve the host ${JSON.stringify(host?.slice(0, 100))}.`,
      'Use the address that the service printed, or add the name to listen.allowed_hosts.',
    );
  const { isOfTenants = false, may: wanted = 'operate', isOpen } = request.routeOptions.config as RouteConfig;
  if (request.method === 'GET' || request.method === 'HEAD') {
    if (isOpen?.(request.url) === true) return undefined;
    if (!caller.rights.includes('read'))
      return denied(
        401,
        'unauthenticated',
        'The request carries no token that may read.',
        'Send Authorization: Bearer with a token of listen.tokens, or sign in at /sign-in.',
      );
    return caller.tenant !== undefined && !isOfTenants
      ? denied(
          403,
          'all_tenants',
          'The address shows all tenants, and the token sees only its own.',
          'Use a token of listen.tokens that sees all tenants.',
        )
      : undefined;
  }
  // Browsers name the site of the page that sends a request.
  if (!['same-origin', 'none', undefined].includes(request.headers['sec-fetch-site']))
    return denied(403, 'other_site', 'The request comes from a page of another site.', 'Send it from the console, or from a program.');
  if (!hosts.allowsOrigin(origin, host))
    return denied(
      403,
      'other_site',
      `The request comes from a page of ${JSON.stringify(origin?.slice(0, 100))}.`,
      'Send it from the console or from a program, or add the origin to listen.allowed_origins.',
    );
  if (caller.session !== undefined && !isSame(request.headers['x-anti-forgery'], caller.session.antiForgery))
    return denied(
      403,
      'anti_forgery',
      'The change carries a cookie and not the anti-forgery value of its session.',
      'Send the header X-Anti-Forgery with the value of GET /api/v1/session, or a token as Authorization: Bearer.',
    );
  if (isOpen?.(request.url) === true || caller.rights.includes(wanted)) return undefined;
  return caller.session === undefined
    ? denied(
        401,
        'unauthenticated',
        `The request carries no token that may ${wanted}.`,
        `Send Authorization: Bearer with a token of listen.tokens that may ${wanted}.`,
      )
    : denied(403, 'not_allowed', `${caller.name ?? 'The session'} may not ${wanted}.`, `Sign in with a token that may ${wanted}.`);
}

/** `config` of a route. */
interface RouteConfig {
  /** True when the answer is about one tenant, or leaves out the others. */
  readonly isOfTenants?: boolean;
  /** The right that a change needs. */
  readonly may?: Right;
  readonly isOpen?: IsOpen;
}

function denied(status: Denied['status'], code: string, message: string, todo: string): Denied {
  return { status, body: failure(code, message, todo) };
}

function isSame(given: string | readonly string[] | undefined, wanted: string): boolean {
  return timingSafeEqual(hash(String(given)), hash(wanted));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
