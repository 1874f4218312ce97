/** Response bounds of the console. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
<<<<<<< HEAD
import type { FastifyRequest } from 'fastify';
import type { HostRule } from '../model/http-hosts.ts';
import { tenant } from '../model/ids.ts';
import { failure, type OnlyTenant, type TokenName } from './api/serve-api.ts';
import type { IsOpen } from './console-files.ts';

export interface AccessOptions {
  readonly hosts: HostRule;
  /** Values of tokens that may read; everybody may when empty. Health checks need no token. */
  readonly readTokens: readonly string[];
  /** Read tokens that see only the tenant of their name. */
  readonly ownTokens?: readonly { readonly name: string; readonly value: string }[];
  /** All tokens by name. */
  readonly namedTokens?: readonly { readonly name: string; readonly value: string }[];
  /** Values of tokens that may operate. When empty, everybody may if reading needs no token either. */
  readonly operateTokens: readonly string[];
  /** The same for tokens that may annotate. */
  readonly annotateTokens: readonly string[];
}

interface Denied {
  readonly status: 401 | 403;
  readonly body: ReturnType<typeof failure>;
}

/** A token that no client can send: header values contain no line breaks. */
const noToken = '\n';

/** Gives the refusal of a request; `undefined` when it is allowed. */
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
        `The console does not serve the host ${JSON.stringify(host?.slice(0, 100))}.`,
        'Use the address that the service printed, or add the name to listen.allowed_hosts.',
      );
    const isScoped = onlyTenant(request.headers.authorization) !== undefined;
    if (request.method === 'GET' || request.method === 'HEAD') {
      if (isOpen(request)) return undefined;
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
            'The address shows all tenants, and the token sees its own alone.',
            'Use a token of listen.tokens that sees all tenants.',
          )
        : undefined;
    }
    // Browsers name the site of the page that sends a request.
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

/** Files and pages of the console carry nothing of a run, and the page to sign in is one of them. */
function isOpen({ url, routeOptions }: FastifyRequest): boolean {
  return (routeOptions.config as { readonly isOpen?: IsOpen }).isOpen?.(url) === true;
}

function denied(status: Denied['status'], code: string, message: string, todo: string): Denied {
  return { status, body: failure(code, message, todo) };
}

/** Finds the tenant of a token with `sees: own`. */
export function tenantsSeen({ ownTokens = [] }: Pick<AccessOptions, 'ownTokens'>): OnlyTenant {
  const known = ownTokens.map(({ name, value }) => ({ name: tenant(name), isOf: bearers([value]) }));
  return (authorization) => known.filter(({ isOf }) => isOf(authorization)).at(0)?.name;
}

/** Finds the name of a token. */
export function tokenNames({ namedTokens = [] }: Pick<AccessOptions, 'namedTokens'>): TokenName {
  const known = namedTokens.map(({ name, value }) => ({ name, isOf: bearers([value]) }));
  return (authorization) => known.filter(({ isOf }) => isOf(authorization)).at(0)?.name;
}

/** Accepts everybody when there are no tokens. */
function bearers(tokens: readonly string[]): (authorization: string | undefined) => boolean {
  if (tokens.length === 0) return () => true;
  const hashes = tokens.map(hash);
  return (authorization) => {
    const given = hash(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '');
    // Compares every token, so that the duration reveals nothing.
    return hashes.map((known) => timingSafeEqual(known, given)).includes(true);
  };
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
||||||| 1da950d3
import type { FastifyRequest } from 'fastify';
import type { HostRule } from '../model/http-hosts.ts';
import { tenant } from '../model/ids.ts';
import { failure, type OnlyTenant } from './api/serve-api.ts';
import type { IsOpen } from './console-files.ts';

export interface AccessOptions {
  readonly hosts: HostRule;
  /** Values of tokens that may read; everybody may when empty. Health checks need no token. */
  readonly readTokens: readonly string[];
  /** Read tokens that see only the tenant of their name. */
  readonly ownTokens?: readonly { readonly name: string; readonly value: string }[];
  /** Values of tokens that may operate. When empty, everybody may if reading needs no token either. */
  readonly operateTokens: readonly string[];
  /** The same for tokens that may annotate. */
  readonly annotateTokens: readonly string[];
}

interface Denied {
  readonly status: 401 | 403;
  readonly body: ReturnType<typeof failure>;
}

/** A token that no client can send: header values contain no line breaks. */
const noToken = '\n';

/** Gives the refusal of a request; `undefined` when it is allowed. */
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
        `The console does not serve the host ${JSON.stringify(host?.slice(0, 100))}.`,
        'Use the address that the service printed, or add the name to listen.allowed_hosts.',
      );
    const isScoped = onlyTenant(request.headers.authorization) !== undefined;
    if (request.method === 'GET' || request.method === 'HEAD') {
      if (isOpen(request)) return undefined;
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
            'The address shows all tenants, and the token sees its own alone.',
            'Use a token of listen.tokens that sees all tenants.',
          )
        : undefined;
    }
    // Browsers name the site of the page that sends a request.
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

/** Files and pages of the console carry nothing of a run, and the page to sign in is one of them. */
function isOpen({ url, routeOptions }: FastifyRequest): boolean {
  return (routeOptions.config as { readonly isOpen?: IsOpen }).isOpen?.(url) === true;
}

function denied(status: Denied['status'], code: string, message: string, todo: string): Denied {
  return { status, body: failure(code, message, todo) };
}

/** Finds the tenant of a token with `sees: own`. */
export function tenantsSeen({ ownTokens = [] }: Pick<AccessOptions, 'ownTokens'>): OnlyTenant {
  const known = ownTokens.map(({ name, value }) => ({ name: tenant(name), isOf: bearers([value]) }));
  return (authorization) => known.filter(({ isOf }) => isOf(authorization)).at(0)?.name;
}

/** Accepts everybody when there are no tokens. */
function bearers(tokens: readonly string[]): (authorization: string | undefined) => boolean {
  if (tokens.length === 0) return () => true;
  const hashes = tokens.map(hash);
  return (authorization) => {
    const given = hash(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '');
    // Compares every token, so that the duration reveals nothing.
    return hashes.map((known) => timingSafeEqual(known, given)).includes(true);
  };
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
=======
>>>>>>> wt/shell

interface ResponseGate {
  /** Resolves when the earlier requests on the connection have their answers. `false` when the client is gone. */
  inTurn(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Resolves with `go` when there is room for one more answer, `busy` after a vain wait, `gone` when the client is gone. */
  room(request: IncomingMessage, response: ServerResponse): Promise<'go' | 'busy' | 'gone'>;
  /** `false` when the answer exceeds the bytes in flight. A single answer always fits. Its bytes count until the client has read it. */
  fits(response: ServerResponse, bytes: number): boolean;
}

export interface ResponseBounds {
  /** Requests on one connection that wait for earlier ones. Browsers and Prometheus send none. */
  readonly pipelinedMax: number;
  /** Concurrent answers. */
  readonly answersMax: number;
  /** Bytes of answers that clients have not read. */
  readonly bytesMax: number;
  /** Requests that wait for room, over all connections. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** While others wait, the longest time without progress of an answer. */
  readonly stallMs: number;
  /** From the start of an answer to its end. */
  readonly answerMs: number;
}

export const defaultResponseBounds: ResponseBounds = {
  pipelinedMax: 16,
  answersMax: 8,
  bytesMax: 64 * 1024 * 1024,
  waitingMax: 256,
  waitMs: 8_000,
  stallMs: 2_000,
  answerMs: 60_000,
};

interface Answer {
  readonly socket: Socket;
  taken: number;
  movedMs: number;
}

/**
 * Bounds the answers in flight: one at a time on a connection, a number and a sum of bytes over all connections. A client that does not read
 * its answer loses its place to one that waits.
 */
export function responseGate(bounds: ResponseBounds, now: () => number, ended: (reason: 'pipelined' | 'unread') => void): ResponseGate {
  const turns = new WeakMap<Socket, { waiting: number; last: Promise<void> }>();
  const answers = new Set<Answer>();
  /** Bytes by answer. */
  const unread = new Map<ServerResponse, number>();
  const waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  function cutOff(socket: Socket, reason: 'pipelined' | 'unread'): void {
    if (socket.destroyed) return;
    ended(reason);
    socket.destroy();
  }

  /** Ends stalled answers while others wait. */
  function checkProgress(): void {
    for (const answer of answers) {
      const taken = takenOf(answer.socket);
      if (taken !== answer.taken) [answer.taken, answer.movedMs] = [taken, now()];
      else if (now() - answer.movedMs >= bounds.stallMs) cutOff(answer.socket, 'unread');
    }
    if (waiting.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function begin(socket: Socket, response: ServerResponse): void {
    const answer: Answer = { socket, taken: takenOf(socket), movedMs: now() };
    answers.add(answer);
    const late = setTimeout(() => cutOff(socket, 'unread'), bounds.answerMs);
    void closed(socket, response).then(() => {
      clearTimeout(late);
      answers.delete(answer);
      waiting.shift()?.();
    });
  }

  function wait(socket: Socket, response: ServerResponse): Promise<boolean> {
    timer ??= setInterval(checkProgress, bounds.stallMs / 4);
    return new Promise((resolve) => {
      const settle = (hasRoom: boolean): void => {
        clearTimeout(late);
        socket.off('close', leave);
        const at = waiting.indexOf(go);
        if (at >= 0) waiting.splice(at, 1);
        resolve(hasRoom);
      };
      // Synchronous, so that no later request takes the place.
      const go = (): void => {
        begin(socket, response);
        settle(true);
      };
      const leave = (): void => settle(false);
      const late = setTimeout(leave, bounds.waitMs);
      socket.once('close', leave);
      waiting.push(go);
    });
  }

  return {
    async inTurn({ socket }, response) {
      const turn = turns.get(socket) ?? { waiting: 0, last: Promise.resolve() };
      turns.set(socket, turn);
      if (turn.waiting >= bounds.pipelinedMax) cutOff(socket, 'pipelined');
      if (socket.destroyed) return false;
      const before = turn.last;
      turn.waiting++;
      turn.last = before.then(() => closed(socket, response));
      await before;
      turn.waiting--;
      return !socket.destroyed;
    },
    async room({ socket }, response) {
      if (answers.size >= bounds.answersMax) {
        if (waiting.length >= bounds.waitingMax) return 'busy';
        const hasRoom = await wait(socket, response);
        if (socket.destroyed) return 'gone';
        return hasRoom ? 'go' : 'busy';
      }
      begin(socket, response);
      return 'go';
    },
    fits(response, bytes) {
      const held = [...unread.values()].reduce((sum, own) => sum + own, 0);
      if (unread.size > 0 && held + bytes > bounds.bytesMax) return false;
      if (response.socket === null || response.socket.destroyed) return true;
      unread.set(response, bytes);
      void closed(response.socket, response).then(() => unread.delete(response));
      return true;
    },
  };
}

/** Written bytes that the system has accepted. */
function takenOf(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}

/** Watches the socket too: an answer that waits for earlier ones gets no event when its connection ends. */
function closed(socket: Socket, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || response.closed) return resolve();
    const done = (): void => {
      socket.off('close', done);
      response.off('close', done);
      resolve();
    };
    socket.once('close', done);
    response.once('close', done);
  });
}
