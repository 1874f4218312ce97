/** A configuration is exchanged while runs are open: each run uses the one in force when it closes. */
import { expect, test } from 'vitest';
import { collectors } from '../../collectors/index.ts';
import { configuredEvaluator, type ConfiguredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { JsonValue } from '../../src/model/json.ts';
import type { PlannedEvaluator } from '../../src/pipeline/evaluation/evaluate.ts';
import type { AskEnd } from '../../src/pipeline/jury/judge-driver.ts';
import { pipeline, type PipelineSettings } from '../../src/pipeline/pipeline.ts';
import { redaction } from '../../src/redaction/redaction.ts';
import { redactionRules } from '../../src/redaction/settings.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';

function planned(
  use: string,
  members: { readonly name?: string; readonly judge?: string; readonly expect?: JsonValue; readonly threshold?: number } = {},
): PlannedEvaluator {
  const result = configuredEvaluator({ use, ...members }, evaluators);
  if (result.kind === 'faulty') throw new Error(result.faults.map(({ problem }) => problem).join());
  const configured: ConfiguredEvaluator = result.evaluator;
  return { configured, sampleRate: 1, ...(members.judge === undefined ? {} : { judge: members.judge }) };
}

const closing = { settleMs: 500, quietMs: 5_000, abandonMs: 60_000, lateMs: 3_600_000 };

function host(settings: PipelineSettings) {
  const clock = manualClock(0);
  const delivered: ScoredRun[] = [];
  const asked: ((end: AskEnd) => void)[] = [];
  const flow = pipeline({
    ...settings,
    collectors,
    context: evaluationContext(),
    clock,
    telemetry: metricRegistry(),
    deliver: (item) => delivered.push(item),
    ask: (_run, _work, done) => asked.push(done),
  });
  return {
    flow,
    asked,
    send: (trace: number, input = 'hello') =>
      flow.spans(noTenant, [
        agentSpan({ id: 1, trace, agent: 'a', end: 9, input, output: input }),
        toolSpan({ id: 2, parent: 1, trace, tool: 'find' }),
      ]),
    pass(ms: number, tracesMax?: number) {
      clock.advance(ms);
      flow.advance(tracesMax);
    },
    /** `trace: name, name` for each delivery; taken out. */
    told: () =>
      delivered
        .splice(0)
        .map(({ run, evaluations }) => `${Number.parseInt(run.traceId, 16)}: ${evaluations.map(({ key }) => key.name).join(', ')}`),
    verdicts: () =>
      delivered
        .splice(0)
        .flatMap(({ run, evaluations }) =>
          evaluations.map(
            ({ verdict }) =>
              `${Number.parseInt(run.traceId, 16)}: ${verdict.kind}${verdict.kind === 'skipped' ? ` ${verdict.reason}` : ''}`,
          ),
        ),
    inputs: () => delivered.splice(0).map(({ run }) => run.trace.input),
  };
}

test('exchange: a run that is open is scored by the plan that holds when it closes, and by no other', () => {
  const before = { closing, plan: [planned('tool_error', { name: 'old' })] };
  const to = host(before);
  to.send(1);
  to.pass(600);
  to.send(2);
  to.flow.exchange({ closing, plan: [planned('tool_error', { name: 'new', threshold: 0.5 }), planned('tool_efficiency')] });
  to.pass(600);
  expect(to.told()).toEqual(['1: old', '2: new, tool_efficiency']);
});

test('exchange: who was asked before ends under the name and the redaction that held then', () => {
  const mask = (replace: string) => redaction({ rules: redactionRules([{ match: 'email', replace }]), onRedacted: () => undefined });
  const to = host({
    closing,
    plan: [planned('task_completion', { name: 'asked', judge: 'main', expect: { tasks: ['greet'] } })],
    redaction: mask('[first]'),
  });
  to.send(1, 'I am anna@example.com');
  to.pass(600);
  expect(to.inputs()).toEqual(['I am [first]']);
  to.flow.exchange({ closing, plan: [], redaction: mask('[second]') });
  to.asked[0]?.({ kind: 'judged', verdict: { kind: 'skipped', reason: 'no_tasks', explanation: '', details: {} } });
  expect(to.told()).toEqual(['1: asked']);
  to.send(2, 'I am anna@example.com');
  to.pass(600);
  expect(to.inputs()).toEqual(['I am [second]']);
});

test('exchange: longer and shorter closing times hold for what is open', () => {
  const plan = [planned('tool_error')];
  const to = host({ closing, plan });
  to.send(1);
  to.flow.exchange({ closing: { ...closing, settleMs: 2_000 }, plan });
  to.pass(600);
  expect(to.told()).toEqual([]);
  to.pass(1_500);
  expect(to.told()).toEqual(['1: tool_error']);
  to.send(2);
  to.flow.exchange({ closing: { ...closing, settleMs: 100 }, plan });
  to.send(3);
  to.pass(150);
  // A moment that was set stays, or the table of open traces would have to be walked.
  expect(to.told()).toEqual(['3: tool_error']);
  to.pass(2_000);
  expect(to.told()).toEqual(['2: tool_error']);
});

test('exchange: tool definitions that are taken away are not offered to a run that was looked at already', () => {
  const plan = [planned('tool_call_validity')];
  const to = host({ closing, plan, tools: [{ name: 'find', inputSchema: { type: 'object', required: ['x'] } }] });
  to.send(1);
  to.send(2);
  // Both are due: one that was looked at waits for the other.
  to.pass(600, 1);
  to.flow.exchange({ closing, plan });
  to.pass(0);
  expect(to.verdicts().toSorted()).toEqual(['1: skipped no_tool_definitions', '2: skipped no_tool_definitions']);
});
