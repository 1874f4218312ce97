/** Deletion by age and by bytes, in every store. */
import { describe, expect, test } from 'vitest';
import { noTenant } from '../../src/model/ids.ts';
import type { RunQuery } from '../../src/model/store/store.ts';
import { retention } from '../builders/retention.ts';
import { scored, scoredRun } from '../builders/scored-run.ts';
import { seeded } from '../builders/seeded.ts';
import { members, open } from './members.ts';
import { base, nth, numbers, piece, secondMicros, traceId } from './numbered.ts';

/** Nothing makes it shorter by more than a fifth. */
function seededText(seed: number, chars: number): string {
  const { below } = seeded(seed);
  return Array.from({ length: chars }, () => String.fromCodePoint(33 + below(90))).join('');
}

const all: RunQuery = { limit: 200 };

describe.each(members)('%s', (member) => {
  test('stores: what is old goes in steps, content before runs', async () => {
    const store = await open(member);
    await store.write(Array.from({ length: 5 }, (_, at) => scoredRun({ a: scored(1) }, nth(at))));
    const limits = retention({ runsBefore: base + 2 * secondMicros, contentBefore: base + 4 * secondMicros, stepRuns: 1 });
    const steps = [];
    for (let step = await store.prune(limits); steps.push(step) < 20 && step.more;) step = await store.prune(limits);
    expect(numbers(await store.runs(all))).toEqual([4, 3, 2]);
    expect(steps.reduce((sum, { runs }) => sum + runs, 0)).toBe(2);
    expect([await store.run(nth(3)), await store.run(nth(4))].map((one) => one?.content === undefined)).toEqual([true, false]);
    expect((await store.run(nth(3)))?.verdicts).toHaveLength(1);
  });

  test('stores: spans go with their run, and with the content before that', async () => {
    const store = await open(member);
    await store.write([0, 1, 2, 3].map((at) => scoredRun({}, nth(at))));
    await store.writeSpans([0, 1, 2, 3].map((at) => piece(at, at === 0 ? { joined: [traceId(99)] } : {})));
    const limits = retention({ runsBefore: base + secondMicros, contentBefore: base + 2 * secondMicros, stepRuns: 1 });
    let spans = 0;
    for (let step = await store.prune(limits), steps = 1; ; step = await store.prune(limits), steps++) {
      spans += step.spans;
      expect(steps).toBeLessThan(20);
      if (!step.more) break;
    }
    expect(spans).toBe(2);
    expect(await Promise.all([1, 2, 3, 4].map(async (id) => (await store.spans(noTenant, traceId(id))).length))).toEqual([0, 0, 1, 1]);
    expect((await store.spans(noTenant, traceId(99))).length).toBe(0);
    expect((await store.run(nth(1)))?.spans).toBe(0);
  });
});

/** PostgreSQL has a separate suite: its files keep the room of deleted rows, and an estimate decides how many runs must go. */
const shrinking = members.filter((member) => member !== 'postgres');

describe.each(shrinking)('%s, by bytes', (member) => {
  test.each([
    { runs: 300, chars: 5_000, stepRuns: 50 },
    { runs: 20, chars: 80_000, stepRuns: 200 },
  ])(
    'stores: of $runs runs that hold too many bytes the oldest go, at any age, and no more than must',
    async ({ runs: count, chars, stepRuns }) => {
      const store = await open(member);
      // A file without a run takes half a megabyte.
      const bytesMax = 1_400_000;
      const items = Array.from({ length: count }, (_, at) => scoredRun({ a: scored(1, { explanation: seededText(at, chars) }) }, nth(at)));
      for (let from = 0; from < count; from += 100) await store.write(items.slice(from, from + 100));
      const prune = () => store.prune(retention({ bytesMax, stepRuns }));
      expect(await store.prune(retention({ bytesMax: 1e9, stepRuns }))).toMatchObject({ runs: 0, more: false });
      let [gone, steps] = [0, 0];
      for (let more = true; more; expect(++steps).toBeLessThan(100))
        ({ runs: gone, more } = await prune().then((step) => ({ ...step, runs: gone + step.runs })));
      const left = numbers(await store.runs(all));
      expect(left).toEqual(Array.from({ length: count - gone }, (_, at) => count - 1 - at));
      // A store may compress them.
      expect(left.length * chars).toBeLessThanOrEqual(bytesMax * 1.25);
      expect(left.length * chars).toBeGreaterThan(bytesMax / 2);
      expect(await prune()).toMatchObject({ runs: 0, more: false });
    },
  );

  test('stores: spans, and what waits for backends, count as bytes and go with their runs', async () => {
    const store = await open(member);
    const items = Array.from({ length: 20 }, (_, at) => scoredRun({ a: scored(1) }, nth(at)));
    await store.write(
      items,
      items.map((item, at) => ({
        exporter: 'x',
        part: 'rules',
        item: {
          ...item,
          evaluations: item.evaluations.map((one) => ({ ...one, verdict: scored(1, { explanation: seededText(at, 60_000) }) })),
        },
        offeredAt: at,
      })),
    );
    await store.writeSpans(items.map((_, at) => piece(at, { body: new TextEncoder().encode(seededText(at + 100, 60_000)) })));
    let exports = 0;
    for (let [steps, more] = [0, true]; more; expect(++steps).toBeLessThan(100)) {
      const step = await store.prune(retention({ bytesMax: 1_400_000 }));
      exports += step.exports['x'] ?? 0;
      more = step.more;
    }
    const left = numbers(await store.runs(all));
    expect(left.length).toBeGreaterThan(3);
    expect(left.length).toBeLessThan(17);
    expect([exports, (await store.exports.list({ limit: 100 })).exports.length]).toEqual([20 - left.length, left.length]);
    expect(
      (await Promise.all(items.map(({ run: of }) => store.spans(noTenant, of.traceId)))).filter((pieces) => pieces.length > 0),
    ).toHaveLength(left.length);
  });
});
