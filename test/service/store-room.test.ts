import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { storeRoom } from '../../src/service/store-room.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';

test('store room: a full disk is told once and counts until nothing has failed for longer than writers rest', () => {
  const clock = manualClock();
  const telemetry = metricRegistry();
  const told: string[] = [];
  const room = storeRoom({ file: '/data/tracejury.db', clock, telemetry, logger: { error: (_, message) => told.push(message) } });
  expect(room.fullFolder()).toBeUndefined();
  room.full();
  clock.advance(30_000);
  room.full();
  clock.advance(44_999);
  expect(room.fullFolder()).toBe('/data');
  clock.advance(1);
  expect(room.fullFolder()).toBeUndefined();
  expect(told).toEqual(['the disk is full: no room in /data']);
  room.full();
  expect(told).toHaveLength(2);
  expect(telemetry.snapshot().find(({ name }) => name === 'tracejury.store.disk_full')?.points).toMatchObject([{ value: 3 }]);
});
