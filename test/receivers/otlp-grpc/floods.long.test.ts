/** Floods of HTTP/2 frames, over real sockets: each ends its session and is counted, and others go on. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callHeaders, flags, frame, frameTypes, literal, spokenTo } from '../../hostile/http2-frames.ts';
import { eventually } from '../../service/running.ts';
import { grpcSend, message } from '../grpc-client.ts';
import { goodBody } from '../otlp-http/table.ts';
import { counted, opened } from './opened.ts';

const { headers, priority, reset, settings, ping, continuation, data, windowUpdate } = frameTypes;
const { none, ack, padded, endStream, endHeaders } = flags;
const whole = endStream | endHeaders;
const streamId = (at: number): number => 1 + at * 2;
const cancel = Buffer.from([0, 0, 0, 8]);
const one = Buffer.from([0, 0, 0, 1]);
const unknownType = 0x77;
/** Fills the dynamic table; one byte names it again. */
const stored = literal('x-a', 'y'.repeat(4_000), true);
const named = Buffer.alloc(200, 0x80 | 62);
const long = literal('x-a', 'y'.repeat(10_000));
/** Node and nghttp2 have separate bounds, which a client may meet first. */
const refusedHeaders = /(?:flood|protocol_error)$/;
const acknowledged = frame(settings, ack, 0);
const heldOpen = frame(headers, endHeaders, 1, callHeaders());
const called = (at: number, more: Buffer, flag: number): Buffer => frame(headers, flag, streamId(at), callHeaders([more]));
const pings = Array.from({ length: 200 }, () => frame(ping, none, 0, Buffer.alloc(8)));
/** nghttp2 ends a session that has a thousand answers waiting in one turn. */
const queuedMax = 500;
const tables = [0, 16].map((kib) => Buffer.from([0, 1, 0, 0, kib, 0]));

interface Row {
  readonly name: string;
  readonly first?: Buffer;
  /** Limit of the sendings of `again`. */
  readonly times: number;
  readonly again: (at: number) => Buffer;
  readonly reason: RegExp;
}

const rows: readonly Row[] = [
  {
    name: 'header lists that HPACK makes of one byte each',
    first: called(0, stored, whole),
    times: 2_000,
    again: (at) => called(at + 1, named, whole),
    reason: refusedHeaders,
  },
  {
    name: 'header lists that HPACK makes of one byte each, with the bound acknowledged',
    first: Buffer.concat([acknowledged, called(0, stored, whole)]),
    times: 2_000,
    again: (at) => called(at + 1, named, whole),
    reason: refusedHeaders,
  },
  {
    name: 'header lists of 40 KiB without the bound acknowledged',
    first: called(0, stored, whole),
    times: 4_000,
    again: (at) => called(at + 1, named.subarray(0, 10), whole),
    reason: refusedHeaders,
  },
  {
    name: 'header lists beyond the bound',
    times: 500,
    again: (at) =>
      Buffer.concat([frame(headers, endStream, streamId(at), callHeaders([long])), frame(continuation, endHeaders, streamId(at), long)]),
    reason: refusedHeaders,
  },
  {
    name: 'header lists beyond the bound, taken back',
    first: acknowledged,
    times: 500,
    again: (at) => Buffer.concat([called(at, Buffer.concat([stored, named]), endHeaders), frame(reset, none, streamId(at), cancel)]),
    reason: refusedHeaders,
  },
  {
    name: 'header lists of too many pairs',
    times: 500,
    again: (at) => called(at, Buffer.concat(Array.from({ length: 200 }, () => literal('x', ''))), whole),
    reason: refusedHeaders,
  },
  {
    name: 'CONTINUATION without end',
    first: frame(headers, none, 1, callHeaders()),
    times: 2_000,
    again: (at) => frame(continuation, none, 1, literal(`x-${at}`, 'z')),
    reason: /protocol_error$/,
  },
  {
    name: 'empty CONTINUATION without end',
    first: frame(headers, none, 1, callHeaders()),
    times: 2_000,
    again: () => frame(continuation, none, 1),
    reason: /protocol_error$/,
  },
  {
    name: 'requests that are taken back at once',
    times: 2_000,
    again: (at) => Buffer.concat([called(at, Buffer.alloc(0), endHeaders), frame(reset, none, streamId(at), cancel)]),
    reason: /protocol_error$/,
  },
  { name: 'empty DATA', first: heldOpen, times: 2_000, again: () => frame(data, none, 1), reason: /flood$/ },
  {
    name: 'DATA that is padding',
    first: heldOpen,
    times: 4_000,
    again: () => frame(data, padded, 1, Buffer.concat([Buffer.of(255), Buffer.alloc(255)])),
    reason: /flood$/,
  },
  { name: 'answers to no PING', times: 2_000, again: () => frame(ping, ack, 0, Buffer.alloc(8)), reason: /protocol_error$/ },
  { name: 'PING', times: queuedMax, again: () => frame(ping, none, 0, Buffer.alloc(8)), reason: /pings$/ },
  {
    name: 'PING before a request in the same read',
    times: 1,
    again: () => Buffer.concat([...pings, heldOpen, frame(data, endStream, 1, message(goodBody))]),
    reason: /pings$/,
  },
  {
    name: 'PING between a request and its body in the same read',
    times: 1,
    again: () => Buffer.concat([heldOpen, ...pings, frame(data, endStream, 1, message(goodBody))]),
    reason: /pings$/,
  },
  { name: 'SETTINGS', times: queuedMax, again: () => frame(settings, none, 0), reason: /settings$/ },
  {
    name: 'SETTINGS while a request is open',
    first: heldOpen,
    times: queuedMax,
    again: () => frame(settings, none, 0),
    reason: /settings$/,
  },
  {
    name: 'SETTINGS that resize the table of HPACK',
    times: queuedMax,
    again: (at) => frame(settings, none, 0, tables[at % 2]),
    reason: /settings$/,
  },
  {
    name: 'PRIORITY',
    times: 20_000,
    again: () => frame(priority, none, 1, Buffer.from([0, 0, 0, 0, 1])),
    reason: /protocol_error$/,
  },
  { name: 'unknown types', times: 20_000, again: () => frame(unknownType, none, 0), reason: /protocol_error$/ },
  { name: 'large frames of unknown types', times: 200, again: () => frame(unknownType, none, 0, Buffer.alloc(16_000)), reason: /flood$/ },
  { name: 'WINDOW_UPDATE of the connection', times: 40_000, again: () => frame(windowUpdate, none, 0, one), reason: /flood$/ },
  {
    name: 'WINDOW_UPDATE while a request is open',
    first: heldOpen,
    times: 40_000,
    again: () => frame(windowUpdate, none, 1, one),
    reason: /flood$/,
  },
  {
    name: 'WINDOW_UPDATE between single bytes of a request',
    first: heldOpen,
    times: 800,
    again: () =>
      Buffer.concat([frame(data, none, 1, Buffer.alloc(1)), ...Array.from({ length: 100 }, () => frame(windowUpdate, none, 1, one))]),
    reason: /flood$/,
  },
];

describe('otlp_grpc floods', () => {
  for (const { name, first, times, again, reason } of rows) {
    test(`otlp_grpc floods: ${name} end the session, counted as ${reason.source}`, async () => {
      const door = await opened({ bounds: { overheadCheckMs: 20, overheadBytesMax: 256 * 1024 } });
      const socket = await flooded(door.port, first, times, again);
      await eventually(() => socket.closed || undefined, 'the end of the connection');
      expect([...door.counts].filter(([key]) => key.includes('connections_ended'))).toEqual([[expect.stringMatching(reason), 1]]);
      expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
      await door.inFlight(0);
    });
  }

  test('otlp_grpc floods: WINDOW_UPDATE ends the session within the default bounds', async () => {
    const door = await opened();
    const socket = await flooded(door.port, undefined, 1_000, () =>
      Buffer.concat(Array.from({ length: 200 }, () => frame(windowUpdate, none, 0, one))),
    );
    await eventually(() => socket.closed || undefined, 'the end of the connection');
    expect(await counted(door, 'tracejury.receiver.connections_ended grpc flood')).toBe(1);
  });
});

test('otlp_grpc: a header list beyond the bound is refused before the client acknowledges the bound', async () => {
  const door = await opened();
  const socket = await spokenTo(door.port);
  onTestFinished(() => void socket.destroy());
  socket.write(
    Buffer.concat([called(0, Buffer.concat([stored, named.subarray(0, 10)]), endHeaders), frame(data, endStream, 1, message(goodBody))]),
  );
  socket.write(Buffer.concat([called(1, stored, endHeaders), frame(data, endStream, streamId(1), message(goodBody))]));
  await counted(door, 'tracejury.receiver.requests grpc traces OK');
  expect(door.spans).toHaveLength(1);
});

/** Sends in small pieces, so that the size of one read meets no bound, and stops when the connection closes. */
async function flooded(port: number, first: Buffer | undefined, times: number, again: Row['again']): Promise<Socket> {
  const socket = await spokenTo(port);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  // An acknowledgement before the service's settings would be a separate fault.
  await once(socket, 'data');
  await pause(50);
  if (first !== undefined) socket.write(first);
  for (let at = 0; at < times && !socket.closed; at += pieceFrames) {
    socket.write(Buffer.concat(Array.from({ length: Math.min(pieceFrames, times - at) }, (_, n) => again(at + n))));
    await pause(1);
  }
  return socket;
}
const pieceFrames = 100;
