/** Response bounds of the console. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
