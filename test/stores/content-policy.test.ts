import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import { parseTraceId, tenant } from '../../src/model/ids.ts';
import { contentAllowance, withoutContent as chosen, type ContentChoice } from '../../src/stores/content-policy.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { failed, run, scored, scoredRun, skipped } from '../builders/scored-run.ts';

const choice = (sampleRate: number): ContentChoice => ({ content: 'failed_and_sampled', sampleRate, perMinute: 20 });
const withoutContent = (item: ScoredRun, choice: ContentChoice) => chosen(item, choice, { takes: () => false, isCalm: () => true });
const judged = { evaluatorKind: 'judge' } as const;

const cases: readonly { readonly name: string; readonly item: ScoredRun; readonly kept: boolean }[] = [
  { name: 'a run that passed', item: scoredRun({ a: scored(1), b: skipped }), kept: false },
  { name: 'a run without verdicts', item: scoredRun({}), kept: false },
  { name: 'one that failed among others', item: scoredRun({ a: scored(1), b: scored(0) }), kept: true },
  { name: 'a raw metric, which cannot fail', item: scoredRun({ a: scored(0, { passed: null, threshold: null }) }), kept: false },
  { name: 'an evaluator that broke', item: scoredRun({ a: failed() }), kept: true },
  { name: 'a run in error', item: scoredRun({ a: scored(1) }, run({ trace: agentTrace({ status: 'error' }) })), kept: true },
  { name: 'a run that is not whole', item: scoredRun({ a: scored(1) }, run({ completeness: 'partial' })), kept: true },
  { name: 'a run that late spans changed', item: scoredRun({ a: scored(1) }, run({ revision: 2 })), kept: true },
  { name: 'a run that a judge is asked about', item: { ...scoredRun({ a: scored(1) }), asked: true }, kept: true },
  { name: 'what a judge said, although it passed', item: scoredRun({ a: scored(1) }, run(), judged), kept: true },
  { name: 'a run that was taken back', item: scoredRun({ a: skipped }, run({ partOf: run(), completeness: 'complete' })), kept: false },
];
for (const { name, item, kept } of cases) {
  test(`content: failed_and_sampled ${kept ? 'keeps' : 'lets go'} ${name}`, () => {
    expect(withoutContent(item, choice(0))).toBe(kept ? undefined : 'sampled_out');
    expect(withoutContent(item, choice(1))).toBeUndefined();
    expect([
      withoutContent(item, { content: 'all', sampleRate: 0, perMinute: 20 }),
      withoutContent(item, { content: 'none', sampleRate: 1, perMinute: 20 }),
    ]).toEqual([undefined, 'switched_off']);
  });
}

test('content: under overload nothing is kept, and only what would have been is counted against it', () => {
  const asked: string[] = [];
  const pressed = (name: string, item: ScoredRun, choice: ContentChoice) =>
    chosen(item, choice, { takes: () => false, isCalm: () => asked.push(name) < 0 });
  const [passed, broken] = [scoredRun({ a: scored(1) }), scoredRun({ a: scored(0) })];
  expect(pressed('all', passed, { content: 'all', sampleRate: 0, perMinute: 20 })).toBe('overload');
  expect(pressed('failed', broken, choice(0))).toBe('overload');
  expect(pressed('sampled out', passed, choice(0))).toBe('sampled_out');
  expect(pressed('switched off', broken, { content: 'none', sampleRate: 1, perMinute: 20 })).toBe('switched_off');
  expect(asked).toEqual(['all', 'failed']);
});

test('content: the sample is drawn by trace id, and a larger one holds a smaller one', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 2n ** 56n - 1n }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (random, one, other) => {
        const traceId = parseTraceId(random.toString(16).padStart(32, '0'));
        if (traceId === undefined) throw new Error('no trace id');
        const item = scoredRun({ a: scored(1) }, run({ traceId }));
        const isKept = (rate: number): boolean => withoutContent(item, choice(rate)) === undefined;
        expect(isKept(Math.max(one, other)) || !isKept(Math.min(one, other))).toBe(true);
      },
    ),
  );
});

test('content: few runs are all kept, and of many as many a minute as the configuration names', () => {
  const clock = manualClock();
  const room = { takes: contentAllowance(clock), isCalm: () => true };
  const passed = scoredRun({ a: scored(1) });
  const kept = (runs: number, perMinute = 20): number =>
    Array.from({ length: runs }, () => chosen(passed, { content: 'failed_and_sampled', sampleRate: 0, perMinute }, room)).filter(
      (without) => without === undefined,
    ).length;
  expect([kept(60), kept(100)]).toEqual([60, 40]);
  clock.advance(30_000);
  expect([kept(100), kept(100, 0)]).toEqual([10, 0]);
  clock.advance(24 * 3_600_000);
  expect(kept(1_000)).toBe(100);
});

test('content: a flood of one tenant leaves others their share of the further runs, at once and in each minute', () => {
  const clock = manualClock();
  const takes = contentAllowance(clock);
  const kept = (name: string, runs: number): number => Array.from({ length: runs }, () => takes(20, tenant(name))).filter(Boolean).length;
  const ofFlood: number[] = [];
  for (let minute = 0; minute < 60; minute++) {
    ofFlood.push(kept('flood', 1_000));
    expect(kept('small', 5)).toBe(5);
    clock.advance(60_000);
  }
  expect([ofFlood[0], Math.max(...ofFlood.slice(1)), ofFlood.at(-1)]).toEqual([100, 15, 15]);
  expect([kept('late', 100), kept('later', 100)]).toEqual([34, 25]);
});
