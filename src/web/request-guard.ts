/** Who may ask the console for what: pages of other sites may not, and programs with the tokens that are asked for. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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

interface Denied {
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

// Bounds the answers in flight. The gate lets a connection have one answer at a time. Over all connections it bounds the number of answers and their bytes.
// A client that does not read its answer loses its place to one that waits.

interface ResponseGate {
  /** Resolves when the requests before it on its connection are answered. False: nobody is there any more. */
  inTurn(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Resolves when there is room for one more answer: `go`; `busy`: there will be none soon; `gone`: nobody is there any more. */
  room(request: IncomingMessage, response: ServerResponse): Promise<'go' | 'busy' | 'gone'>;
  /** Whether an answer of this size may be sent: its bytes count until the client has read it. One answer always may, whatever its size. */
  fits(response: ServerResponse, bytes: number): boolean;
}

export interface ResponseBounds {
  /** Requests on one connection that wait for those before them. Browsers and Prometheus send none. */
  readonly pipelinedMax: number;
  /** Answers that are made or sent at a time. */
  readonly answersMax: number;
  /** Bytes of answers that are made and not read. */
  readonly bytesMax: number;
  /** Requests that wait for room, over all connections. */
  readonly waitingMax: number;
  /** How long one waits. */
  readonly waitMs: number;
  /** While others wait, so long an answer may stand still. */
  readonly stallMs: number;
  /** From the beginning of an answer to its end. */
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

export function responseGate(bounds: ResponseBounds, now: () => number, ended: (reason: 'pipelined' | 'unread') => void): ResponseGate {
  const turns = new WeakMap<Socket, { waiting: number; last: Promise<void> }>();
  const answers = new Set<Answer>();
  /** By the answers that hold them. */
  const unread = new Map<ServerResponse, number>();
  const waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  function cutOff(socket: Socket, reason: 'pipelined' | 'unread'): void {
    if (socket.destroyed) return;
    ended(reason);
    socket.destroy();
  }

  /** Ends those that stand still while others wait. */
  function look(): void {
    for (const answer of answers) {
      const taken = takenOf(answer.socket);
      if (taken !== answer.taken) [answer.taken, answer.movedMs] = [taken, now()];
      else if (now() - answer.movedMs >= bounds.stallMs) cutOff(answer.socket, 'unread');
    }
    if (waiting.length === 0) stopLooking();
  }

  function stopLooking(): void {
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
    timer ??= setInterval(look, bounds.stallMs / 4);
    return new Promise((resolve) => {
      const settle = (hasRoom: boolean): void => {
        clearTimeout(late);
        socket.off('close', leave);
        const at = waiting.indexOf(go);
        if (at >= 0) waiting.splice(at, 1);
        resolve(hasRoom);
      };
      // At once, so that nobody who comes now takes the place.
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

/** Bytes that the system has taken of what was written. */
function takenOf(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}

/** An answer that waits for those before it is not told when its connection ends. */
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
