import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { collectors } from '../../collectors/index.ts';
import { loadConfigWithFiles } from '../../src/config/load.ts';
import type { StoredRun } from '../../src/model/store/store.ts';
import type { Span } from '../../src/model/span.ts';
import { regatheredRuns } from '../../src/pipeline/gathering/regathered-runs.ts';
import { judgeQuestion } from '../../src/service/judge-question.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { agentSpan, modelSpan } from '../builders/gen-ai-spans.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { scored, scoredRun } from '../builders/scored-run.ts';
import { validators } from '../builders/validators.ts';

const text = `judges: { main: { base_url: "http://127.0.0.1:9/v1", model: m } }
evaluators:
  - tool_error
  - { use: answer_relevance, judge: main, sample: { rate: 0 } }
  - { use: goal_reached, judge: main }
`;
const spans = [
  agentSpan({ id: 1, start: 0, end: 100, agent: 'support', input: 'Where is it?', output: 'Here.' }),
  modelSpan({ id: 2, parent: 1, start: 10, end: 20, user: 'Where is it?', says: 'Here.' }),
];

async function asked(name: string, kept: readonly Span[] | null = spans) {
  const { config } = await loadConfigWithFiles({ validators, file: 'test.yaml', text, env: {}, evaluators });
  const [run] = regatheredRuns({ spans, records: [] }, { closing: config.closing, collectors, telemetry: noTelemetry }).values();
  if (run === undefined) throw new Error('the spans make no run');
  const store = await memoryStore();
  await store.write([scoredRun({ tool_error: scored(1) }, run)]);
  const stored = (await store.run(run)) as StoredRun;
  return judgeQuestion(stored, kept === null ? undefined : { spans: kept, records: [], isWhole: true }, name, {
    config,
    rules: { dialects: [] },
  });
}

test('the question is what the judge would read', async () => {
  const question = await asked('answer_relevance');
  expect(question).toMatchObject({
    instruction: expect.stringContaining('relevant'),
    isFirstOfSeveral: false,
    answerSchema: { type: 'object' },
  });
  expect(JSON.stringify(question)).toContain('Where is it?');
});

const reasons = [
  ['none', spans, 'not_configured'],
  ['tool_error', spans, 'no_judge'],
  ['goal_reached', spans, 'of_session'],
  ['answer_relevance', null, 'no_spans'],
  ['answer_relevance', [], 'not_in_spans'],
  ['answer_relevance', Array.from({ length: 5_001 }, (_, nth) => modelSpan({ id: nth + 1 })), 'too_large'],
] as const;
for (const [name, kept, reason] of reasons)
  test(`there is no question: ${reason}`, async () => {
    expect(await asked(name, kept)).toBe(reason);
  });
