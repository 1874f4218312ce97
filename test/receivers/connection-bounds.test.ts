/** More connections than a listener takes: who gets in, who goes, and what is counted. */
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { connectionShares, machineMemory } from '../../src/service/node-runtime.ts';
import { eventually } from '../service/running.ts';
import { head, openDoor, openGrpcDoor, type Door } from './door.ts';
import { goodBody } from './otlp-http/table.ts';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

interface Client {
  readonly socket: Socket;
  readonly said: () => string;
  readonly isClosed: () => boolean;
}

async function client(door: Door, { localAddress = '127.0.0.1', says = '' } = {}): Promise<Client> {
  let said = '';
  let isClosed = false;
  const socket = connect({ port: door.port, host: '127.0.0.1', localAddress });
  socket
    .on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
    .on('error', () => undefined)
    .on('close', () => (isClosed = true));
  ending.push(() => socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  if (says !== '') socket.write(says);
  return { socket, said: () => said, isClosed: () => isClosed };
}

const request = `${head('/v1/traces', { 'content-type': 'application/x-protobuf', 'content-length': goodBody.length })}${goodBody.toString('latin1')}`;

async function posted(door: Door, localAddress = '127.0.0.1'): Promise<Client> {
  const one = await client(door, { localAddress });
  one.socket.write(Buffer.from(request, 'latin1'));
  await until(() => one.said().includes('\r\n\r\n') || one.isClosed(), 'an answer');
  return one;
}

function until(isSo: () => boolean, what: string): Promise<unknown> {
  return eventually(() => isSo() || undefined, what);
}

const count = (door: Door, reason: string, transport = 'http'): number =>
  door.counts.get(`tracejury.receiver.connections_ended ${transport} ${reason}`) ?? 0;

async function bounded(connectionsMax: number, open = openDoor): Promise<Door> {
  const door = await open({ bounds: { connectionsMax } });
  ending.push(() => door.receiver.stop());
  return door;
}

describe('connections of OTLP over HTTP', () => {
  test('connections: silent ones make room for new ones, the oldest first', async () => {
    const door = await bounded(3);
    const silent = [await client(door), await client(door), await client(door)];
    const good = await posted(door);
    expect(good.said()).toMatch(/^HTTP\/1\.1 200 /);
    await until(() => silent[0]?.isClosed() === true, 'the oldest to go');
    expect(silent.map(({ isClosed }) => isClosed())).toEqual([true, false, false]);
    expect(count(door, 'evicted')).toBe(1);
  });

  test('connections: where none can be missed, the new one reads why and is counted', async () => {
    const door = await bounded(2);
    const kept = [await posted(door), await posted(door)];
    const late = await client(door);
    await until(() => late.isClosed() || late.said().includes('}'), 'an answer');
    expect(late.said()).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r\n/s);
    expect(count(door, 'over_limit')).toBe(1);
    expect(kept.some(({ isClosed }) => isClosed())).toBe(false);
    // A connection that has been idle for a while makes room after all.
    door.clock.advance(10_000);
    expect((await posted(door)).said()).toMatch(/^HTTP\/1\.1 200 /);
    expect(count(door, 'evicted')).toBe(1);
  });

  test('connections: an address that holds most of them gives to others what it has, even in the middle of a request', async () => {
    const door = await bounded(4);
    const own = await posted(door, '127.0.0.2');
    const half = request.slice(0, -5);
    for (let at = 0; at < 3; at++) await client(door, { says: half });
    await until(() => (door.counts.get('tracejury.receiver.in_flight') ?? 0) === 3 * goodBody.length, 'three bodies under way');
    expect((await posted(door, '127.0.0.3')).said()).toMatch(/^HTTP\/1\.1 200 /);
    expect(own.isClosed()).toBe(false);
    expect([count(door, 'evicted'), count(door, 'over_limit')]).toEqual([1, 0]);
  });

  test('connections: one that writes request behind request without waiting for answers is ended and counted', async () => {
    const door = await bounded(3);
    await client(door, { says: head('/v1/traces', { 'content-length': 0 }).repeat(1_000) });
    await until(() => count(door, 'pipelined') === 1, 'the end of the connection');
    await until(() => door.counts.get('tracejury.receiver.connections') === 0, 'no connection');
    expect((await posted(door)).said()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('connections: the gauge follows, and those that have gone are no longer counted', async () => {
    const door = await bounded(3);
    for (let round = 0; round < 5; round++) {
      const clients = [await client(door), await client(door)];
      for (const { socket } of clients) socket.destroy();
      await until(() => door.counts.get('tracejury.receiver.connections') === 0, 'no connection');
    }
    expect([count(door, 'evicted'), count(door, 'over_limit'), door.counts.get('tracejury.receiver.connections_max')]).toEqual([0, 0, 3]);
  });
});

test('connections: silent ones of gRPC make room as well', async () => {
  const door = await bounded(2, openGrpcDoor);
  const silent = [await client(door), await client(door), await client(door)];
  await until(() => silent[0]?.isClosed() === true, 'the oldest to go');
  expect(count(door, 'evicted', 'grpc')).toBe(1);
});

const shares = [
  {
    name: 'many descriptors: up to the bounds of memory',
    descriptors: { max: 1_048_576, open: 40 },
    is: { http: 4_096, grpc: 1_024, console: 256, reserved: 1_024 },
  },
  {
    name: 'a thousand: three quarters of what is free',
    descriptors: { max: 1_024, open: 24 },
    is: { http: 446, grpc: 186, console: 111, reserved: 256 },
  },
  { name: 'no limit', descriptors: { max: Infinity, open: 40 }, is: { http: 4_096, grpc: 1_024, console: 256, reserved: 1_024 } },
  { name: 'hardly any', descriptors: { max: 40, open: 40 }, is: { http: 2, grpc: 2, console: 2, reserved: 10 } },
  {
    name: 'a number in the configuration',
    descriptors: { max: 1_048_576, open: 40 },
    wanted: 20_000,
    is: { http: 12_000, grpc: 5_000, console: 3_000, reserved: 1_024 },
  },
  {
    name: 'a number that the descriptors do not allow',
    descriptors: { max: 1_024, open: 24 },
    wanted: 20_000,
    is: { http: 446, grpc: 186, console: 111, reserved: 256 },
  },
];
for (const { name, descriptors, wanted, is } of shares) {
  test(`connections: shares of ${name}`, () => {
    expect(connectionShares(descriptors, wanted)).toEqual(is);
  });
}

test('connections: when the memory of the process cannot be read, its last value holds', () => {
  const memory = machineMemory();
  const last = memory.residentBytes();
  const read = process.memoryUsage.rss;
  process.memoryUsage.rss = () => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  };
  try {
    expect(last).toBeGreaterThan(0);
    expect(memory.residentBytes()).toBe(last);
  } finally {
    process.memoryUsage.rss = read;
  }
});
