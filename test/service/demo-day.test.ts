/** The day that the demonstration sends. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { demoDay, type DemoDay } from '../../src/service/demo-day.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { recordedDay, recordedFile } from '../demo/recorded-day.ts';

const endUnixMs = Date.UTC(2027, 2, 14, 12);

/** Bytes that another `of` makes others. */
function bytesOf(of: string): (count: number) => Uint8Array {
  let drawn = 0;
  return (count) => createHash('sha512').update(`${of} ${drawn++}`).digest().subarray(0, count);
}

const dayOf = (runs: number, { seed = 1, of = 'one' } = {}): Promise<DemoDay> =>
  demoDay({ runs, seed, endUnixMs, randomBytes: bytesOf(of) });

test('demo: the recorded day is the simulated one', () => {
  expect(readFileSync(recordedFile, 'utf8')).toBe(recordedDay());
});

test.each([1, 40, 120, 300])('demo: a day of %i runs has as many traces, ends now and is a day long at most', async (runs) => {
  const { spans, ...told } = await dayOf(runs);
  const web = spans.filter(({ resource }) => resource.attribute('service.name') === 'web-shop');
  const traces = (of: readonly { readonly traceId: string }[]): number => new Set(of.map(({ traceId }) => traceId)).size;
  expect(told).toEqual({ runs, webRequests: traces(web) });
  expect(traces(spans)).toBe(runs + traces(web));
  const ends = spans.map(({ endUnixNano }) => Number(endUnixNano / 1_000_000n));
  expect(Math.max(...ends)).toBe(endUnixMs);
  expect(Math.min(...ends)).toBeGreaterThan(endUnixMs - 10 * 60 * 60 * 1_000);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
});

test('demo: another day has other ids of traces and calls, and events of errors lie within their spans', async () => {
  const [one, other] = [await dayOf(60), await dayOf(60, { of: 'other' })];
  const idsIn = ({ spans }: DemoDay): ReadonlySet<string> =>
    new Set(
      writeTraces(spans, 'json')
        .toString()
        .match(/[0-9a-f]{32}|(?<=Id":")[0-9a-f]{16}|call_[0-9a-f]{12}/g),
    );
  expect(idsIn(one).size).toBeGreaterThan(100);
  expect([...idsIn(one)].filter((id) => idsIn(other).has(id))).toEqual([]);
  for (const { events, startUnixNano, endUnixNano } of one.spans)
    for (const { timeUnixNano } of events) expect(timeUnixNano >= startUnixNano && timeUnixNano <= endUnixNano).toBe(true);
});

test('demo: the seed chooses the order of the day, and the same one gives the same bytes', async () => {
  const bytes = async (seed: number): Promise<Buffer> => writeTraces((await dayOf(60, { seed })).spans, 'protobuf');
  expect((await bytes(7)).equals(await bytes(7))).toBe(true);
  expect((await bytes(7)).equals(await bytes(8))).toBe(false);
});
