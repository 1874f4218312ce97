/** More at once than there is room for, half requests, and requests that are taken back. */
import { constants, type ClientHttp2Stream } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { callBytes } from '../../../src/receivers/grpc/otlp-grpc.ts';
import { testLimits } from '../door.ts';
import { grpcClient, grpcSend, message, rawCall } from '../grpc-client.ts';
import { goodBody } from '../otlp-http/table.ts';
import { closed, connected, connectionEnd, counted, opened } from './opened.ts';

describe('otlp_grpc overload', () => {
  test('otlp_grpc: bytes in flight are bounded over all connections and given back', async () => {
    const door = await opened({ limits: { ...testLimits, inFlightBytes: callBytes + goodBody.length + 10 } });
    const first = rawCall(await connected(door));
    first.stream.write(message(goodBody).subarray(0, 10));
    await door.inFlight(callBytes + goodBody.length);
    expect(await grpcSend(door.port, { message: goodBody })).toMatchObject({
      code: 'UNAVAILABLE',
      retryAfterSeconds: 1,
      message: expect.stringMatching(/in flight/),
    });
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
    // Few enough not to look like an attack.
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
    expect(await counted(door, connectionEnd('protocol_error'))).toBe(1);
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

  test('otlp_grpc: a request that the service works on has its answer, however long that takes', async () => {
    const door = await opened({ bounds: { requestMs: 20, answerMs: 20 } });
    const stored = Promise.withResolvers<void>();
    door.beforeAnswer = stored.promise;
    const answer = grpcSend(door.port, { message: goodBody });
    await door.inFlight(callBytes + goodBody.length);
    // The same limits end one that comes later.
    const late = rawCall(await connected(door));
    late.stream.write(message(goodBody).subarray(0, 10));
    expect((await late.answer).headers['grpc-status']).toBe('4');
    stored.resolve();
    expect((await answer).code).toBe('OK');
  });

  test('otlp_grpc: refusals of one kind are logged once a minute, with their number', async () => {
    const door = await opened();
    const refuse = async (): Promise<void> => void (await grpcSend(door.port, { path: '/nobody/Export', message: goodBody }));
    for (let n = 0; n < 3; n++) await refuse();
    door.clock.advance(60_000);
    await refuse();
    expect(door.warnings).toEqual([
      { kind: 'not_found', status: 404, path: '/nobody/Export', refused: 1 },
      { kind: 'not_found', status: 404, path: '/nobody/Export', refused: 3 },
    ]);
  });
});
