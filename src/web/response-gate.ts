/**
 * Bounds the answers in flight. The gate lets a connection have one answer at a time. Over all connections it bounds the number of answers and their bytes.
 * A client that does not read its answer loses its place to one that waits.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ResponseGate {
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
