/** Clients that work, over real sockets, with bounds far below the defaults: none is taken for a flood. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { credentials } from '@grpc/grpc-js';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, onTestFinished, test } from 'vitest';
import { seeded } from '../../builders/seeded.ts';
import { callHeaders, flags, frame, frameTypes, literal, spokenTo } from '../../hostile/http2-frames.ts';
import { eventually } from '../../service/running.ts';
import { testLimits, type Door } from '../door.ts';
import { grpcClient, grpcSend, message, type GrpcClient } from '../grpc-client.ts';
import { goodBody } from '../otlp-http/table.ts';
import { opened } from './opened.ts';

const KiB = 1024;
/** Little more than Node reads ahead; every check counts. */
const bounds = { overheadCheckMs: 5, overheadBytesMax: 160 * KiB };
const limits = { bodyBytes: 1024 * KiB, inflatedBytes: 4096 * KiB, inFlightBytes: 64 * 1024 * KiB };
const repeated = (count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => goodBody));
const large = repeated(3_000);
const pem = (name: string): Buffer => readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));
const { headers, data, windowUpdate } = frameTypes;
const { none, endStream, endHeaders, padded } = flags;

const ends = ({ counts }: Door): readonly string[] => [...counts.keys()].filter((key) => key.includes('connections_ended'));
const answers = ({ counts }: Door, code: string): number =>
  [...counts]
    .filter(([key]) => key.startsWith(`tracejury.receiver.requests grpc traces ${code}`))
    .reduce((sum, [, count]) => sum + count, 0);
const answered = (door: Door, code: string, count: number): Promise<true> =>
  eventually(() => answers(door, code) >= count || undefined, `${count} answers ${code}`);

function client(...options: Parameters<typeof grpcClient>): GrpcClient {
  const made = grpcClient(...options);
  onTestFinished(() => made.close());
  return made;
}

async function spoken(port: number): Promise<Socket> {
  const socket = await spokenTo(port);
  onTestFinished(() => void socket.destroy());
  return socket;
}

const libraries = [
  { name: 'plain' },
  { name: 'gzip', coding: 'gzip' },
  { name: 'over TLS', tls: { cert: pem('cert').toString(), key: pem('key').toString() } },
] as const;
for (const { name, ...row } of libraries) {
  test(`otlp_grpc: calls with headers and large bodies on one connection go through: ${name}`, async () => {
    const tls = 'tls' in row ? row.tls : undefined;
    const door = await opened({ bounds, limits, ...(tls === undefined ? {} : { tls }) });
    const sender = client(door.port, {
      ...('coding' in row ? { coding: row.coding } : {}),
      ...(tls === undefined ? {} : { channel: credentials.createSsl(pem('cert')) }),
    });
    for (let round = 0; round < 8; round++) {
      const calls = Array.from({ length: 120 }, (_, at) =>
        sender.send({ message: at % 40 === 0 ? large : goodBody, metadata: { 'x-a': 'y'.repeat(at * 50) } }),
      );
      expect(new Set((await Promise.all(calls)).map(({ code }) => code))).toEqual(new Set(['OK']));
    }
    expect(ends(door)).toEqual([]);
  });
}

test('otlp_grpc: the exporter of the SDK sends through a busy minute and the next', async () => {
  const door = await opened({ bounds });
  const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${door.port}` });
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  for (let round = 0; round < 10; round++) {
    const tracer = provider.getTracer('agents');
    for (let at = 0; at < 20; at++) tracer.startSpan('invoke_agent shop', { attributes: { prompt: 'x'.repeat(1_000) } }).end();
    await provider.forceFlush();
    door.clock.advance(20_000);
  }
  await provider.shutdown();
  expect(door.spans).toHaveLength(200);
  expect(ends(door)).toEqual([]);
});

test('otlp_grpc: bodies that are refused while they come do not end the connection', async () => {
  const door = await opened({ bounds });
  const sender = client(door.port);
  for (let call = 0; call < 20; call++) {
    expect((await sender.send({ message: Buffer.alloc(8 * testLimits.bodyBytes) })).code).toBe('RESOURCE_EXHAUSTED');
    expect(ends(door)).toEqual([]);
  }
  expect((await sender.send({ message: goodBody })).code).toBe('OK');
});

interface Sent {
  /** In the order in which they begin; interleaved when there are several. */
  readonly messages: readonly Buffer[];
  readonly pieceBytes: () => number;
  readonly paddingBytes?: () => number | undefined;
}

/** A client by hand: less than a window for each stream and less than one for all of them. */
async function send(socket: Socket, { messages, pieceBytes, paddingBytes = () => undefined }: Sent, firstStream = 1): Promise<void> {
  const streams = messages.map((bytes, at) => ({ bytes, id: firstStream + at * 2, at: 0 }));
  for (const { id } of streams) socket.write(frame(headers, endHeaders, id, callHeaders([literal('grpc-encoding', 'gzip')])));
  while (streams.some(({ at, bytes }) => at < bytes.length)) {
    const frames: Buffer[] = [];
    for (const stream of streams) {
      for (let count = 0; count < 500 && stream.at < stream.bytes.length; count++) {
        const piece = stream.bytes.subarray(stream.at, stream.at + pieceBytes());
        const padding = paddingBytes();
        stream.at += piece.length;
        const payload = padding === undefined ? piece : Buffer.concat([Buffer.of(padding), piece, Buffer.alloc(padding)]);
        frames.push(frame(data, padding === undefined ? none : padded, stream.id, payload));
      }
      frames.push(frame(windowUpdate, none, 0, Buffer.from([0, 0, 0, 1])));
    }
    await new Promise((resolve) => socket.write(Buffer.concat(frames), resolve));
  }
  for (const { id } of streams) socket.write(frame(data, endStream, id));
}

const plain = message(repeated(900));
const compressed = message(gzipSync(repeated(2_000), { level: 0 }), { flag: 1 });
const four = <T>(one: T): readonly T[] => [one, one, one, one];
const byHand: readonly (Sent & { readonly name: string })[] = [
  { name: 'DATA frames of one byte', messages: four(plain), pieceBytes: () => 1 },
  { name: 'compressed bodies in DATA frames of one byte', messages: four(compressed), pieceBytes: () => 1 },
  { name: 'DATA frames of one byte with padding', messages: four(message(repeated(10))), pieceBytes: () => 1, paddingBytes: () => 255 },
];
for (const { name, ...sent } of byHand) {
  test(`otlp_grpc: ${name} do not count as a flood`, async () => {
    const door = await opened({ bounds: { ...bounds, requestMs: 600_000 }, limits });
    const socket = await spoken(door.port);
    await send(socket, sent);
    await answered(door, 'OK', 4);
    expect(ends(door)).toEqual([]);
  });
}

test('otlp_grpc: small frames of a body in the read that brings its headers do not count as a flood', async () => {
  const door = await opened({ bounds, limits });
  const socket = await spoken(door.port);
  const pieces = [...message(repeated(90))].map((byte) => Buffer.of(byte));
  for (let at = 0; at < 20; at++) {
    const id = 1 + at * 2;
    const body = pieces.map((piece) => frame(data, none, id, piece));
    socket.write(Buffer.concat([frame(headers, endHeaders, id, callHeaders()), ...body, frame(data, endStream, id)]));
    await answered(door, 'OK', at + 1);
  }
  expect(ends(door)).toEqual([]);
});

test('otlp_grpc: a client that hears late that its time is up does not count as a flood', async () => {
  const door = await opened({ bounds: { ...bounds, requestMs: 20 }, limits });
  const socket = await spoken(door.port);
  // It does not look at what comes back, and finishes each body in frames of one byte.
  for (let stream = 1; stream < 8; stream += 2) {
    socket.write(frame(headers, endHeaders, stream, callHeaders()));
    await answered(door, 'DEADLINE_EXCEEDED', (stream + 1) / 2);
    const rest = Array.from({ length: 100_000 }, () => frame(data, none, stream, Buffer.alloc(1)));
    await new Promise((resolve) => socket.write(Buffer.concat(rest), resolve));
  }
  await pause(50);
  expect(ends(door)).toEqual([]);
  expect(socket.closed).toBe(false);
});

test('otlp_grpc: a client that reads its answers late does not count as a flood', async () => {
  const door = await opened({ bounds: { ...bounds, requestMs: 600_000 }, limits });
  const socket = await spoken(door.port);
  await once(socket, 'data');
  socket.pause();
  await send(socket, { messages: Array.from({ length: 90 }, () => message(repeated(20))), pieceBytes: () => 7 });
  await answered(door, 'OK', 90);
  socket.resume();
  await send(socket, { messages: four(plain), pieceBytes: () => 100 }, 201);
  await answered(door, 'OK', 94);
  expect(ends(door)).toEqual([]);
});

test('otlp_grpc: clients of every manner go through', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const chance = seeded(seed);
    const door = await opened({ bounds: { ...bounds, requestMs: 600_000 }, limits });
    const socket = await spoken(door.port);
    const pieceMax = chance.pick([1, 3, 50, 2_000, 16_000]);
    const paddingMax = chance.pick([0, 0, 8, 255]);
    let total = 0;
    for (let round = 0; round < 3; round++) {
      // Padding counts as DATA where windows are counted.
      const count = 1 + chance.below(6);
      const bodies = Math.max(1, Math.floor((pieceMax < 10 && paddingMax > 8 ? 10 : 600) / count));
      const messages = Array.from({ length: count }, () => {
        const body = repeated(1 + chance.below(bodies));
        return chance.below(2) === 0 ? message(body) : message(gzipSync(body, { level: chance.pick([0, 6]) }), { flag: 1 });
      });
      await send(
        socket,
        {
          messages,
          pieceBytes: () => 1 + chance.below(pieceMax),
          paddingBytes: () => (paddingMax === 0 || chance.below(2) === 0 ? undefined : chance.below(paddingMax + 1)),
        },
        1 + total * 2,
      );
      total += count;
      await answered(door, 'OK', total);
      door.clock.advance(chance.below(90_000));
    }
    expect(ends(door), `seed ${seed}`).toEqual([]);
    socket.destroy();
  }
  const door = await opened({ bounds });
  expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
});
