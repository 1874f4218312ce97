/** Floods of HTTP/2 frames, over real sockets: the session ends and is counted, and a client that works is never taken for one. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, test } from 'vitest';
import { callHeaders, flags, frame, frameTypes, literal, spokenTo } from '../../hostile/http2-frames.ts';
import { grpcClient, grpcSend, message } from '../grpc-client.ts';
import { goodBody } from '../otlp-http/table.ts';
import { testLimits } from '../door.ts';
import { eventually } from '../../service/running.ts';
import { counted, opened } from './opened.ts';

const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

const { headers, priority, reset, settings, ping, continuation, data, windowUpdate } = frameTypes;
const { none, ack, endStream, endHeaders } = flags;
const padded = 8;
const whole = endStream | endHeaders;
const streamId = (at: number): number => 1 + at * 2;
const cancel = Buffer.from([0, 0, 0, 8]);
const one = Buffer.from([0, 0, 0, 1]);
const unknownType = 0x77;
/** Fills the dynamic table; one byte names it again. */
const stored = literal('x-a', 'y'.repeat(4_000), true);
const named = Buffer.alloc(200, 0x80 | 62);
const long = literal('x-a', 'y'.repeat(10_000));
const large = Buffer.concat(Array.from({ length: Math.floor((200 * 1024) / goodBody.length) }, () => goodBody));
/** nghttp2 has a bound on resets of its own, which may be met before the door looks. */
const refusedHeaders = /(?:flood|protocol_error)$/;
const heldOpen = frame(headers, endHeaders, 1, callHeaders());
const called = (at: number, more: Buffer, flag: number): Buffer => frame(headers, flag, streamId(at), callHeaders([more]));

interface Row {
  readonly name: string;
  readonly first?: Buffer;
  /** How often `again` is sent at most. */
  readonly times: number;
  readonly again: (at: number) => Buffer;
  readonly reason: RegExp;
}

const rows: readonly Row[] = [
  { name: 'header lists that HPACK makes of one byte each', first: called(0, stored, whole), times: 500, again: (at) => called(at + 1, named, whole), reason: refusedHeaders },
  { name: 'header lists that HPACK makes of one byte each, with the bound acknowledged', first: Buffer.concat([frame(settings, ack, 0), called(0, stored, whole)]), times: 500, again: (at) => called(at + 1, named, whole), reason: refusedHeaders },
  { name: 'header lists of 40 KiB without the bound acknowledged', first: called(0, stored, whole), times: 500, again: (at) => called(at + 1, named.subarray(0, 10), whole), reason: refusedHeaders },
  { name: 'header lists beyond the bound', times: 500, again: (at) => Buffer.concat([frame(headers, endStream, streamId(at), callHeaders([long])), frame(continuation, endHeaders, streamId(at), long)]), reason: refusedHeaders },
  { name: 'header lists beyond the bound, taken back', first: frame(settings, ack, 0), times: 500, again: (at) => Buffer.concat([called(at, Buffer.concat([stored, named]), endHeaders), frame(reset, none, streamId(at), cancel)]), reason: refusedHeaders },
  { name: 'header lists of too many pairs', times: 500, again: (at) => called(at, Buffer.concat(Array.from({ length: 200 }, () => literal('x', ''))), whole), reason: refusedHeaders },
  { name: 'CONTINUATION without end', first: frame(headers, none, 1, callHeaders()), times: 2_000, again: (at) => frame(continuation, none, 1, literal(`x-${at}`, 'z')), reason: /protocol_error$/ },
  { name: 'empty CONTINUATION without end', first: frame(headers, none, 1, callHeaders()), times: 2_000, again: () => frame(continuation, none, 1), reason: /protocol_error$/ },
  { name: 'requests that are taken back at once', times: 2_000, again: (at) => Buffer.concat([called(at, Buffer.alloc(0), endHeaders), frame(reset, none, streamId(at), cancel)]), reason: /protocol_error$/ },
  { name: 'empty DATA', first: heldOpen, times: 2_000, again: () => frame(data, none, 1), reason: /flood$/ },
  { name: 'answers to no PING', times: 2_000, again: () => frame(ping, ack, 0, Buffer.alloc(8)), reason: /protocol_error$/ },
  { name: 'PING', times: 2_000, again: () => frame(ping, none, 0, Buffer.alloc(8)), reason: /pings$/ },
  { name: 'SETTINGS', times: 2_000, again: () => frame(settings, none, 0), reason: /settings$/ },
  { name: 'SETTINGS while a request is open', first: heldOpen, times: 2_000, again: () => frame(settings, none, 0), reason: /settings$/ },
  { name: 'SETTINGS that resize the table of HPACK', times: 2_000, again: (at) => frame(settings, none, 0, Buffer.from([0, 1, 0, 0, at % 2 === 0 ? 0 : 16, 0])), reason: /settings$/ },
  { name: 'PRIORITY', times: 20_000, again: () => frame(priority, none, 1, Buffer.from([0, 0, 0, 0, 1])), reason: /protocol_error$/ },
  { name: 'unknown types', times: 20_000, again: () => frame(unknownType, none, 0), reason: /protocol_error$/ },
  { name: 'large frames of unknown types', times: 100, again: () => frame(unknownType, none, 0, Buffer.alloc(16_000)), reason: /flood$/ },
  { name: 'WINDOW_UPDATE of the connection', times: 40_000, again: () => frame(windowUpdate, none, 0, one), reason: /flood$/ },
  { name: 'WINDOW_UPDATE while a request is open', first: heldOpen, times: 40_000, again: () => frame(windowUpdate, none, 1, one), reason: /flood$/ },
  { name: 'WINDOW_UPDATE between single bytes of a request', first: heldOpen, times: 400, again: () => Buffer.concat([frame(data, none, 1, Buffer.alloc(1)), ...Array.from({ length: 100 }, () => frame(windowUpdate, none, 1, one))]), reason: /flood$/ },
  { name: 'DATA that is padding', first: heldOpen, times: 4_000, again: () => frame(data, padded, 1, Buffer.concat([Buffer.of(254), Buffer.alloc(255)])), reason: /flood$/ },
];

describe('otlp_grpc floods', () => {
  for (const { name, first, times, again, reason } of rows) {
    test(`otlp_grpc floods: ${name} end the session, counted as ${reason.source}`, async () => {
      const door = await opened({ bounds: { overheadLookMs: 20 } });
      const socket = await flooded(door.port, first, times, again);
      await eventually(() => socket.closed || undefined, 'the end of the connection', { everyMs: 10, looksMax: 400 });
      expect([...door.counts].filter(([key]) => key.includes('connections_ended'))).toEqual([[expect.stringMatching(reason), 1]]);
      expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
      await door.inFlight(0);
    });
  }
});

test('otlp_grpc: a header list beyond the bound is refused though the client has not acknowledged it', async () => {
  const door = await opened();
  const socket = await spokenTo(door.port);
  sockets.push(socket);
  socket.write(Buffer.concat([called(0, Buffer.concat([stored, named.subarray(0, 10)]), endHeaders), frame(data, endStream, 1, message(goodBody))]));
  socket.write(Buffer.concat([called(1, stored, endHeaders), frame(data, endStream, streamId(1), message(goodBody))]));
  await counted(door, 'tracejury.receiver.requests grpc traces OK');
  expect(door.spans).toHaveLength(1);
});

describe('otlp_grpc clients that work', () => {
  // Every look counts: without the requests' share these would be far beyond it.
  const bounds = { overheadLookMs: 5, overheadBytesMax: 4 * 1024 };
  const ends = (counts: ReadonlyMap<string, number>): readonly string[] => [...counts.keys()].filter((key) => key.includes('connections_ended'));

  test('otlp_grpc: 2,000 calls with headers and large bodies on one connection go through', async () => {
    const door = await opened({ bounds, limits: { ...testLimits, inFlightBytes: 64 * 1024 * 1024 } });
    const client = grpcClient(door.port);
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => client.send({ message: at % 50 === 0 ? large : goodBody, metadata: { 'x-a': 'y'.repeat(at * 50) } })));
      expect(new Set(answers.map(({ code }) => code))).toEqual(new Set(['OK']));
    }
    client.close();
    expect(ends(door.counts)).toEqual([]);
  });

  test('otlp_grpc: a body in DATA frames of one byte, with a window update for each hundred, goes through', async () => {
    const door = await opened({ bounds });
    const socket = await spokenTo(door.port);
    sockets.push(socket);
    socket.write(heldOpen);
    const bytes = message(Buffer.concat(Array.from({ length: 100 }, () => goodBody)));
    for (let at = 0; at < bytes.length; at += 100) {
      socket.write(Buffer.concat([...bytes.subarray(at, at + 100)].map((byte, n) => Buffer.concat([frame(data, none, 1, Buffer.of(byte)), n % 100 === 0 ? frame(windowUpdate, none, 0, one) : Buffer.alloc(0)]))));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    socket.write(frame(data, endStream, 1));
    await counted(door, 'tracejury.receiver.requests grpc traces OK');
    expect(ends(door.counts)).toEqual([]);
  });

  test('otlp_grpc: bodies that are refused while they come do not end the connection', async () => {
    const door = await opened({ bounds });
    const client = grpcClient(door.port);
    for (let call = 0; call < 20; call++) expect((await client.send({ message: Buffer.alloc(2 * 1024 * 1024) })).code).toBe('RESOURCE_EXHAUSTED');
    expect((await client.send({ message: goodBody })).code).toBe('OK');
    client.close();
    expect(ends(door.counts)).toEqual([]);
  });

  test('otlp_grpc: the exporter of the SDK sends through a busy minute and the next', async () => {
    const door = await opened({ bounds });
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `http://127.0.0.1:${door.port}` }))] });
    for (let round = 0; round < 10; round++) {
      for (let at = 0; at < 20; at++) provider.getTracer('agents').startSpan('invoke_agent shop', { attributes: { prompt: 'x'.repeat(1_000) } }).end();
      await provider.forceFlush();
      door.clock.advance(20_000);
    }
    await provider.shutdown();
    expect(door.spans).toHaveLength(200);
    expect(ends(door.counts)).toEqual([]);
  });
});

/** Sends in small pieces, as no bound is to be met by the size of one read, and stops when the door closes. */
async function flooded(port: number, first: Buffer | undefined, times: number, again: Row['again']): Promise<Socket> {
  const socket = await spokenTo(port);
  sockets.push(socket);
  socket.on('error', () => undefined);
  // An acknowledgement before the door's settings would be a fault of its own.
  await once(socket, 'data');
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (first !== undefined) socket.write(first);
  for (let at = 0; at < times && !socket.closed; at += piece) {
    socket.write(Buffer.concat(Array.from({ length: Math.min(piece, times - at) }, (_, n) => again(at + n))));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return socket;
}
const piece = 100;
