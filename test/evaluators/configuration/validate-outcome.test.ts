/** Outcomes made of any value that an evaluator returns. */
import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { validateOutcome } from '../../../evaluators/configuration/validate-outcome.ts';
import type { Outcome } from '../../../src/model/verdict.ts';
import { agentTrace } from '../../../src/library/agent-trace.ts';

const part = { index: 0, tool: 'a', score: 1, passed: true, explanation: '' };
const ring: { readonly list: unknown[] } = { list: [] };
ring.list.push(ring);

const scored = { kind: 'scored', score: 1, explanation: 'So.', evidence: [], details: {} };

const sound: readonly { readonly name: string; readonly outcome: object }[] = [
  { name: 'a score', outcome: scored },
  { name: 'the lowest score, with a label', outcome: { ...scored, score: 0, label: 'none' } },
  {
    name: 'parts and details',
    outcome: { ...scored, parts: [part, { ...part, callId: 'c', spanId: '0123456789abcdef' }], details: { a: [null, 1n, { b: 'x' }] } },
  },
  { name: 'a reason', outcome: { kind: 'skipped', reason: 'no_input', explanation: '' } },
  { name: 'an error', outcome: { kind: 'failed', error: 'x', explanation: '' } },
];
for (const { name, outcome } of sound) test(`sound_outcome: ${name} stays unchanged`, () => expect(validateOutcome(outcome)).toBe(outcome));

const unsound: readonly { readonly name: string; readonly returned: unknown; readonly error: string }[] = [
  { name: 'a score beyond 1', returned: { ...scored, score: 1.01 }, error: 'score_out_of_range' },
  { name: 'a score below 0', returned: { ...scored, score: -0.01 }, error: 'score_out_of_range' },
  { name: 'a detail that is not finite', returned: { ...scored, details: { a: [Infinity] } }, error: 'outcome_invalid' },
  { name: 'no number', returned: { ...scored, score: NaN }, error: 'score_out_of_range' },
  { name: 'a score as text', returned: { ...scored, score: '1' }, error: 'score_out_of_range' },
  { name: 'no score', returned: { ...scored, score: undefined }, error: 'score_out_of_range' },
  { name: 'no explanation', returned: { ...scored, explanation: undefined }, error: 'outcome_invalid' },
  { name: 'evidence that is not a list', returned: { ...scored, evidence: 'x' }, error: 'outcome_invalid' },
  { name: 'evidence that is not a text', returned: { ...scored, evidence: [1] }, error: 'outcome_invalid' },
  { name: 'parts that are not a list', returned: { ...scored, parts: {} }, error: 'outcome_invalid' },
  { name: 'a part without a tool', returned: { ...scored, parts: [{ ...part, tool: undefined }] }, error: 'outcome_invalid' },
  { name: 'a part with a score beyond 1', returned: { ...scored, parts: [part, { ...part, score: 2 }] }, error: 'outcome_invalid' },
  { name: 'a part that is null', returned: { ...scored, parts: [null] }, error: 'outcome_invalid' },
  {
    name: 'an unknown reason',
    returned: { kind: 'skipped', reason: 'order 4711 is strange', explanation: '' },
    error: 'outcome_invalid',
  },
  {
    name: 'a reason that every object has',
    returned: { kind: 'skipped', reason: 'constructor', explanation: '' },
    error: 'outcome_invalid',
  },
  { name: 'details that are a ring', returned: { ...scored, details: ring }, error: 'outcome_invalid' },
  {
    name: 'details with a function',
    returned: { kind: 'failed', error: 'x', explanation: '', details: { a: () => 1 } },
    error: 'outcome_invalid',
  },
  { name: 'no details', returned: { ...scored, details: undefined }, error: 'outcome_invalid' },
  { name: 'a label that is not a text', returned: { ...scored, label: 1 }, error: 'outcome_invalid' },
  { name: 'a skip without a reason', returned: { kind: 'skipped', explanation: '' }, error: 'outcome_invalid' },
  { name: 'an unknown kind', returned: { ...scored, kind: 'passed' }, error: 'outcome_invalid' },
  { name: 'true', returned: true, error: 'outcome_invalid' },
  { name: 'nothing', returned: undefined, error: 'outcome_invalid' },
  { name: 'null', returned: null, error: 'outcome_invalid' },
  { name: 'a promise', returned: Promise.resolve(scored), error: 'outcome_invalid' },
];
for (const { name, returned, error } of unsound)
  test(`sound_outcome: ${name} is a failed outcome, never a score`, () =>
    expect(validateOutcome(returned)).toMatchObject({ kind: 'failed', error }));

test('sound_outcome: a promise that is rejected is a failed outcome, and its rejection goes no further', async () => {
  expect(validateOutcome(Promise.reject(new Error('x')))).toMatchObject({ kind: 'failed', error: 'outcome_invalid' });
  await Promise.resolve();
});

test('sound_outcome: a rule and a judge that return nonsense have failed', () => {
  const data = {
    id: 'own',
    version: 1,
    summary: '',
    needs: [],
    onByDefault: false,
    defaultThreshold: 1,
    defaults: {},
    optionsSchema: { type: 'object' },
    source: '',
  } as const;
  const nonsense = { ...scored, score: 7 } as Outcome;
  const table: readonly AnyEvaluator[] = [
    { ...data, kind: 'rule', evaluate: () => nonsense },
    {
      ...data,
      kind: 'judge',
      id: 'own_judge',
      *evaluate() {
        return nonsense;
      },
    },
  ];
  for (const { id } of table) {
    const made = configuredEvaluator({ use: id }, table);
    if (made.kind !== 'ready') throw new Error('not ready');
    const [trace, context] = [agentTrace({}), evaluationContext()];
    const verdict =
      made.evaluator.kind === 'rule' ? made.evaluator.evaluate(trace, {}, context) : made.evaluator.judge(trace, {}, context).next().value;
    expect(verdict).toMatchObject({ kind: 'failed', error: 'score_out_of_range' });
  }
});
