/** Connections that outstay their welcome, stopping, TLS: what needs more than one request and its answer. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { credentials } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { callBytes } from '../../../src/receivers/grpc/otlp-grpc.ts';
import { exchange, head, unopenedGrpcDoor } from '../door.ts';
import { grpcClient, grpcSend, message, rawCall, rawSession } from '../grpc-client.ts';
import { goodBody } from '../otlp-http/table.ts';
import { closed, connected, connectionEnd, counted, opened } from './opened.ts';

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

  test('otlp_grpc: a client that does not speak HTTP/2 is cut off, counted and logged', async () => {
    const door = await opened();
    await exchange(
      door.port,
      head('/v1/traces', { 'content-type': 'application/x-protobuf', 'content-length': goodBody.length }),
      goodBody,
    ).catch(() => undefined);
    expect(await counted(door, connectionEnd('not_http2'))).toBe(1);
    expect(door.warnings).toEqual([
      { kind: 'not_http2', status: 400, refused: 1, todo: expect.stringContaining('listen.otlp_http') as string },
    ]);
    expect((await grpcSend(door.port, { message: goodBody })).code).toBe('OK');
  });

  test('otlp_grpc: a connection on which nothing is said is cut off, and counted', async () => {
    const door = await opened({ bounds: { handshakeMs: 20 } });
    const socket = connect(door.port, '127.0.0.1')
      .on('error', () => undefined)
      .resume();
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

  test('otlp_grpc: an address that is taken is reported, and a door that never opened can be closed', async () => {
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
