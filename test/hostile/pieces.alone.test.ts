/** Bodies in pieces of one byte, over real sockets: what the service holds of them stays near what their leases say. */
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { machineMemory } from '../../src/service/node-runtime.ts';
import { head, openDoor, openGrpcDoor, type Door } from '../receivers/door.ts';
import { message } from '../receivers/grpc-client.ts';
import { callHeaders, flags, frame, frameTypes, literal, spokenTo } from './http2-frames.ts';

const MiB = 1024 * 1024;
const limits = { bodyBytes: 16 * MiB, inflatedBytes: 64 * MiB, inFlightBytes: 128 * MiB };
/** For the service and for the garbage of a test; a piece that was held as an object would cost some two hundred bytes, twice as much in the smallest row. */
const heldBytesMax = 24 * MiB;
/** This measures memory: on a busy machine the pieces take longer than a request may. */
const bounds = { requestMs: 600_000 };
const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

interface Row {
  readonly name: string;
  readonly bodyBytes: number;
  readonly open: () => Promise<Door>;
  /** Everything but the end of the bodies. */
  readonly send: (port: number) => Promise<readonly Socket[]>;
}

/** Noise, so that gzip makes it no smaller. */
const noise = (bytes: number): Buffer => createHash('shake256', { outputLength: bytes }).update('noise').digest();

const whole = noise(MiB);
const quarter = noise(MiB / 4);
const inMemory = async (): Promise<Door> => openDoor({ limits, bounds });

const rows: readonly Row[] = [
  { name: 'one body in chunks of one byte', bodyBytes: whole.length, open: inMemory, send: (port) => chunkedBodies(port, [whole]) },
  {
    name: 'four bodies at once in chunks of one byte',
    bodyBytes: quarter.length * 4,
    open: inMemory,
    send: (port) => chunkedBodies(port, [quarter, quarter, quarter, quarter]),
  },
  {
    name: 'chunks of one byte with extensions',
    bodyBytes: quarter.length,
    open: inMemory,
    send: (port) => chunkedBodies(port, [quarter], { extension: `;x=${'y'.repeat(20)}` }),
  },
  {
    name: 'gzip in chunks of one byte',
    bodyBytes: gzipSync(quarter).length,
    open: inMemory,
    send: (port) => chunkedBodies(port, [gzipSync(quarter)], { headers: { 'content-encoding': 'gzip' } }),
  },
  {
    name: 'gRPC messages in DATA frames of one byte',
    bodyBytes: 4 * 200_000,
    open: () => openGrpcDoor({ limits, bounds }),
    send: (port) =>
      dataFrames(
        port,
        Array.from({ length: 4 }, () => message(noise(200_000))),
      ),
  },
  {
    name: 'compressed gRPC messages in DATA frames of one byte',
    bodyBytes: 4 * gzipSync(noise(200_000)).length,
    open: () => openGrpcDoor({ limits, bounds }),
    send: (port) =>
      dataFrames(
        port,
        Array.from({ length: 4 }, () => message(gzipSync(noise(200_000)), { flag: 1 })),
      ),
  },
];

for (const { name, bodyBytes, open, send } of rows) {
  test(`hostile pieces: ${name}: memory follows what is leased`, async () => {
    const door = await open();
    ending.push(() => door.receiver.stop());
    const before = await held();
    await sentWhole(door, send, bodyBytes);
    expect((await held()) - before).toBeLessThan(heldBytesMax);
  });
}

/** The memory of this process that is left when garbage is collected. Buffers of a closed stream take several collections to go: it is read until it stands still. */
async function held(): Promise<number> {
  let [before, now] = [Number.POSITIVE_INFINITY, await collected()];
  for (let round = 0; round < roundsMax && Math.abs(before - now) > stillBytes; round++) [before, now] = [now, await collected()];
  return now;
}

const roundsMax = 20;
const stillBytes = MiB / 4;

async function collected(): Promise<number> {
  // Memory that the test before has closed is freed in separate turns.
  for (let round = 0; round < 6; round++) {
    machineMemory().collect();
    await pause(20);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const connectionsMax = 3;

/** Sends until at least this many bytes are leased: the service has read them. A connection that ends before that is made anew. */
async function sentWhole(door: Door, send: Row['send'], bytes: number): Promise<void> {
  for (let made = 0; made < connectionsMax; made++) {
    const sockets = await send(door.port);
    ending.push(() => sockets.forEach((socket) => socket.destroy()));
    const isOpen = (): boolean => sockets.every((socket) => !socket.destroyed);
    while (isOpen() && (door.counts.get('tracejury.receiver.in_flight') ?? 0) < bytes) await pause(10);
    if (!isOpen()) continue;
    // Leases of what was announced come before what is read.
    await pause(100);
    return;
  }
  throw new Error(`${connectionsMax} connections ended before the service had read them`);
}

async function chunkedBodies(
  port: number,
  bodies: readonly Buffer[],
  { extension = '', headers = {} }: { readonly extension?: string; readonly headers?: { readonly [name: string]: string } } = {},
): Promise<readonly Socket[]> {
  return Promise.all(
    bodies.map((body) =>
      written(
        port,
        head('/v1/traces', { 'content-type': 'application/x-protobuf', 'transfer-encoding': 'chunked', ...headers }),
        body,
        (byte) => `1${extension}\r\n${byte}\r\n`,
      ),
    ),
  );
}

/** Some thousand bytes at a time are turned into pieces, so that the client holds little itself. */
async function written(port: number, before: string, body: Buffer, piece: (byte: string) => string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(before, 'latin1');
  for (let at = 0; at < body.length; at += 4_096) {
    const text = [...body.subarray(at, at + 4_096)].map((byte) => piece(String.fromCharCode(byte))).join('');
    await new Promise((resolve) => socket.write(text, 'latin1', resolve));
  }
  return socket;
}

/** Each message without its last byte, which keeps its call open; less than a stream's window, so that no side waits for more of it. */
async function dataFrames(port: number, messages: readonly Buffer[]): Promise<readonly Socket[]> {
  const socket = await spokenTo(port);
  socket.on('error', () => undefined);
  for (const [at, bytes] of messages.entries()) {
    const stream = 1 + at * 2;
    socket.write(frame(frameTypes.headers, flags.endHeaders, stream, callHeaders([literal('grpc-encoding', 'gzip')])));
    for (let from = 0; from < bytes.length - 1; from += 4_096) {
      const pieces = [...bytes.subarray(from, Math.min(from + 4_096, bytes.length - 1))].map((byte) =>
        frame(frameTypes.data, flags.none, stream, Buffer.of(byte)),
      );
      await new Promise((resolve) => socket.write(Buffer.concat(pieces), resolve));
    }
  }
  return [socket];
}
