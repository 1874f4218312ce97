/**
 * The connections of one listener: how many there are, who holds them and what they are doing. At the bound a connection that does nothing makes room for
 * a new one. The address with the most connections yields first, so that no sender keeps others out. A stopping listener closes idle connections.
 */
import type { Server } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import { machineOf } from '../model/client-address.ts';
import type { Context } from '../telemetry/context.ts';

export interface Connections {
  /** Before the server listens. `server` speaks HTTP/1: its requests are followed as well. */
  watch(server: Server): void;
  /** As `watch`, for a server that reports its requests by `begin`. */
  watchSockets(server: NetServer): void;
  /** A request has begun on the connection; the result is called at its end. */
  begin(peer: Peer): () => void;
  /** The connection's sender has shown that it may send. */
  admitted(peer: Peer): void;
  /** Counts a connection that is ended for what its client did. */
  ended(reason: string): void;
  /** The way to end the connection where closing its socket would be rude. */
  endedBy(peer: Peer, end: () => void): void;
  /** Closes the sockets on which no request is under way: silent ones, kept-open ones, and those in the middle of their headers. */
  closeIdle(): void;
  closeAll(): void;
}

/** The ends of a connection, for either of its sockets: over TLS there are two. */
export type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

export interface ConnectionsOptions extends Pick<Context, 'clock' | 'telemetry'> {
  readonly transport: 'http' | 'grpc' | 'console';
  readonly max: number;
  /** The answer to a client when there is no room. */
  readonly fullAnswer?: string;
}

interface Connection {
  readonly socket: Socket;
  readonly holder: string;
  end: () => void;
  requests: number;
  isAdmitted: boolean;
  /** When it began to wait for a request. */
  idleSinceMs: number;
}

/** A client that has just said something is about to say more. */
const graceMs = 2_000;
/** Requests under way on one connection: written one behind the other without waiting for answers, they would all be held at once. */
const pipelinedMax = 128;
/** Refused clients that are left the time to read why. */
const lingeringMax = 16;
const lingerMs = 1_000;

export function connectionTracker({ transport, max, telemetry, clock, fullAnswer }: ConnectionsOptions): Connections {
  const labels = { 'tracejury.transport': transport };
  // Keyed by the client's address and port. Bounded by `max`.
  const connections = new Map<string, Connection>();
  const holders = new Map<string, number>();
  let lingering = 0;

  const ended = (reason: string): void =>
    telemetry.add('tracejury.receiver.connections_ended', 1, { ...labels, 'tracejury.reason': reason });

  function count(holder: string, change: number): void {
    const left = (holders.get(holder) ?? 0) + change;
    if (left > 0) holders.set(holder, left);
    else holders.delete(holder);
    telemetry.set('tracejury.receiver.connections', connections.size, labels);
  }

  function add(socket: Socket): void {
    const holder = machineOf(socket.remoteAddress);
    if (connections.size >= max && !makeRoom(holder)) return refuse(socket);
    const key = keyOf(socket);
    const connection: Connection = {
      socket,
      holder,
      end: () => socket.destroy(),
      requests: 0,
      isAdmitted: false,
      idleSinceMs: clock.nowMs(),
    };
    connections.set(key, connection);
    count(holder, 1);
    socket.once('close', () => leave(key, connection));
  }

  function leave(key: string, connection: Connection): void {
    if (connections.get(key) !== connection) return;
    connections.delete(key);
    count(connection.holder, -1);
  }

  function makeRoom(newcomer: string): boolean {
    const [largest, most] = largestHolder();
    // The holder of the most gives any connection to others, and only idle ones to itself.
    const isOthers = most > (holders.get(newcomer) ?? 0) + 1;
    const found = cheapest(isOthers ? largest : newcomer, isOthers);
    if (found === undefined) return false;
    ended('evicted');
    leave(keyOf(found.socket), found);
    found.end();
    return true;
  }

  function largestHolder(): readonly [holder: string, count: number] {
    let found: readonly [string, number] = ['', 0];
    for (const entry of holders) if (entry[1] > found[1]) found = entry;
    return found;
  }

  /** The connection of a holder that is missed least: the silent ones first, then by idle time. */
  function cheapest(holder: string, isAny: boolean): Connection | undefined {
    const nowMs = clock.nowMs();
    let found: Connection | undefined;
    let least = Infinity;
    for (const connection of connections.values()) {
      if (connection.holder !== holder) continue;
      const rank = rankOf(connection);
      // Those of one rank are in the order of their arrival.
      if (rank === ranks.silent) return connection;
      const mayGo = isAny || (rank <= ranks.idle && nowMs - connection.idleSinceMs >= graceMs);
      if (!mayGo || rank > least || (rank === least && connection.idleSinceMs >= (found?.idleSinceMs ?? Infinity))) continue;
      found = connection;
      least = rank;
    }
    return found;
  }

  function refuse(socket: Socket): void {
    ended('over_limit');
    if (fullAnswer === undefined || lingering >= lingeringMax) {
      socket.destroy();
      return;
    }
    lingering++;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => {
      clearTimeout(timer);
      lingering--;
    });
    socket.end(fullAnswer);
  }

  const of = (peer: Peer): Connection | undefined => connections.get(keyOf(peer));

  function begin(peer: Peer): () => void {
    const connection = of(peer);
    if (connection === undefined) return () => undefined;
    connection.requests++;
    return () => {
      connection.requests--;
      connection.idleSinceMs = clock.nowMs();
    };
  }

  function watchSockets(server: NetServer): void {
    server.on('connection', add);
    // Without a descriptor left no connection can be accepted; unheard, the error would end the process.
    server.on('error', () => {
      if (server.listening) ended('no_descriptor');
    });
    telemetry.set('tracejury.receiver.connections', connections.size, labels);
    telemetry.set('tracejury.receiver.connections_max', max, labels);
  }

  return {
    watch(server) {
      watchSockets(server);
      server.on('request', ({ socket }, response) => {
        const connection = of(socket);
        if (connection !== undefined && connection.requests >= pipelinedMax && !socket.destroyed) {
          ended('pipelined');
          socket.destroy();
        }
        response.once('close', begin(socket));
      });
    },
    watchSockets,
    begin,
    ended,
    admitted(peer) {
      const connection = of(peer);
      if (connection !== undefined) connection.isAdmitted = true;
    },
    endedBy(peer, end) {
      const connection = of(peer);
      if (connection !== undefined) connection.end = end;
    },
    closeIdle() {
      for (const { socket, requests } of connections.values()) if (requests === 0) socket.destroy();
    },
    closeAll() {
      for (const { socket } of connections.values()) socket.destroy();
    },
  };
}

/** From what is missed least to what is missed most. */
const ranks = { silent: 0, unknown: 1, idle: 2, unknownBusy: 3, busy: 4 } as const;

function rankOf({ socket, requests, isAdmitted }: Connection): number {
  if (requests > 0) return isAdmitted ? ranks.busy : ranks.unknownBusy;
  if (isAdmitted) return ranks.idle;
  return socket.bytesRead === 0 ? ranks.silent : ranks.unknown;
}

function keyOf({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress} ${remotePort}`;
}
