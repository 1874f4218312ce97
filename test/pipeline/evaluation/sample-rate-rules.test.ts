/** The share of runs that an evaluator asks about, once the rules have looked at them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { configuredEvaluator, type ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { parseTraceId, type TraceId } from '../../../src/model/ids.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { evaluateRun, type PlannedEvaluator } from '../../../src/pipeline/evaluation/evaluate.ts';
import type { Sign } from '../../../src/pipeline/evaluation/run-expression.ts';
import { factsOf } from '../../../src/pipeline/evaluation/run-facts.ts';
import { raisedRate, type Raise } from '../../../src/pipeline/evaluation/sampling.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';
import { failed, run, scored, skipped } from '../../builders/scored-run.ts';

function raise(sign: Sign, value: number, to = 1, evaluator = 'tool_error'): Raise {
  return { when: { kind: 'number', place: { part: 'score', evaluator }, sign, value }, to };
}

const cases: readonly { readonly name: string; readonly raise: readonly Raise[]; readonly verdict?: Verdict; readonly want: number }[] = [
  { name: 'nothing is raised without a rule', raise: [], verdict: scored(0), want: 0.1 },
  { name: 'below, and it is', raise: [raise('<', 1)], verdict: scored(0.99), want: 1 },
  { name: 'below, and it is exactly there', raise: [raise('<', 1)], verdict: scored(1), want: 0.1 },
  { name: 'at most, and it is exactly there', raise: [raise('<=', 0.5)], verdict: scored(0.5), want: 1 },
  { name: 'above, and it is exactly there', raise: [raise('>', 0.5)], verdict: scored(0.5), want: 0.1 },
  { name: 'at least, and it is exactly there', raise: [raise('>=', 0.5)], verdict: scored(0.5), want: 1 },
  { name: 'equal', raise: [raise('=', 0)], verdict: scored(0), want: 1 },
  {
    name: 'the highest that applies counts',
    raise: [raise('<', 1, 0.3), raise('<', 0.5, 0.7), raise('<', 0.1, 1)],
    verdict: scored(0.4),
    want: 0.7,
  },
  { name: 'a rate is never lowered', raise: [raise('<', 1, 0.01)], verdict: scored(0), want: 0.1 },
  { name: 'a skipped verdict has no score', raise: [raise('<=', 1)], verdict: skipped, want: 0.1 },
  { name: 'a failed verdict has no score', raise: [raise('<=', 1)], verdict: failed(), want: 0.1 },
  { name: 'no verdict, for the rule does not look at such runs', raise: [raise('<=', 1)], want: 0.1 },
  { name: 'a verdict of another rule', raise: [raise('<', 1, 1, 'tool_call_validity')], verdict: scored(0), want: 0.1 },
];

for (const { name, raise: rules, verdict, want } of cases) {
  test(`raising: ${name}`, () => {
    const facts = () => factsOf(run(), new Map(verdict === undefined ? [] : [['tool_error', verdict]]));
    expect(raisedRate(0.1, rules, facts)).toBe(want);
  });
}

function ready(use: string): ConfiguredEvaluator {
  const made = configuredEvaluator({ use }, evaluators);
  if (made.kind === 'faulty') throw new Error(use);
  return made.evaluator;
}

/** The one that asks stands first: what the rules find counts all the same. */
function plan(sampleRate: number, rules: readonly Raise[]): readonly PlannedEvaluator[] {
  return [
    { configured: ready('task_completion'), sampleRate, raise: rules, judge: 'main' },
    { configured: ready('tool_error'), sampleRate: 1 },
  ];
}

function ended(
  of: Run,
  planned: readonly PlannedEvaluator[],
): { readonly probability: number | undefined; readonly decisions: readonly string[] } {
  const { decisions, toJudge } = evaluateRun(of, planned, { context: evaluationContext(), clock: manualClock(0), telemetry: noTelemetry });
  return { probability: toJudge[0]?.probability, decisions: decisions.map(({ name, decision }) => `${name} ${decision}`) };
}

function traceId(tail: string): TraceId {
  const id = parseTraceId(`4bf92f3577b34da6a3${tail}`);
  if (id === undefined) throw new Error('not a trace id');
  return id;
}

const broken = agentTrace({ toolCalls: [call({ error: { message: 'no', sign: 'is_error' } })] });
const fine = agentTrace({ toolCalls: [call({ result: 1 })] });

test('raising: a run with an error is asked about with the raised probability, one without it is sampled', () => {
  const planned = plan(0.01, [raise('<', 1, 1)]);
  expect(ended(run({ trace: broken }), planned)).toEqual({ probability: 1, decisions: ['tool_error scored'] });
  expect(ended(run({ trace: fine, traceId: traceId('00000000000000') }), planned)).toEqual({
    probability: undefined,
    decisions: ['task_completion sampled_out', 'tool_error scored'],
  });
});

test('raising: a raised run has the ratio of its probability to the least one, under any budget and upstream sampler', () => {
  const ends = (of: Run, planned: readonly PlannedEvaluator[], left = 1) =>
    evaluateRun(of, planned, {
      context: evaluationContext(),
      clock: manualClock(0),
      telemetry: noTelemetry,
      pace: () => ({ left, by: '' }),
    }).toJudge[0];
  const last = { traceId: traceId('ffffffffffffff') };
  const planned = plan(0.1, [raise('<', 1, 0.5)]);
  expect(ends(run({ trace: broken, ...last }), planned)).toMatchObject({ probability: 0.5, raisedBy: 5 });
  expect(ends(run({ trace: broken, ...last, traceState: 'ot=th:8' }), planned, 0.5)).toMatchObject({ probability: 0.125, raisedBy: 5 });
  expect(ends(run({ trace: fine, ...last }), planned)).not.toHaveProperty('raisedBy');
  // No run has less than the raised rate when only such runs are asked about.
  expect(ends(run({ trace: broken, ...last }), plan(0, [raise('<', 1, 0.5)]))).not.toHaveProperty('raisedBy');
});

test('raising: what an upstream sampler let through is a part of the probability', () => {
  expect(
    ended(run({ trace: broken, traceId: traceId('ffffffffffffff'), traceState: 'ot=th:8' }), plan(0.01, [raise('<', 1, 0.5)])).probability,
  ).toBe(0.25);
});

const tail = fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: 14, maxLength: 14 }).map((all) => all.join(''));
const share = fc.double({ min: 0, max: 1, noNaN: true });

test('raising: a run in the sample of the own rate is in that of the raised one, with the probability of the rate in force', () => {
  fc.assert(
    fc.property(tail, share, share, fc.boolean(), (digits, rate, to, isBroken) => {
      const of = run({ trace: isBroken ? broken : fine, traceId: traceId(digits) });
      const [plain, raised] = [ended(of, plan(rate, [])), ended(of, plan(rate, [raise('<', 1, to)]))];
      const inForce = isBroken ? Math.max(rate, to) : rate;
      expect(plain.probability === undefined || raised.probability !== undefined).toBe(true);
      if (raised.probability !== undefined) expect(raised.probability).toBe(inForce);
      if (!isBroken) expect(raised).toEqual(plain);
    }),
  );
});

test('raising: of evenly spread traces the raised share is asked about', () => {
  const traces = 1024;
  const asked = (of: Run['trace']): number =>
    Array.from(
      { length: traces },
      (_, at) =>
        ended(
          run({ trace: of, traceId: traceId(`${(at * 4).toString(16).padStart(3, '0')}80000000000`) }),
          plan(0.125, [raise('<', 1, 0.5)]),
        ).probability,
    ).filter((one) => one !== undefined).length;
  expect([asked(fine) / traces, asked(broken) / traces]).toEqual([0.125, 0.5]);
});

test('raising: the budget of the judge sinks the rate in force, raised or not, and at nothing the pair ends as over budget', () => {
  const planned = plan(0.2, [raise('<', 1, 1)]);
  const paced = (of: Run, left: number) =>
    evaluateRun(of, planned, {
      context: evaluationContext(),
      clock: manualClock(0),
      telemetry: noTelemetry,
      pace: ({ judge }) => ({ left: judge === 'main' ? left : 1, by: 'usd_per_day' }),
    });
  const last = traceId('ffffffffffffff');
  expect(paced(run({ trace: broken, traceId: last }), 0.5).toJudge[0]?.probability).toBe(0.5);
  expect(paced(run({ trace: fine, traceId: last }), 0.5).toJudge[0]?.probability).toBe(0.1);
  expect(paced(run({ trace: fine, traceId: traceId('00000000000000') }), 0.5).decisions[0]?.decision).toBe('sampled_out');
  expect(paced(run({ trace: broken, traceId: last }), 0).decisions[0]).toMatchObject({ decision: 'over_budget', reason: 'usd_per_day' });
  expect(
    evaluateRun(run({ trace: fine, traceId: last }), plan(0, []), {
      context: evaluationContext(),
      clock: manualClock(0),
      telemetry: noTelemetry,
      pace: () => ({ left: 0, by: 'usd_per_day' }),
    }).decisions[0]?.decision,
  ).toBe('sampled_out');
});
