import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunRow } from '../../../src/model/store/store.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { parseRunExpression, type RunExpression } from '../../../src/pipeline/evaluation/run-expression.ts';
import { confidenceOf, factsOf, factsOfRow, holds, truthOf, type RunFacts } from '../../../src/pipeline/evaluation/run-facts.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';
import { failed, run, scored, skipped } from '../../builders/scored-run.ts';

function expression(text: string): RunExpression {
  const result = parseRunExpression(text);
  if (result.kind === 'faulty') throw new Error(text);
  return result.expression;
}

const sure = (confidence: number, score = 1): Verdict => scored(score, { details: { confidence } });

const verdicts = new Map<string, Verdict>([
  ['tool_error', scored(0.5, { passed: false, label: 'fail' })],
  ['goal', sure(0.5)],
  ['tone', sure(0.9)],
  ['plan', scored(1, { label: 'fine' })],
  ['none', { ...skipped, details: { confidence: 0.1 } }],
  ['broken', failed()],
]);
const of = run({
  service: 'desk',
  serviceVersion: '2',
  resourceAttributes: { 'deployment.environment.name': 'prod', replicas: 3 },
  trace: agentTrace({ agent: 'support', toolCalls: [call({ name: 'find' }), call({ name: 'refund' })] }),
});
const facts = factsOf(of, verdicts);

const cases: readonly (readonly [text: string, want: boolean | undefined])[] = [
  ['tool_error < 1', true],
  ['tool_error < 0.5', false],
  ['tool_error <= 0.5', true],
  ['tool_error != 0.5', false],
  ['tool_error.verdict = fail', true],
  ['none.verdict = skipped', true],
  ['broken.verdict = error', true],
  ['plan.label = fine', true],
  // Nothing was scored: neither above nor below.
  ['none < 1', undefined],
  ['none >= 0', undefined],
  ['broken <= 1', undefined],
  ['absent < 1', undefined],
  ['absent.verdict = fail', undefined],
  ['none.label = skipped', undefined],
  ['goal.confidence < 0.6', true],
  ['goal.confidence >= 0.6', false],
  // Unknown is never below a limit, nor above it.
  ['plan.confidence < 0.6', undefined],
  ['plan.confidence >= 0.6', undefined],
  ['not plan.confidence < 0.6', undefined],
  ['none.confidence < 0.6', undefined],
  ['judge.confidence < 0.6', true],
  ['judge.confidence < 0.5', false],
  ['agent = support', true],
  ['agent != support', false],
  ['agent = Support', false],
  ['version = 2', true],
  ['input = x', undefined],
  ['input != x', undefined],
  ['tool = refund', true],
  ['tool != refund', false],
  ['tool != cancel', true],
  ['attributes.deployment.environment.name = prod', true],
  ['attributes.replicas = 3', true],
  ['attributes.region = eu', undefined],
  ['agent = support and (tool_error < 1 or goal.confidence < 0.1)', true],
  ['agent = other or plan.confidence < 0.6', undefined],
  ['agent = other and plan.confidence < 0.6', false],
  ['agent = support or plan.confidence < 0.6', true],
  ['agent = support and plan.confidence < 0.6', undefined],
];

for (const [text, want] of cases)
  test(`facts: ${text} is ${want ?? 'not known'}`, () => {
    expect(truthOf(expression(text), facts)).toBe(want);
    expect(holds(expression(text), facts)).toBe(want === true);
  });

test('facts: without any judge that gives a confidence the lowest one is not known', () => {
  const none = factsOf(of, new Map([['tool_error', scored(0)]]));
  expect(truthOf(expression('judge.confidence < 1'), none)).toBeUndefined();
});

test('facts: a confidence outside 0 to 1 is none', () => {
  for (const confidence of [-0.1, 1.5, '0.5', null]) expect(confidenceOf({ score: 1, details: { confidence } })).toBeUndefined();
});

test('facts: a stored run without its content knows its columns and its verdicts', () => {
  const row: RunRow = {
    tenant: noTenant,
    traceId: of.traceId,
    spanId: of.spanId,
    agent: 'support',
    service: 'desk',
    version: '2',
    sessionId: undefined,
    userId: undefined,
    environment: undefined,
    model: undefined,
    startedAt: 0,
    endedAt: 0,
    completeness: 'complete',
    status: 'ok',
    revision: 1,
    inputTokens: undefined,
    outputTokens: undefined,
    costUsd: undefined,
    excerpt: undefined,
    labels: [],
    partOf: undefined,
    verdicts: [
      {
        name: 'goal',
        evaluator: 'goal_reached',
        version: 1,
        revision: 1,
        verdict: 'fail',
        score: 0.2,
        label: 'fail',
        explanation: '',
        reason: undefined,
        evidence: [],
        details: { confidence: 0.4 },
        sampleProbability: 1,
      },
    ],
  };
  const stored = factsOfRow(row);
  for (const [text, want] of [
    ['agent = support and version = 2 and status = ok and attributes.service.name = desk', true],
    ['goal < 0.5 and goal.verdict = fail and judge.confidence < 0.6', true],
    ['model = x', undefined],
    ['tool = find', undefined],
    ['input = x', undefined],
    ['attributes.region = eu', undefined],
  ] as const)
    expect([text, truthOf(expression(text), stored)]).toEqual([text, want]);
});

/** Comparisons that are true, false and not known, joined in any way. */
const leaf = fc.constantFrom('tool_error < 1', 'tool_error > 0.9', 'plan.confidence < 0.6', 'agent = support', 'input = x').map(expression);
const { tree } = fc.letrec<{ tree: RunExpression }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaf,
    tie('tree').map((term): RunExpression => ({ kind: 'not', term })),
    fc
      .tuple(fc.constantFrom('and', 'or'), fc.array(tie('tree'), { minLength: 1, maxLength: 3 }))
      .map(([kind, terms]): RunExpression => ({ kind, terms })),
  ),
}));

test('facts: not (a and b) is (not a) or (not b), for values that are not known too', () => {
  fc.assert(
    fc.property(tree, tree, (one, other) => {
      const not = (term: RunExpression): RunExpression => ({ kind: 'not', term });
      expect(truthOf(not({ kind: 'and', terms: [one, other] }), facts)).toBe(truthOf({ kind: 'or', terms: [not(one), not(other)] }, facts));
    }),
  );
});

test('facts: what holds goes on to hold when more becomes known', () => {
  const later: RunFacts = {
    ...facts,
    verdicts: new Map([...facts.verdicts, ['plan', { verdict: 'pass', score: 1, label: 'fine', details: { confidence: 0.9 } }]]),
  };
  fc.assert(
    fc.property(tree, (one) => {
      const before = truthOf(one, facts);
      if (before !== undefined) expect(truthOf(one, later)).toBe(before);
    }),
  );
});
