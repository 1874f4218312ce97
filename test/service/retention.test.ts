import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { manualClock } from '../../src/model/clock.ts';
import { retentionOf, storeRoom } from '../../src/service/retention.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { members } from '../config/members.ts';
import { validators } from '../builders/validators.ts';

const [minute, hour] = [60_000, 3_600_000];

/** A waiting job keeps its run until it is ended for its age: a little longer than that. */
const written: readonly { readonly text: string; readonly jobsMs: number; readonly turnsMs: number }[] = [
  { text: '', jobsMs: 24 * hour + 10 * minute, turnsMs: 30 * hour + 10 * minute },
  { text: 'store: { keep: { judge_age: 1h } }\nsessions: { latest: 2h }', jobsMs: 70 * minute, turnsMs: 190 * minute },
  {
    text: 'store: { keep: { judge_age: 1h } }\njudges: { a: { model: m }, b: { model: m, mode: batch, batch: { within: 5h } } }',
    jobsMs: 6 * hour + 10 * minute,
    turnsMs: 12 * hour + 10 * minute,
  },
];

for (const { text, jobsMs, turnsMs } of written) {
  test(`retention: ${JSON.stringify(text)} sets how long a job that waits for judges keeps its run`, () => {
    const keep = retentionOf(() => loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators: members }).config);
    expect([keep.jobsMs, keep.turnsMs]).toEqual([jobsMs, turnsMs]);
  });
}

test('retention: a changed configuration holds from the next time on', () => {
  let text = 'store: { keep: { runs: 2h } }';
  const keep = retentionOf(() => loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators: members }).config);
  expect(keep.runsMs).toBe(2 * hour);
  text = 'store: { keep: { runs: 3h } }';
  expect(keep.runsMs).toBe(3 * hour);
});

for (const { text, bytes } of [
  { text: 'limits: { memory_bytes: 512MiB }', bytes: 20 * 1024 ** 3 },
  { text: 'limits: { memory_bytes: 512MiB }\nstore: { url: "memory:" }', bytes: 64 * 1024 ** 2 },
  { text: 'limits: { memory_bytes: 512MiB }\nstore: { url: "memory:", keep: { bytes: 16MiB } }', bytes: 16 * 1024 ** 2 },
])
  test(`retention: ${JSON.stringify(text)} keeps ${bytes} bytes`, () => {
    expect(retentionOf(() => loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators: members }).config).bytes).toBe(bytes);
  });

test('store room: a full disk is reported once and counts until nothing has failed for longer than writers rest', () => {
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
