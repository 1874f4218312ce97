/** Load, half requests, stopping, TLS, and connections that outstay their welcome: what needs more than one request and its answer. */
import { readFileSync } from 'node:fs';
import { constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { credentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from 'vitest';
import { callBytes } from '../../../src/receivers/otlp-grpc.ts';
import { exchange, head, openGrpcDoor, testLimits, unopenedGrpcDoor, type Door, type DoorOptions } from '../door.ts';
import { grpcClient, grpcSend, message, rawCall, rawSession } from '../grpc-client.ts';
import { goodBody } from '../otlp-http/table.ts';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(ending.splice(0).map((end) => end()));
});

async function opened(options?: DoorOptions): Promise<Door> {
  const door = await openGrpcDoor(options);
  ending.push(() => door.receiver.stop());
  return door;
}

async function connected(door: Door): Promise<ClientHttp2Session> {
  const session = rawSession(door.port);
  ending.unshift(() => session.destroy());
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  return session;
}

function closed(session: ClientHttp2Session): Promise<unknown> {
  return new Promise((resolve) => session.once('close', resolve));
}

/** Resolves when the counter has been raised. */
async function counted(door: Door, key: string): Promise<number> {
  for (let attempt = 0; attempt < 1500; attempt++) {
    const count = door.counts.get(key);
    if (count !== undefined) return count;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`never counted: ${key}; ${[...door.counts.keys()].join(', ')}`);
}

const connectionEnd = (reason: string): string => `tracejury.receiver.connections_ended grpc ${reason}`;

describe('otlp_grpc overload', () => {
  test('otlp_grpc: bytes in flight are bounded over all connections and given back', async () => {
    const door = await opened({ limits: { ...testLimits, inFlightBytes: callBytes + goodBody.length + 10 } });
    const first = rawCall(await connected(door));
    first.stream.write(message(goodBody).subarray(0, 10));
    await door.inFlight(callBytes + goodBody.length);
    expect(await grpcSend(door.port, { message: goodBody })).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1, message: expect.stringMatching(/in flight/) });
    first.stream.end(message(goodBody).subarray(10));
    expect((await first.answer).headers['grpc-status']).toBe('0');
    await door.inFlight(0);
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
  });

  test('otlp_grpc: calls that say nothing more count as well', async () => {
    const door = await opened({ limits: { ...testLimits, inFlightBytes: callBytes * 3 } });
    const session = await connected(door);
    const calls = [rawCall(session), rawCall(session), rawCall(session)];
    await door.inFlight(callBytes * 3);
    expect(await grpcSend(door.port, { message: goodBody })).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 });
    calls.forEach(({ stream }) => stream.close());
    await door.inFlight(0);
  });

  test('otlp_grpc: many bombs at once never hold more than there is', async () => {
    const door = await opened();
    let most = 0;
    const counts = door.counts;
    const set = counts.set.bind(counts);
    counts.set = (key, value) => {
      if (key === 'tracejury.receiver.in_flight') most = Math.max(most, value);
      return set(key, value);
    };
    const bomb = message(gzipSync(Buffer.alloc(16 * 1024 * 1024)), { flag: 1 });
    const session = await connected(door);
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => {
        const { stream, answer } = rawCall(session, { 'grpc-encoding': 'gzip' });
        stream.end(bomb);
        return answer;
      }),
    );
    expect(new Set(answers.map(({ headers }) => headers['grpc-status']))).toEqual(new Set(['8', '14']));
    expect(most).toBeGreaterThan(testLimits.inflatedBytes);
    expect(most).toBeLessThanOrEqual(testLimits.inFlightBytes);
    await door.inFlight(0);
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
  });

  test('otlp_grpc: five hundred calls on one connection are all taken', async () => {
    const door = await opened({ limits: { ...testLimits, inFlightBytes: 64 * 1024 * 1024 } });
    const client = grpcClient(door.port, { coding: 'gzip' });
    const answers = await Promise.all(Array.from({ length: 500 }, () => client.send({ message: goodBody })));
    client.close();
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set(['OK']));
    expect(door.spans).toHaveLength(500);
    await door.inFlight(0);
  });

  test('otlp_grpc: requests that are taken back at any moment leave nothing behind', async () => {
    const door = await opened();
    const client = await connected(door);
    const moments: readonly ((call: ClientHttp2Stream) => unknown)[] = [
      (call) => call.close(constants.NGHTTP2_CANCEL),
      (call) => setImmediate(() => call.close(constants.NGHTTP2_CANCEL)),
      (call) => call.write(message(goodBody).subarray(0, 3), () => call.close(constants.NGHTTP2_CANCEL)),
      (call) => call.end(message(goodBody), () => call.close(constants.NGHTTP2_CANCEL)),
      (call) => call.once('response', () => call.close(constants.NGHTTP2_CANCEL)).end(message(goodBody)),
      (call) => call.once('response', () => call.close(constants.NGHTTP2_CANCEL)).end(Buffer.from([9, 9, 9, 9, 9])),
    ];
    // Few enough that nobody thinks of an attack.
    for (let round = 0; round < 20; round++) {
      const calls = moments.map((take) => {
        const { stream, answer } = rawCall(client, round % 2 === 0 ? {} : { ':path': '/nobody/Export' });
        take(stream);
        return answer;
      });
      await Promise.all(calls);
    }
    await door.inFlight(0);
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
  });

  test('otlp_grpc: a client that goes on taking requests back is cut off', async () => {
    const door = await opened();
    const client = await connected(door);
    const told = new Promise((resolve) => client.once('goaway', resolve));
    const end = closed(client);
    for (let at = 0; at < 500 && !client.closed && !client.destroyed; at++) {
      const { stream, answer } = rawCall(client);
      stream.write(message(goodBody).subarray(0, 3), () => stream.close(constants.NGHTTP2_CANCEL));
      await answer;
    }
    // The word of nghttp2 for it.
    expect(await told).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    await end;
    await door.inFlight(0);
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
    expect(door.counts.get(connectionEnd('protocol_error'))).toBe(1);
  });

  test('otlp_grpc: a client that goes away in the middle gives its bytes back', async () => {
    const door = await opened();
    const session = await connected(door);
    rawCall(session).stream.write(message(goodBody).subarray(0, 10));
    await door.inFlight(callBytes + goodBody.length);
    session.destroy();
    await door.inFlight(0);
    expect(door.spans).toEqual([]);
  });

  test('otlp_grpc: a request that does not come to its end is answered in time', async () => {
    const door = await opened({ bounds: { requestMs: 20 } });
    const call = rawCall(await connected(door));
    call.stream.write(message(goodBody).subarray(0, 10));
    expect((await call.answer).headers).toMatchObject({ 'grpc-status': '4', 'grpc-message': 'The request did not arrive in time.' });
    await door.inFlight(0);
  });

  test('otlp_grpc: refusals of one kind are told once a minute, with their number', async () => {
    const door = await opened();
    const refuse = async (): Promise<void> => void (await grpcSend(door.port, { path: '/nobody/Export', message: goodBody }));
    for (let n = 0; n < 3; n++) await refuse();
    door.clock.advance(60_000);
    await refuse();
    expect(door.warnings).toEqual([{ kind: 'not_found', status: 404, refused: 1 }, { kind: 'not_found', status: 404, refused: 3 }]);
  });
});

describe('otlp_grpc connections', () => {
  test('otlp_grpc: connections beyond the bound are not accepted, and counted', async () => {
    const door = await opened({ bounds: { connectionsMax: 2 } });
    const first = await connected(door);
    await connected(door);
    await closed(rawSession(door.port));
    expect(await counted(door, connectionEnd('over_limit'))).toBe(1);
    const call = rawCall(first);
    call.stream.end(message(goodBody));
    expect((await call.answer).headers['grpc-status']).toBe('0');
  });

  test('otlp_grpc: requests beyond the bound of one connection are not begun', async () => {
    const door = await opened({ bounds: { streamsMax: 3 } });
    const session = await connected(door);
    expect(session.remoteSettings.maxConcurrentStreams).toBe(3);
  });

  test('otlp_grpc: what does not speak HTTP/2 is cut off, counted and told', async () => {
    const door = await opened();
    await exchange(door.port, head('/v1/traces', { 'content-type': 'application/x-protobuf', 'content-length': goodBody.length }), goodBody).catch(() => undefined);
    expect(await counted(door, connectionEnd('not_http2'))).toBe(1);
    expect(door.warnings).toEqual([{ kind: 'not_http2', status: 400, refused: 1 }]);
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
  });

  test('otlp_grpc: a connection on which nothing is said is cut off, and counted', async () => {
    const door = await opened({ bounds: { handshakeMs: 20 } });
    const socket = connect(door.port, '127.0.0.1').on('error', () => undefined).resume();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(door.counts.get(connectionEnd('no_handshake'))).toBe(1);
  });

  const farewells = [
    { name: 'idles', bounds: { idleMs: 20, farewellMs: 20 }, reason: 'idle' },
    { name: 'grows old', bounds: { ageMs: 20, farewellMs: 20 }, reason: 'age' },
  ];
  for (const { name, bounds, reason } of farewells) {
    test(`otlp_grpc: a connection that ${name} is ended in order, and counted`, async () => {
      const door = await opened({ bounds });
      const session = rawSession(door.port);
      const goaways: (readonly [number, number])[] = [];
      session.on('goaway', (code: number, last: number) => goaways.push([code, last]));
      await closed(session);
      expect(goaways[0]).toEqual([0, 2 ** 31 - 1]);
      expect(door.counts.get(connectionEnd(reason))).toBe(1);
    });
  }

  test('otlp_grpc: a request that is under way when its connection has grown old is answered', async () => {
    const door = await opened({ bounds: { ageMs: 20, farewellMs: 20 } });
    const session = rawSession(door.port);
    const call = rawCall(session);
    call.stream.write(message(goodBody).subarray(0, 10));
    await new Promise((resolve) => session.once('goaway', resolve));
    call.stream.end(message(goodBody).subarray(10));
    expect((await call.answer).headers['grpc-status']).toBe('0');
    await closed(session);
  });

  test('otlp_grpc: a client that only pings is cut off, and counted', async () => {
    const door = await opened({ bounds: { pingsMax: 20 } });
    const session = await connected(door);
    const end = closed(session);
    const ping = (left: number): void => void (left > 0 && !session.destroyed && session.ping(() => ping(left - 1)));
    ping(30);
    await end;
    expect(door.counts.get(connectionEnd('pings'))).toBe(1);
  });

  test('otlp_grpc: pings between requests are answered', async () => {
    const door = await opened({ bounds: { pingsMax: 20 } });
    const session = await connected(door);
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 15; n++) await new Promise((resolve) => session.ping(resolve));
      const call = rawCall(session);
      call.stream.end(message(goodBody));
      expect((await call.answer).headers['grpc-status']).toBe('0');
    }
  });

  test('otlp_grpc: headers beyond the bound are refused, and others go on', async () => {
    const door = await opened();
    const session = await connected(door);
    const call = rawCall(session, Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`x-${at}`, 'y'.repeat(1_000)])));
    expect((await call.answer).headers['grpc-status']).toBeUndefined();
    expect(door.spans).toEqual([]);
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
  });
});

describe('otlp_grpc stopping', () => {
  test('otlp_grpc: a request under way is answered, then the door is closed; stopping again changes nothing', async () => {
    const door = await opened();
    const session = await connected(door);
    const call = rawCall(session);
    call.stream.write(message(goodBody).subarray(0, 10));
    await door.inFlight(callBytes + goodBody.length);
    const stopped = door.receiver.stop();
    expect(door.receiver.stop()).toBe(stopped);
    call.stream.end(message(goodBody).subarray(10));
    expect((await call.answer).headers['grpc-status']).toBe('0');
    await stopped;
    expect(door.spans).toHaveLength(1);
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('UNAVAILABLE');
  });

  test('otlp_grpc: who does not come to an end is cut off', async () => {
    const door = await opened({ bounds: { stopMs: 20 } });
    const session = await connected(door);
    const end = closed(session);
    rawCall(session).stream.write(message(goodBody).subarray(0, 10));
    await door.inFlight(callBytes + goodBody.length);
    await door.receiver.stop();
    await end;
    expect(door.spans).toEqual([]);
  });

  test('otlp_grpc: an address that is taken is told, and a door that never opened can be closed', async () => {
    const door = await opened();
    const { receiver } = unopenedGrpcDoor({ port: door.port });
    await expect(receiver.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await receiver.stop();
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
  });
});

test('otlp_grpc: speaks TLS with the certificate given', async () => {
  const pem = (name: string): Buffer => readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));
  const door = await opened({ tls: { cert: pem('cert').toString(), key: pem('key').toString() } });
  const client = grpcClient(door.port, { channel: credentials.createSsl(pem('cert')) });
  expect(await client.send({ message: goodBody })).toMatchObject({ code: 'OK' });
  client.close();
  expect(door.spans).toHaveLength(1);
});
