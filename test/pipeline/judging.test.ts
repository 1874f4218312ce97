/** Questions that wait for judges outside: they go out with their run, and come back to be asked by the configuration that is in force then. */
import { expect, test } from 'vitest';
import { collectors } from '../../collectors/index.ts';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { NewJudgeJob } from '../../src/model/judge-work.ts';
import type { PlannedEvaluator } from '../../src/pipeline/evaluation/evaluate.ts';
import type { AskEnd } from '../../src/pipeline/jury/judge-driver.ts';
import type { Queued } from '../../src/pipeline/judging.ts';
import { pipeline } from '../../src/pipeline/pipeline.ts';
import { redaction } from '../../src/redaction/redaction.ts';
import { redactionRules } from '../../src/redaction/settings.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { run, scored } from '../builders/scored-run.ts';

function planned(tasks: string): PlannedEvaluator {
  const made = configuredEvaluator({ use: 'task_completion', name: 'asked', judge: 'main', expect: { tasks: [tasks] } }, evaluators);
  if (made.kind === 'faulty') throw new Error('faulty');
  return { configured: made.evaluator, sampleRate: 1, judge: 'main' };
}

const closing = { settleMs: 500, quietMs: 5_000, abandonMs: 60_000, lateMs: 3_600_000 };
const first = planned('greet');
const verdict = scored(1, { explanation: 'mail to a@example.com' });
const mask = redaction({ rules: redactionRules([{ match: 'email', replace: '[mail]' }]), onRedacted: () => undefined });

function host(plan: readonly PlannedEvaluator[], queued?: Queued) {
  const clock = manualClock(0);
  const delivered: ScoredRun[] = [];
  const asked: { readonly input: string | undefined; readonly probability: number; readonly end: (end: AskEnd) => void }[] = [];
  const flow = pipeline({
    closing,
    plan,
    redaction: mask,
    collectors,
    context: evaluationContext(),
    clock,
    telemetry: metricRegistry(),
    deliver: (item) => delivered.push(item),
    ask: (of, { probability }, end) => asked.push({ input: of.trace.input, probability, end }),
    ...(queued === undefined ? {} : { queue: () => queued }),
  });
  return { flow, clock, delivered, asked };
}

const job: NewJudgeJob = {
  name: 'asked',
  evaluator: 'task_completion',
  evaluatorKind: 'judge',
  queueKey: 'main',
  optionsHash: first.configured.optionsHash,
  probability: 0.25,
  offeredAt: 0,
};
const told = (items: readonly ScoredRun[]) =>
  items.map(({ decisions, answered }) => [
    ...decisions.map(({ decision, reason }) => (reason === undefined ? decision : `${decision} ${reason}`)),
    answered,
  ]);

/** The weight of a chosen run, with any outcome. */
const chosenWith = (items: readonly ScoredRun[]) => items.flatMap(({ decisions }) => decisions.map(({ probability }) => probability));

function closed(queued: Queued): ReturnType<typeof host> {
  const to = host([first], queued);
  to.flow.spans(noTenant, [
    agentSpan({ id: 1, trace: 1, agent: 'a', end: 9, input: 'hello', output: 'hello' }),
    toolSpan({ id: 2, parent: 1, trace: 1, tool: 'find' }),
  ]);
  to.clock.advance(600);
  to.flow.advance();
  return to;
}

test('resume: waiting questions go out with their run, and no judge is asked yet', () => {
  const to = closed({ kind: 'job', job });
  expect([to.asked, to.delivered.map(({ jobs, asked, decisions }) => ({ jobs, asked, decisions }))]).toEqual([
    [],
    [{ jobs: [job], asked: true, decisions: [] }],
  ]);
});

test('resume: what finds no room ends so, with its run', () => {
  const to = closed({ kind: 'overload', reason: 'queue_full' });
  expect([to.asked, told(to.delivered), chosenWith(to.delivered)]).toEqual([[], [['overload queue_full', undefined]], [1]]);
});

test('resume: it is asked with the probability with which it was chosen, and what is redacted now is', () => {
  const to = host([first]);
  const ends: boolean[] = [];
  to.flow.resume({ ...job, run: run({ trace: { ...run().trace, input: 'of a@example.com' } }) }, (ended) => ends.push(ended));
  expect([to.asked[0]?.probability, ends]).toEqual([0.25, []]);
  expect(to.asked[0]?.input).not.toContain('@');
  to.asked[0]?.end({ kind: 'judged', verdict });
  expect([told(to.delivered), ends, to.delivered[0]?.evaluations[0]?.sampleProbability]).toEqual([[['scored', true]], [true], 0.25]);
  expect(to.delivered[0]?.evaluations[0]?.verdict.explanation).not.toContain('@');
});

const ends: readonly { readonly name: string; readonly plan: readonly PlannedEvaluator[]; readonly as?: AskEnd; readonly want: string }[] =
  [
    { name: 'an evaluator that is not configured any more', plan: [], want: 'filtered not_configured' },
    { name: 'an evaluator with another expectation', plan: [planned('leave')], want: 'filtered reconfigured' },
    { name: 'what has waited for too long', plan: [first], as: { kind: 'overload', reason: 'too_old' }, want: 'overload too_old' },
  ];
for (const { name, plan, as, want } of ends) {
  test(`resume: ${name} is not asked`, () => {
    const to = host(plan);
    const done: boolean[] = [];
    to.flow.resume({ ...job, run: run() }, (ended) => done.push(ended), as);
    expect([to.asked, told(to.delivered), done]).toEqual([[], [[want, true]], [true]]);
    expect(chosenWith(to.delivered)).toEqual([0.25]);
  });
}

for (const { end, want, ended } of [
  { end: { kind: 'over_budget', reason: 'usd_per_day' }, want: [['over_budget usd_per_day', true]], ended: true },
  { end: { kind: 'overload', reason: 'no_such_judge' }, want: [['overload no_such_judge', true]], ended: true },
  { end: { kind: 'overload', reason: 'queue_full' }, want: [], ended: false },
  { end: { kind: 'overload', reason: 'stopping' }, want: [], ended: false },
] as const) {
  test(`resume: ${end.kind} ${end.reason} ${ended ? 'is its end' : 'lets it wait on'}`, () => {
    const to = host([first]);
    const done: boolean[] = [];
    to.flow.resume({ ...job, run: run() }, (is) => done.push(is));
    to.asked[0]?.end(end);
    expect([told(to.delivered), done]).toEqual([want, [ended]]);
    expect(chosenWith(to.delivered)).toEqual(ended ? [0.25] : []);
  });
}
