/** Response bounds of the console. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface ResponseGate {
  /** Resolves when the earlier requests on the connection have their answers. `false` when the client is gone. */
  inTurn(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  /** Resolves with `go` when there is room for one more answer, `busy` after a vain wait, `gone` when the client is gone. */
  room(request: IncomingMessage, response: ServerResponse, holder: Holder): Promise<'go' | 'busy' | 'gone'>;
  /** The answer is made: from now on its client has to read it. Until then no time limit ends it, as the service is at work. */
  handedOver(response: ServerResponse): void;
  /** `false` when the answer exceeds the bytes in flight. A single answer always fits. Its bytes count until the client has read it. */
  fits(response: ServerResponse, bytes: number): boolean;
}

/** The holder of room: a token or a person by name, or a machine. */
export interface Holder {
  readonly name: string;
  /** True when the caller may not read. Strangers have separate room, so that they take none from callers who may. */
  readonly isStranger: boolean;
}

export interface ResponseBounds {
  /** Requests on one connection that wait for earlier ones. Browsers and Prometheus send none. */
  readonly pipelinedMax: number;
  /** Concurrent answers to callers who may read. */
  readonly answersMax: number;
  /** Concurrent answers to all others. */
  readonly strangersMax: number;
  /** Bytes of answers that clients have not read. */
  readonly bytesMax: number;
  /** Requests that wait for room, of callers who may read and of all others. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** While others wait, the longest time without progress of an answer. */
  readonly stallMs: number;
  /** Time for the client to read an answer. */
  readonly answerMs: number;
}

export const defaultResponseBounds: ResponseBounds = {
  pipelinedMax: 16,
  answersMax: 8,
  strangersMax: 4,
  bytesMax: 64 * 1024 * 1024,
  waitingMax: 256,
  waitMs: 8_000,
  stallMs: 2_000,
  answerMs: 60_000,
};

/** Share of a room's places that one holder may take: the others stay for those who have fewer. */
const holderShare = 0.75;

interface Answer {
  readonly socket: Socket;
  readonly holder: string;
  taken: number;
  movedMs: number;
  late?: NodeJS.Timeout;
}

interface Waiting {
  readonly holder: string;
  readonly go: () => void;
  readonly leave: () => void;
}

interface Room {
  readonly max: number;
  readonly answers: Map<ServerResponse, Answer>;
  /** In the order in which they came. */
  readonly waiting: Waiting[];
}

/**
 * Bounds the answers in flight: one at a time on a connection, a number and a sum of bytes over all connections. A client that does not read
 * its answer loses its place to one that waits. A free place goes to the holder with the fewest answers in flight.
 */
export function responseGate(bounds: ResponseBounds, now: () => number, ended: (reason: 'pipelined' | 'unread') => void): ResponseGate {
  const turns = new WeakMap<Socket, { waiting: number; last: Promise<void> }>();
  const roomOf = (max: number): Room => ({ max, answers: new Map(), waiting: [] });
  const [known, strangers] = [roomOf(bounds.answersMax), roomOf(bounds.strangersMax)];
  const rooms = [known, strangers];
  /** Bytes by answer. */
  const unread = new Map<ServerResponse, number>();
  let timer: NodeJS.Timeout | undefined;

  function cutOff(socket: Socket, reason: 'pipelined' | 'unread'): void {
    if (socket.destroyed) return;
    ended(reason);
    socket.destroy();
  }

  /** Ends stalled answers while others wait. An answer without waiting bytes is still being made. */
  function checkProgress(): void {
    for (const { answers, waiting } of rooms) {
      for (const answer of answers.values()) {
        const taken = takenOf(answer.socket);
        if (taken !== answer.taken || answer.socket.writableLength === 0) [answer.taken, answer.movedMs] = [taken, now()];
        else if (waiting.length > 0 && now() - answer.movedMs >= bounds.stallMs) cutOff(answer.socket, 'unread');
      }
    }
    if (rooms.some(({ waiting }) => waiting.length > 0)) return;
    clearInterval(timer);
    timer = undefined;
  }

  const heldBy = ({ answers }: Room, holder: string): number => [...answers.values()].filter((answer) => answer.holder === holder).length;
  const hasPlace = (room: Room, holder: string): boolean =>
    room.answers.size < room.max && heldBy(room, holder) < Math.ceil(room.max * holderShare);

  function begin(room: Room, { socket }: IncomingMessage, response: ServerResponse, holder: string): void {
    const answer: Answer = { socket, holder, taken: takenOf(socket), movedMs: now() };
    room.answers.set(response, answer);
    void closed(socket, response).then(() => {
      clearTimeout(answer.late);
      room.answers.delete(response);
      next(room)?.go();
    });
  }

  /** The first waiting request of the holder with the fewest answers in flight. */
  function next(room: Room): Waiting | undefined {
    let [found, least]: [Waiting | undefined, number] = [undefined, Infinity];
    for (const one of room.waiting) {
      const held = heldBy(room, one.holder);
      if (held < least && hasPlace(room, one.holder)) [found, least] = [one, held];
    }
    return found;
  }

  /** Drops the newest request of the holder with the most waiting ones when the room is full. False when this holder would have as many. */
  function makeWaitingRoom({ waiting }: Room, holder: string): boolean {
    if (waiting.length < bounds.waitingMax) return true;
    const counts = Map.groupBy(waiting, (one) => one.holder);
    const [largest] = [...counts.values()].toSorted((one, other) => other.length - one.length);
    if (largest === undefined || largest.length <= (counts.get(holder)?.length ?? 0) + 1) return false;
    largest.at(-1)?.leave();
    return true;
  }

  function wait(room: Room, request: IncomingMessage, response: ServerResponse, holder: string): Promise<boolean> {
    timer ??= setInterval(checkProgress, bounds.stallMs / 4);
    const { socket } = request;
    return new Promise((resolve) => {
      const settle = (hasRoom: boolean): void => {
        clearTimeout(late);
        socket.off('close', leave);
        const at = room.waiting.indexOf(one);
        if (at >= 0) room.waiting.splice(at, 1);
        resolve(hasRoom);
      };
      // Synchronous, so that no later request takes the place.
      const go = (): void => {
        begin(room, request, response, holder);
        settle(true);
      };
      const leave = (): void => settle(false);
      const late = setTimeout(leave, bounds.waitMs);
      const one: Waiting = { holder, go, leave };
      socket.once('close', leave);
      room.waiting.push(one);
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
    async room(request, response, { name, isStranger }) {
      const room = isStranger ? strangers : known;
      if (hasPlace(room, name)) {
        begin(room, request, response, name);
        return 'go';
      }
      if (!makeWaitingRoom(room, name)) return 'busy';
      const hasRoom = await wait(room, request, response, name);
      if (request.socket.destroyed) return 'gone';
      return hasRoom ? 'go' : 'busy';
    },
    handedOver(response) {
      const answer = known.answers.get(response) ?? strangers.answers.get(response);
      if (answer === undefined || answer.late !== undefined) return;
      // Nothing waits for the client while a later piece of the answer is made.
      const check = (): void =>
        answer.socket.writableLength > 0 ? cutOff(answer.socket, 'unread') : void (answer.late = setTimeout(check, bounds.answerMs));
      answer.late = setTimeout(check, bounds.answerMs);
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
