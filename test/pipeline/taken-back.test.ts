/** A run that turned out to be part of another one is never scored, under any plan. */
import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import { manualClock } from '../../src/model/clock.ts';
import { evaluateRun } from '../../src/pipeline/evaluation/evaluate.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { spanId } from '../builders/agent-trace.ts';
import { run } from '../builders/scored-run.ts';

const plan = ['tool_error', 'task_completion'].map((use) => {
  const made = configuredEvaluator({ use }, evaluators);
  if (made.kind === 'faulty') throw new Error(use);
  return { configured: made.evaluator, sampleRate: 1, judge: 'main', when: () => false };
});

test('taken back: every evaluator skips it and names the run that it is part of; no judge is asked', () => {
  const part = run({ revision: 2, partOf: { ...run(), spanId: spanId(0xc1) } });
  const { evaluations, decisions, toJudge } = evaluateRun(part, plan, {
    context: evaluationContext(),
    clock: manualClock(0),
    telemetry: noTelemetry,
  });
  expect(
    evaluations.map(({ key, revision, verdict }) => [
      key.name,
      revision,
      verdict.kind === 'skipped' && verdict.reason,
      verdict.explanation.includes('00000000000000c1'),
    ]),
  ).toEqual([
    ['tool_error', 2, 'part_of_another_run', true],
    ['task_completion', 2, 'part_of_another_run', true],
  ]);
  expect([decisions.map(({ decision, reason }) => [decision, reason]), toJudge]).toEqual([
    Array(2).fill(['skipped', 'part_of_another_run']),
    [],
  ]);
});
