/** A judge that is asked about each part of a run, by a real client before a scripted endpoint. */
import { afterEach, expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { JudgeConfig } from '../../src/config/config.ts';
import type { AskEnd } from '../../src/pipeline/jury/judge-driver.ts';
import type { ToJudge } from '../../src/pipeline/evaluation/evaluate.ts';
import { judgePool } from '../../src/service/judge-pool.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { run } from '../builders/scored-run.ts';
import { chatServer, says, type Play } from '../judges/chat-server.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).reverse()) await stop();
});

const word = (label: string): Play => says(JSON.stringify({ explanation: `I say ${label}.`, label }));
const of = run({
  trace: agentTrace({
    input: 'Find the cheapest.',
    toolCalls: [1, 2, 3].map((at) => call({ name: 'search', id: `c${at}`, spanId: spanId(at), arguments: { at }, result: `found ${at}` })),
  }),
});

async function asked(plays: readonly Play[], judge: Partial<JudgeConfig> = {}, work: Partial<ToJudge> = {}) {
  const server = await chatServer(...plays);
  open.push(server.close);
  const pool = judgePool(
    [{ name: 'main', baseUrl: server.baseUrl, model: 'm', apiKey: '', concurrency: 4, timeoutMs: 60_000, ...judge }],
    metricRegistry(),
  );
  open.push(pool.stop);
  const made = configuredEvaluator(
    {
      use: 'custom_judge',
      name: 'useful',
      judge: 'main',
      on: { tool: 'search' },
      options: { template: '{{final_response}}', labels: { good: 1, bad: 0 } },
    },
    evaluators,
  );
  if (made.kind === 'faulty' || made.evaluator.kind !== 'judge') throw new Error('no judge evaluator');
  const { evaluator: configured } = made;
  const ask = (): Promise<AskEnd> =>
    new Promise((resolve) => pool.ask(of, { configured, judge: 'main', expected: {}, probability: 1, ...work }, resolve));
  return { ask, requests: () => server.requests.length };
}

test('judged parts: each question goes through the judge, and the verdict has what all of them took', async () => {
  const to = await asked([word('good'), word('bad'), word('good')], { cacheMs: 60_000 });
  const end = await to.ask();
  expect(end).toMatchObject({
    kind: 'judged',
    verdict: {
      kind: 'scored',
      score: 2 / 3,
      evidence: [spanId(2)],
      details: { judge_calls: 3, judge_requests: 3, model: 'm', judge_tokens: { input: 300, output: 30 } },
    },
  });
  // The cache knows each part.
  expect(await to.ask()).toMatchObject({ verdict: { score: 2 / 3, details: { cached: 3 } } });
  expect(to.requests()).toBe(3);
});

test('judged parts: a part that the judge does not answer is missing, and the others count', async () => {
  const to = await asked([word('good'), says('{}'), says('{}'), word('good')]);
  expect(await to.ask()).toMatchObject({
    kind: 'judged',
    verdict: { kind: 'scored', score: 1, details: { scored: 2, failed: 1, each: [{}, { status: 'failed' }, {}] } },
  });
});

test('judged parts: each part is paid for by itself; when the budget ends amid them, the run is over budget and has no verdict', async () => {
  const to = await asked([word('good'), word('good'), word('good')], {}, { budget: { requestsPerDay: 2 } });
  expect(await to.ask()).toMatchObject({ kind: 'over_budget', reason: expect.stringContaining('requests_per_day') });
  expect(to.requests()).toBe(2);
});

test('judged parts: votes are given on the same parts, and the jury counts them as on any verdict', async () => {
  const plays = Array.from({ length: 9 }, () => word('good'));
  const to = await asked(plays, {}, { panel: { judges: ['main'], votes: 3 } });
  expect(await to.ask()).toMatchObject({
    verdict: { score: 1, parts: [{ index: 0 }, { index: 1 }, { index: 2 }], details: { confidence: 1, jury: { agreeing: 3 } } },
  });
  expect(to.requests()).toBe(9);
});
