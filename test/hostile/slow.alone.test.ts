/** Clients that take their time, at doors with little of it; and requests that are so large that others come in between. */
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { exchange, head, open, openDoor, openGrpcDoor, type Door } from '../receivers/door.ts';
import { message, rawCall, rawSession } from '../receivers/grpc-client.ts';
import { goodBody } from '../receivers/otlp-http/table.ts';
import { json, plain, protobuf, spanId } from './bodies.ts';

const type = { 'content-type': 'application/x-protobuf' };
const trace = '0102030405060708090a0b0c0d0e0f10';
const limits = { bodyBytes: 16 * 1024 * 1024, inflatedBytes: 64 * 1024 * 1024, inFlightBytes: 128 * 1024 * 1024 };
const doors: Door[] = [];

afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.receiver.stop()));
});

async function opened(opening: Promise<Door>): Promise<Door> {
  const door = await opening;
  doors.push(door);
  return door;
}

const slow = [
  { name: 'headers that never end', bytes: 'POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-' },
  { name: 'a body that never comes', bytes: head('/v1/traces', { ...type, 'content-length': 100 }) },
  { name: 'a piece that never ends', bytes: `${head('/v1/traces', { ...type, 'transfer-encoding': 'chunked' })}ff\r\nabc` },
];
for (const { name, bytes } of slow) {
  test(`hostile: ${name}: the client gets an answer in time, and the connection ends`, async () => {
    const door = await opened(openDoor({ bounds: { requestMs: 200, headersMs: 100, checkingMs: 10 } }));
    const { socket, answer } = await open(door.port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(bytes);
    expect(await answer).toMatchObject({ status: 408, headers: { connection: 'close' } });
    await closed;
  });
}

const large = Array.from({ length: 20_000 }, (_, at) => plain(trace, { spanId: spanId(at + 1) }));

test('hostile: small requests are answered while a large one is read', async () => {
  const door = await opened(openDoor({ limits }));
  const body = gzipSync(json(...large));
  const order: string[] = [];
  const one = exchange(
    door.port,
    head('/v1/traces', {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': body.length,
      connection: 'close',
    }),
    body,
  ).then(() => order.push('large'));
  await until(() => door.counts.get('tracejury.receiver.bytes http traces') === body.length);
  const small = exchange(door.port, head('/v1/traces', { ...type, 'content-length': goodBody.length, connection: 'close' }), goodBody).then(
    () => order.push('small'),
  );
  await Promise.all([one, small]);
  expect(order).toEqual(['small', 'large']);
  expect(door.spans).toHaveLength(20_001);
});

test('hostile: the service stops reading for a client of HTTP that goes away during its request', async () => {
  const door = await opened(openDoor({ limits }));
  const body = json(...large);
  const socket = connect(door.port, '127.0.0.1');
  socket.write(
    Buffer.concat([Buffer.from(head('/v1/traces', { 'content-type': 'application/json', 'content-length': body.length })), body]),
  );
  await until(() => door.counts.get('tracejury.receiver.bytes http traces') === body.length);
  socket.resetAndDestroy();
  await door.inFlight(0);
  const { socket: other, answer } = await open(door.port);
  other.write(Buffer.concat([Buffer.from(head('/v1/traces', { ...type, 'content-length': goodBody.length })), goodBody]));
  expect((await answer).status).toBe(200);
  other.destroy();
  expect(door.spans).toHaveLength(1);
});

test('hostile: the service stops reading for a client of gRPC that goes away during its request', async () => {
  const door = await opened(openGrpcDoor({ limits }));
  const session = rawSession(door.port);
  const body = protobuf(...large);
  rawCall(session).stream.end(message(body));
  await until(() => door.counts.get('tracejury.receiver.bytes grpc traces') === body.length);
  session.destroy();
  await door.inFlight(0);
  const again = rawSession(door.port);
  const call = rawCall(again);
  call.stream.end(message(goodBody));
  expect((await call.answer).headers['grpc-status']).toBe('0');
  again.destroy();
  expect(door.spans).toHaveLength(1);
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
