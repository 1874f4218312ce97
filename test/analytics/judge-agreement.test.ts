/** Agreement of evaluators and people on the same runs. */
import { expect, test } from 'vitest';
import { agreementOf } from '../../src/analytics/judge-agreement.ts';
import { labelMeanings, passedOf } from '../../src/analytics/corrected-rate.ts';
import type { AnnotatedRun, StoredAnnotation } from '../../src/model/store/annotation-store.ts';
import { noTenant } from '../../src/model/ids.ts';
import { spanId } from '../builders/agent-trace.ts';
import { traceId } from '../builders/spans.ts';

type Verdict = NonNullable<AnnotatedRun['verdict']>;

function said(
  run: number,
  by: string,
  own: Partial<StoredAnnotation>,
  verdict: Partial<Verdict> | null = { word: 'pass' },
  name = 'relevance',
): AnnotatedRun {
  const word = verdict?.word ?? 'pass';
  return {
    tenant: noTenant,
    traceId: traceId(run),
    spanId: spanId(1),
    annotation: { name, by, kind: 'human', label: undefined, score: undefined, passed: undefined, explanation: '', at: 0, ...own },
    verdict:
      verdict === null
        ? undefined
        : {
            evaluator: name,
            kind: 'judge',
            version: 1,
            model: 'gpt',
            word,
            label: word === 'pass' ? 'relevant' : 'irrelevant',
            sampleProbability: 1,
            ...verdict,
          },
  };
}

const pass = { passed: true };
const fail = { passed: false };

test('agreement: verdicts and words are counted by whether they pass or fail, and failures are what is looked for', () => {
  const rows = [
    said(1, 'ann', pass),
    said(2, 'ann', pass),
    said(3, 'ann', fail),
    said(4, 'ann', fail, { word: 'fail' }),
    said(5, 'ann', fail, { word: 'fail' }),
    said(6, 'ann', pass, { word: 'fail' }),
    said(7, 'ann', pass, { word: 'error' }),
    said(8, 'ann', pass, null),
  ];
  const [judge, ...others] = agreementOf(rows).judges;
  expect(others).toEqual([]);
  expect(judge).toMatchObject({
    name: 'relevance',
    model: 'gpt',
    version: 1,
    runs: 6,
    confusion: { truePositive: 2, falsePositive: 1, falseNegative: 1, trueNegative: 2 },
  });
  // People or rules chose these runs, so the counts say nothing of others.
  expect([judge?.drawn, judge?.chosen]).toEqual([0, judge?.confusion]);
  expect([...Object.values(judge?.rates ?? {}), judge?.kappa]).toMatchObject(
    Array.from({ length: 5 }, () => ({ reason: 'no_drawn_labels' })),
  );
});

test('agreement: only runs that a queue drew at random have rates, each by its weight; chosen ones are counted', () => {
  const rows = [
    // Flagged runs: judged always, drawn with 0.1. Others: judged with 0.2, drawn with 0.5 and with 0.25.
    ...Array.from({ length: 20 }, (_, at) => drawn(at + 1, 0.1, fail, { word: at < 15 ? 'fail' : 'pass' })),
    ...Array.from({ length: 20 }, (_, at) =>
      drawn(at + 21, 0.5, at < 10 ? fail : pass, { word: at % 2 === 0 ? 'fail' : 'pass', sampleProbability: 0.2 }),
    ),
    ...Array.from({ length: 20 }, (_, at) => drawn(at + 41, 0.25, pass, { word: at < 4 ? 'fail' : 'pass', sampleProbability: 0.2 })),
    ...Array.from({ length: 90 }, (_, at) => said(at + 61, 'ann', fail, { word: 'fail' })),
  ];
  const [judge] = agreementOf(rows).judges;
  expect(judge).toMatchObject({
    runs: 150,
    drawn: 60,
    chosen: { truePositive: 90, falsePositive: 0, falseNegative: 0, trueNegative: 0 },
    rates: {
      // Weights 10, 10 and 20.
      recall: { point: expect.closeTo((15 * 10 + 5 * 10) / (30 * 10), 10), n: 30 },
      precision: { point: expect.closeTo((15 * 10 + 5 * 10) / (15 * 10 + 10 * 10 + 4 * 20), 10), n: 29 },
      specificity: { point: expect.closeTo((5 * 10 + 16 * 20) / (10 * 10 + 20 * 20), 10), n: 30 },
      accuracy: { point: expect.closeTo((15 * 10 + 10 * 10 + 16 * 20) / (40 * 10 + 20 * 20), 10), n: 60 },
    },
    // People fail 300 of 800, the judge 330: by chance they agree on 0.375 · 0.4125 + 0.625 · 0.5875.
    kappa: { point: expect.closeTo((0.7125 - 0.521_875) / (1 - 0.521_875), 10) },
  });
});

test('agreement: where a run was drawn, labels that others gave it by choice have no part in the figure', () => {
  const rows = Array.from({ length: 40 }, (_, at) => [
    drawn(at + 1, 0.5, at < 20 ? fail : pass, { word: at < 20 ? 'fail' : 'pass' }),
    ...(at < 10 ? [said(at + 1, 'bob', pass, { word: 'fail' }), said(at + 1, 'cid', pass, { word: 'fail' })] : []),
  ]).flat();
  expect(agreementOf(rows).judges).toMatchObject([{ runs: 40, drawn: 40, rates: { recall: { point: 1, n: 20 }, accuracy: { point: 1 } } }]);
});

test('agreement: too few drawn labels name the number that is needed', () => {
  const rows = Array.from({ length: 40 }, (_, at) => drawn(at + 1, 0.5, at < 4 ? fail : pass, { word: 'pass' }));
  expect(agreementOf(rows).judges).toMatchObject([
    {
      rates: {
        recall: { reason: 'too_few_drawn_labels', explanation: expect.stringMatching(/About 60 more are needed\.$/) },
        precision: { reason: 'too_few_drawn_labels', explanation: expect.stringMatching(/At least 10 of this kind are needed\.$/) },
        specificity: { kind: 'estimated', point: 1 },
      },
      kappa: { reason: 'too_few_drawn_labels' },
    },
  ]);
});

/** A label of a run that a queue drew with this probability. */
function drawn(run: number, probability: number, own: Partial<StoredAnnotation>, verdict: Partial<Verdict>): AnnotatedRun {
  return said(run, 'ann', { ...own, probability }, verdict);
}

test('agreement: single tool calls are compared by themselves, by either id of a call', () => {
  const on = (row: AnnotatedRun, toolCall: string, part?: number): AnnotatedRun => ({
    ...row,
    annotation: { ...row.annotation, toolCall },
    ...(part === undefined ? {} : { part }),
  });
  const rows = [
    said(1, 'ann', pass),
    on(said(1, 'ann', fail, { word: 'fail' }), 'span', 0),
    on(said(1, 'bob', fail, { word: 'fail' }), 'call_a', 0),
    on(said(1, 'ann', pass), 'other', 1),
    on(said(1, 'ann', fail, null), 'unknown'),
  ];
  const { judges, people } = agreementOf(rows);
  expect(judges.map(({ about, runs, confusion: { truePositive, trueNegative } }) => [about, runs, truePositive, trueNegative])).toEqual([
    ['run', 1, 0, 1],
    ['tool_call', 2, 1, 1],
  ]);
  expect(
    people.map(({ about, people: count, runs, agreement }) => [about, count, runs, agreement.pairs.map(({ items }) => items)]),
  ).toEqual([
    ['run', 1, 1, []],
    ['tool_call', 2, 3, [1]],
  ]);
});

test('agreement: each version, and each model, counts for itself', () => {
  const rows = [
    said(1, 'ann', pass),
    said(2, 'ann', fail, { version: 2 }),
    said(3, 'ann', fail, { model: 'other' }),
    said(4, 'ann', fail, { model: undefined }),
    said(5, 'ann', pass, {}, 'tone'),
  ];
  expect(agreementOf(rows).judges.map(({ name, version, model, runs }) => [name, version, model, runs])).toEqual([
    ['relevance', 1, undefined, 1],
    ['relevance', 1, 'gpt', 1],
    ['relevance', 1, 'other', 1],
    ['relevance', 2, 'gpt', 1],
    ['tone', 1, 'gpt', 1],
  ]);
});

test('agreement: the majority of several people counts, and a split counts for none', () => {
  const rows = [
    said(1, 'ann', fail),
    said(1, 'bob', fail),
    said(1, 'cid', pass),
    said(2, 'ann', fail),
    said(2, 'bob', pass),
    said(3, 'ann', pass),
  ];
  const { judges, people } = agreementOf(rows);
  expect(judges).toMatchObject([{ runs: 2, confusion: { falseNegative: 1, trueNegative: 1 } }]);
  expect(people).toMatchObject([
    {
      name: 'relevance',
      people: 3,
      runs: 3,
      disputed: 1,
      unreadable: 0,
      agreement: {
        pairs: [
          { people: ['ann', 'bob'], items: 2 },
          { people: ['ann', 'cid'], items: 1 },
          { people: ['bob', 'cid'], items: 1 },
        ],
      },
    },
  ]);
});

const words: readonly (readonly [string, Partial<StoredAnnotation>, boolean | undefined])[] = [
  ['what is said outright', { passed: false, label: 'relevant', score: 1 }, false],
  ['pass', { label: 'Pass' }, true],
  ['a label that the evaluator passes', { label: 'Relevant' }, true],
  ['a label that it fails', { label: 'irrelevant', score: 1 }, false],
  ['a label that it sometimes passes', { label: 'partly' }, undefined],
  ['an unknown label, with a score', { label: 'fine', score: 0.5 }, true],
  ['a score below a half', { score: 0.49 }, false],
];
const meanings = labelMeanings([
  { word: 'pass', label: 'relevant' },
  { word: 'fail', label: 'irrelevant' },
  { word: 'pass', label: 'partly' },
  { word: 'fail', label: 'partly' },
  { word: 'pass', label: 'partly' },
  { word: 'error', label: 'fine' },
]);
for (const [name, given, want] of words)
  test(`agreement: ${name} means ${String(want)}`, () =>
    expect(passedOf({ passed: undefined, label: undefined, score: undefined, ...given }, meanings)).toBe(want));

test('agreement: a label that means nothing is counted', () => {
  expect(agreementOf([said(1, 'ann', { label: 'blue' })])).toMatchObject({
    judges: [],
    people: [{ people: 0, runs: 0, unreadable: 1, agreement: { pairs: [], mean: { kind: 'not_estimable' } } }],
  });
});
