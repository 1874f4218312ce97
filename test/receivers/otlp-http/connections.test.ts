/** Tokens, overload, half requests, stopping, TLS: what needs more than one request and its answer. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { afterEach, describe, expect, test } from 'vitest';
import { JuryError } from '../../../src/model/errors.ts';
import { statusMessage } from '../../otlp/descriptors.ts';
import { exchange, head, open, openDoor, testLimits, type Door, type RawAnswer } from '../door.ts';
import { goodBody } from './table.ts';

const type = { 'content-type': 'application/x-protobuf' };
const doors: Door[] = [];

afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.receiver.stop()));
});

async function opened(options?: Parameters<typeof openDoor>[0]): Promise<Door> {
  const door = await openDoor(options);
  doors.push(door);
  return door;
}

function post(door: Door, headers: { readonly [name: string]: string } = {}): Promise<RawAnswer> {
  return exchange(door.port, head('/v1/traces', { ...type, 'content-length': goodBody.length, connection: 'close', ...headers }), goodBody);
}

describe('otlp_http tokens', () => {
  const tokens = [
    { name: 'agents', value: 'secret-1' },
    { name: 'others', value: 'secret-2' },
  ];
  const cases = [
    { name: 'the first token', authorization: 'Bearer secret-1', tenant: 'agents' },
    { name: 'the second token', authorization: 'bearer  secret-2', tenant: 'others' },
    { name: 'a wrong token', authorization: 'Bearer secret-3', tenant: undefined },
    { name: 'the beginning of a token', authorization: 'Bearer secret-', tenant: undefined },
    { name: 'another scheme', authorization: 'Basic secret-1', tenant: undefined },
    { name: 'an empty token', authorization: 'Bearer ', tenant: undefined },
    { name: 'no header', authorization: undefined, tenant: undefined },
  ];
  for (const { name, authorization, tenant } of cases) {
    test(`otlp_http: ${name} ${tenant === undefined ? 'is answered 401' : `sends for ${tenant}`}`, async () => {
      const door = await opened({ tokens });
      const answer = await post(door, authorization === undefined ? {} : { authorization });
      expect(answer.status).toBe(tenant === undefined ? 401 : 200);
      expect(door.spans.map(([name]) => name)).toEqual(tenant === undefined ? [] : [tenant]);
      if (tenant !== undefined) return;
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(statusMessage.decode(answer.body)).toMatchObject({ code: 16 });
    });
  }

  test('otlp_http: without tokens spans belong to no tenant', async () => {
    const door = await opened();
    await post(door, { authorization: 'Bearer anything' });
    expect(door.spans.map(([name]) => name)).toEqual(['']);
  });
});

describe('otlp_http overload', () => {
  test('otlp_http: an overloaded service answers 429, one that stops 503, both with the time to wait', async () => {
    const door = await opened();
    door.admission = { refuse: 'overloaded', retryAfterSeconds: 7 };
    expect(await post(door)).toMatchObject({ status: 429, headers: { 'retry-after': '7', connection: 'close' } });
    door.admission = { refuse: 'stopping', retryAfterSeconds: 0.2 };
    expect(await post(door)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    door.admission = 'open';
    expect((await post(door)).status).toBe(200);
  });

  test('otlp_http: bytes in flight are bounded over all connections and given back', async () => {
    const door = await opened({ limits: { ...testLimits, inFlightBytes: goodBody.length + 10 } });
    const first = await open(door.port);
    first.socket.write(head('/v1/traces', { ...type, 'content-length': goodBody.length }));
    await door.inFlight(goodBody.length);
    const second = await post(door);
    expect(second).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(statusMessage.decode(second.body)).toMatchObject({ code: 8 });
    first.socket.write(goodBody);
    expect((await first.answer).status).toBe(200);
    await door.inFlight(0);
    expect((await post(door)).status).toBe(200);
    first.socket.destroy();
  });

  test('otlp_http: bytes without an announced length are bounded on arrival', async () => {
    const door = await opened({ limits: { ...testLimits, inFlightBytes: 10 } });
    const answer = await exchange(
      door.port,
      head('/v1/traces', { ...type, 'transfer-encoding': 'chunked' }),
      '40\r\n',
      Buffer.alloc(64),
      '\r\n0\r\n\r\n',
    );
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    await door.inFlight(0);
  });

  test('otlp_http: a client that goes away in the middle gives its bytes back', async () => {
    const door = await opened();
    const first = await open(door.port);
    first.socket.write(head('/v1/traces', { ...type, 'content-length': goodBody.length }));
    await door.inFlight(goodBody.length);
    first.socket.destroy();
    await door.inFlight(0);
    expect((await post(door)).status).toBe(200);
    expect(door.spans).toHaveLength(1);
  });

  test('otlp_http: a body that is announced far too long is answered although it never comes', async () => {
    const door = await opened();
    const half = await open(door.port);
    half.socket.write(head('/v1/traces', { ...type, 'content-length': 10_000_000_000 }));
    expect(await half.answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
    half.socket.destroy();
  });
});

describe('otlp_http refused senders', () => {
  test('otlp_http: who goes on sending after a refusal is cut off', async () => {
    const door = await opened();
    const stubborn = await open(door.port);
    const closed = new Promise((resolve) => stubborn.socket.once('close', resolve));
    stubborn.socket.write(head('/v1/traces', { ...type, 'content-length': 10_000_000_000 }));
    expect((await stubborn.answer).status).toBe(413);
    stubborn.socket.write(Buffer.alloc(testLimits.bodyBytes * 2));
    await closed;
    expect((await post(door)).status).toBe(200);
  });
});

describe('otlp_http faults of the service', () => {
  test('otlp_http: what the service refuses is answered in its own words, what fails without details', async () => {
    const door = await opened();
    door.fault = new JuryError('OVERLOADED', 'The journal is full.');
    const refused = await post(door);
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(statusMessage.decode(refused.body)['message']).toMatch(/The journal is full/);
    door.fault = new Error('a secret path');
    const failed = await post(door);
    expect(failed.status).toBe(500);
    expect(statusMessage.decode(failed.body)).toEqual({ code: 13, message: 'The service failed to answer.' });
    expect([...door.counts.keys()].some((key) => key.includes('accepted'))).toBe(false);
  });

  test('otlp_http: refusals of one kind are logged once a minute, with their number', async () => {
    const door = await opened();
    const refuse = (): Promise<RawAnswer> => exchange(door.port, head('/v1/nothing?key=secret', { connection: 'close' }, 'GET'));
    for (let n = 0; n < 3; n++) await refuse();
    expect(door.warnings).toEqual([{ kind: 'not_found', status: 404, path: '/v1/nothing', refused: 1 }]);
    door.clock.advance(60_000);
    await refuse();
    await exchange(door.port, head('/v1/traces', { connection: 'close' }, 'GET'));
    expect(door.warnings.slice(1)).toEqual([
      { kind: 'not_found', status: 404, path: '/v1/nothing', refused: 3 },
      { kind: 'method_not_allowed', status: 405, path: '/v1/traces', refused: 1 },
    ]);
  });
});

describe('otlp_http input that is not HTTP', () => {
  const cases = [
    { name: 'noise', bytes: 'hello\r\n\r\n', status: 400 },
    { name: 'headers beyond the limit', bytes: head('/v1/traces', { x: 'y'.repeat(20_000) }), status: 431 },
    {
      name: 'a length and pieces at once',
      bytes: head('/v1/traces', { ...type, 'content-length': 5, 'transfer-encoding': 'chunked' }),
      status: 400,
    },
    { name: 'a length that is not a number', bytes: head('/v1/traces', { ...type, 'content-length': 'many' }), status: 400 },
    { name: 'a piece without a length', bytes: `${head('/v1/traces', { ...type, 'transfer-encoding': 'chunked' })}zz\r\n`, status: 400 },
  ];
  for (const { name, bytes, status } of cases) {
    test(`otlp_http: ${name} is answered ${status} with a Status in JSON`, async () => {
      const door = await opened();
      const answer = await exchange(door.port, bytes);
      expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/json', connection: 'close' } });
      expect(JSON.parse(answer.body.toString())).toMatchObject({ message: expect.any(String) });
      expect((await post(door)).status).toBe(200);
    });
  }

  test('otlp_http: a length that is too short leaves a rest that is refused', async () => {
    const door = await opened();
    const answer = await exchange(door.port, head('/v1/traces', { ...type, 'content-length': goodBody.length - 5 }), goodBody);
    expect(answer.status).toBe(400);
    expect((await post(door)).status).toBe(200);
    expect(door.spans).toHaveLength(1);
  });

  test('otlp_http: silent connections keep no client away and end when the door closes', async () => {
    const door = await opened();
    const silent = await Promise.all([open(door.port), open(door.port), open(door.port)]);
    silent[0]?.socket.write('POST /v1/tra');
    const ended = silent.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve).on('error', resolve)));
    expect((await post(door)).status).toBe(200);
    await door.receiver.stop();
    await Promise.all(ended);
  });
});

describe('otlp_http stopping', () => {
  test('otlp_http: a request under way is answered, then the door is closed; stopping again changes nothing', async () => {
    const door = await opened();
    const first = await open(door.port);
    first.socket.write(head('/v1/traces', { ...type, 'content-length': goodBody.length }));
    await door.inFlight(goodBody.length);
    const stopped = door.receiver.stop();
    expect(door.receiver.stop()).toBe(stopped);
    first.socket.write(goodBody);
    expect(await first.answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await stopped;
    expect(door.spans).toHaveLength(1);
    await expect(post(door)).rejects.toThrow('ECONNREFUSED');
  });

  test('otlp_http: a connection that is kept open takes several requests and is closed when the door closes', async () => {
    const door = await opened();
    const kept = await open(door.port);
    const closed = new Promise((resolve) => kept.socket.once('close', resolve));
    const one = Buffer.concat([Buffer.from(head('/v1/traces', { ...type, 'content-length': goodBody.length })), goodBody]);
    kept.socket.write(Buffer.concat([one, one]));
    expect((await kept.answer).status).toBe(200);
    await door.inFlight(0);
    await door.receiver.stop();
    await closed;
    expect(door.spans).toHaveLength(2);
  });
});

test('otlp_http: speaks TLS with the certificate given', async () => {
  const pem = (name: string): string => readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');
  const door = await opened({ tls: { cert: pem('cert'), key: pem('key') } });
  const status = await new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: door.port, path: '/v1/traces', method: 'POST', headers: type, ca: pem('cert'), agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on('error', reject);
    sent.end(goodBody);
  });
  expect(status).toBe(200);
  expect(door.spans).toHaveLength(1);
});
