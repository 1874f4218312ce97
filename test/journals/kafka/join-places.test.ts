import { expect, test } from 'vitest';
import { joinPlaces } from '../../../src/journals/kafka/join-places.ts';
import { partitionOf } from '../../../src/journals/kafka/partitioner.ts';
import type { Tenant, TraceId } from '../../../src/model/ids.ts';
import { traceKey } from '../../../src/pipeline/gathering/trace-table.ts';

const partitions = 6;
const tenant = 'team' as Tenant;
const joined = partitionOf(Buffer.from(tenant), partitions);
const traceIds = Array.from({ length: 50 }, (_, at) => at.toString(16).padStart(32, '0') as TraceId);
const homeOf = (traceId: TraceId): number => partitionOf(Buffer.from(traceId), partitions);
const part = { signal: 'traces', encoding: 'protobuf', bytes: Buffer.alloc(1) } as const;

function placesOf(...owned: readonly number[]) {
  const own = new Set(owned);
  return { own, ...joinPlaces({ isOwned: (partition) => own.has(partition), partitions: () => partitions, nowMs: () => 1 }) };
}

test('join places: all traces of a tenant are joined by the owner of one partition', () => {
  const [here, there] = [placesOf(joined), placesOf(...[0, 1, 2, 3, 4, 5].filter((one) => one !== joined))];
  for (const traceId of traceIds) {
    const key = traceKey(tenant, traceId);
    expect([here.joins(key), there.joins(key), there.moved(key, part).partition]).toEqual([true, false, joined]);
  }
});

test('join places: a run is written by the right of the partition that has its trace, and by none where another process has it', () => {
  const traceId = traceIds.find((one) => homeOf(one) !== joined) ?? ('' as TraceId);
  const [key, home] = [traceKey(tenant, traceId), homeOf(traceId)];
  const other = [0, 1, 2, 3, 4, 5].filter((one) => one !== joined && one !== home);
  expect([placesOf(home).ownedOf(key), placesOf(joined).ownedOf(key), placesOf(...other).ownedOf(key)]).toEqual([home, joined, undefined]);
});

test('join places: a trace that moved from process to process stays where it is after some moves, and its runs are written there', () => {
  const key = traceKey(tenant, traceIds.find((one) => homeOf(one) !== joined) ?? ('' as TraceId));
  const astray = [0, 1, 2, 3, 4, 5].find((one) => one !== joined && one !== homeOf(traceIds[0] ?? ('' as TraceId))) ?? 0;
  const places = placesOf(astray);
  let moves = 0;
  while (!places.joins(key) && moves < 100) places.came(key, { partition: astray, moves: ++moves });
  expect([moves < 10, places.ownedOf(key)]).toEqual([true, astray]);
  // Once it has come to the right place, it may move again.
  places.came(key, { partition: joined, moves });
  expect(places.joins(key)).toBe(false);
});

test('join places: a trace is claimed once, and not where it is already', () => {
  const traceId = traceIds.find((one) => homeOf(one) !== joined) ?? ('' as TraceId);
  const [key, home] = [traceKey(tenant, traceId), homeOf(traceId)];
  const places = placesOf(joined);
  expect([places.claim(key)?.partition, places.claim(key)]).toEqual([home, undefined]);
  expect(placesOf(joined, home).claim(key)).toBeUndefined();
});
