import { describe, expect, test } from 'vitest';
import { differenceText } from '../../../src/cli/replay/report.ts';
import { replayResults } from '../../../src/cli/replay/results.ts';
import type { After } from '../../../src/cli/replay/rescoring.ts';
import { replayTally, type Before, type ReplayTallyData } from '../../../src/cli/replay/tally.ts';
import type { ReplayedVerdict } from '../../../src/model/store/replay-store.ts';
import { storedVerdict } from '../../../src/stores/row-mapping.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { evaluation, failed, run, scored, skipped } from '../../builders/scored-run.ts';

type Word = 'pass' | 'fail' | 'raw' | 'skipped' | 'error';

function verdict(word: Word, members: Partial<ReplayedVerdict> = {}): ReplayedVerdict {
  const of = {
    pass: scored(1),
    fail: scored(0),
    raw: scored(0.5, { threshold: null, passed: null, label: '' }),
    skipped,
    error: failed(),
  }[word];
  return { ...storedVerdict(evaluation('e', of)), kind: 'rule', optionsHash: 'o', ...members };
}

const said = (word: Word, probability = 1, members: Partial<ReplayedVerdict> = {}): After => ({
  kind: 'verdict',
  verdict: verdict(word, members),
  probability,
  isStored: false,
});

function tallyOf(
  pairs: readonly { readonly before?: Word; readonly after?: After; readonly probability?: number; readonly session?: string }[],
  from?: ReplayTallyData,
) {
  const tally = replayTally(from === undefined ? {} : { from });
  for (const [at, { before, after, probability = 1, session }] of pairs.entries()) {
    const own: readonly (readonly [string, Before])[] =
      before === undefined ? [] : [['e', { verdict: verdict(before, { sampleProbability: probability }), probability }]];
    const key = { ...run({ spanId: spanId(at + 1) }), agent: 'a', sessionId: session };
    tally.add({ key, before: new Map(own), after: new Map(after === undefined ? [] : [['e', after]]) });
  }
  return tally.data();
}

test.each([
  { before: 'pass', after: said('pass'), word: 'same' },
  { before: 'pass', after: said('pass', 1, { explanation: 'Other words.' }), word: 'changed' },
  { before: 'pass', after: said('pass', 1, { version: 2, optionsHash: 'p' }), word: 'same' },
  { before: 'pass', after: said('fail'), word: 'to_fail' },
  { before: 'fail', after: said('pass'), word: 'to_pass' },
  { before: 'raw', after: said('pass'), word: 'measure_changed' },
  { before: 'raw', after: said('raw', 1, { score: 0.7 }), word: 'changed' },
  { before: undefined, after: said('fail'), word: 'newly_scored' },
  { before: 'skipped', after: said('raw'), word: 'newly_scored' },
  { before: 'error', after: said('pass'), word: 'newly_scored' },
  { before: 'pass', after: said('skipped'), word: 'no_longer_scored' },
  { before: 'pass', after: said('error'), word: 'no_longer_scored' },
  { before: 'pass', after: { kind: 'none', reason: 'when' }, word: 'no_longer_scored' },
  { before: 'pass', after: undefined, word: 'no_longer_scored' },
  { before: 'pass', after: { kind: 'not_asked', reason: 'no_cached_answer' }, word: 'not_asked' },
  { before: undefined, after: { kind: 'none', reason: 'sampled_out' }, word: 'unscored' },
  { before: 'skipped', after: said('error'), word: 'unscored' },
] as const)('replay tally: $before and then $after.kind $after.verdict.verdict is $word', ({ before, after, word }) => {
  const [one] = tallyOf([{ ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }]).evaluators;
  expect(Object.entries(one?.changes ?? {}).filter(([, count]) => count > 0)).toEqual([[word, 1]]);
});

describe('replay tally: its size', () => {
  const flips = (count: number) =>
    tallyOf(Array.from({ length: count }, (_, at) => ({ before: 'pass' as const, after: said('fail'), session: `s${at}` })));

  test('does not grow with the runs, and the first examples stay', () => {
    const [some, many] = [JSON.stringify(flips(2_000)), JSON.stringify(flips(20_000))];
    expect(many.length).toBeLessThan(some.length * 1.1);
    expect(flips(100).evaluators[0]?.examples.to_fail).toHaveLength(3);
  });

  test('does not grow with names and reasons without end', () => {
    const tally = replayTally();
    for (let at = 0; at < 1_000; at++) {
      const after = new Map<string, After>([
        [`e${at}`, said('pass')],
        ['e', { kind: 'not_asked', reason: `judge_${at}: so` }],
      ]);
      tally.add({ key: { ...run(), agent: undefined, sessionId: undefined }, before: new Map(), after });
      tally.gone(run(), 'expired');
    }
    const { evaluators, uncounted, gone } = tally.data();
    expect([evaluators.length, uncounted]).toEqual([500, 501]);
    expect(Object.keys(evaluators.find(({ name }) => name === 'e')?.notAsked ?? {}).length).toBeLessThanOrEqual(51);
    expect(gone['expired']).toEqual({ runs: 1_000, named: Array.from({ length: 3 }, () => `${run().traceId}/${run().spanId}`) });
  });
});

test('replay tally: what was stored as JSON goes on as if it had never been', () => {
  const pairs = Array.from({ length: 60 }, (_, at) => ({
    before: at % 3 === 0 ? ('fail' as const) : ('pass' as const),
    after: said(at % 4 === 0 ? 'fail' : 'pass', at % 2 === 0 ? 1 : 0.5),
    probability: at % 5 === 0 ? 0.2 : 1,
  }));
  const first = JSON.parse(JSON.stringify(tallyOf(pairs.slice(0, 25)))) as ReplayTallyData;
  const [continued, whole] = [replayResults(tallyOf(pairs.slice(25), first)), replayResults(tallyOf(pairs))];
  const figures = ({ evaluators, looked }: typeof whole) => [
    looked,
    evaluators.map(({ changes, p, word, before, after }) => ({ changes, word, p: p.toFixed(9), runs: [before?.runs, after?.runs] })),
  ];
  expect(figures(continued)).toEqual(figures(whole));
});

test('replay results: a judged rate counts each run by the probability of its choice', () => {
  // Every tenth of the runs that passed was asked about, and all that failed.
  const pairs = [
    ...Array.from({ length: 30 }, () => ({ before: 'pass' as const, after: said('pass', 0.1), probability: 0.1 })),
    ...Array.from({ length: 30 }, () => ({ before: 'fail' as const, after: said('fail', 1), probability: 1 })),
  ];
  const [one] = replayResults(tallyOf(pairs)).evaluators;
  expect(one?.before?.rate).toMatchObject({ kind: 'estimated', point: expect.closeTo(300 / 330, 9) });
  expect(one?.paired?.difference).toMatchObject({ point: 0 });
});

test('replay results: runs that all became worse are worse, also where they show no rate of the others', () => {
  const tally = replayTally();
  for (let at = 0; at < 44; at++) {
    const raised = at < 40 ? { raisedBy: 50 } : { sampleProbability: 0.02 };
    const probability = at < 40 ? 1 : 0.02;
    tally.add({
      key: { ...run({ spanId: spanId(at + 1) }), agent: undefined, sessionId: undefined },
      before: new Map([['e', { verdict: verdict('pass', raised), probability }]]),
      after: new Map([['e', said('fail', probability, raised)]]),
    });
  }
  const { evaluators, isWorse } = replayResults(tally.data());
  expect(isWorse).toBe(true);
  expect(evaluators[0]).toMatchObject({ word: 'worse', paired: { difference: { kind: 'not_estimable' } } });
  const [one] = evaluators;
  if (one !== undefined) expect(differenceText(one)).toMatch(/44 of these runs became worse and 0 better: /);
});

test('replay results: several evaluators share the level, and a new one takes no part of it', () => {
  const tally = replayTally();
  for (let at = 0; at < 6; at++) {
    const flipping = new Map<string, Before>(['a', 'b', 'c'].map((name) => [name, { verdict: verdict('pass', { name }), probability: 1 }]));
    const after = new Map<string, After>([
      ...['a', 'b', 'c'].map((name) => [name, said(name === 'a' ? 'fail' : 'pass', 1, { name })] as const),
      ['new', said('fail')],
    ]);
    tally.add({ key: { ...run({ spanId: spanId(at + 1) }), agent: undefined, sessionId: undefined }, before: flipping, after });
  }
  const { evaluators, isWorse } = replayResults(tally.data());
  // Six flips one way: 2 · 0.5⁶, times three tests.
  expect(evaluators.map(({ name, p, word }) => [name, Number(p.toFixed(6)), word])).toEqual([
    ['a', 0.09375, 'no_difference_shown'],
    ['b', 1, 'no_difference_shown'],
    ['c', 1, 'no_difference_shown'],
    ['new', 1, 'not_tested'],
  ]);
  expect(isWorse).toBe(false);
});
