import { toolError, toolTrajectory } from 'tracejury/evaluators';
import { expect, test } from 'vitest';
import { answer } from './agent.ts';
import { recordedRun } from './recorded.ts';

test('a refund within the total is made', async () => {
  const run = await recordedRun(() => answer(39.95));
  expect(run).toPass(toolError());
  expect(run).toPass(toolTrajectory(), { expect: { toolCalls: [{ name: 'refund_order', arguments: { amount: 39.95 } }] } });
});

test('a refund above the total fails, and the agent admits it', async () => {
  const run = await recordedRun(() => answer(500));
  expect(run).not.toPass(toolError());
});
