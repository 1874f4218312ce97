import { expect, test } from 'vitest';
import type { Answer } from '../../evaluators/evaluator.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { asked } from './score.ts';

const vectors = (...value: JsonValue[]): Answer => ({ kind: 'answered', value, truncated: false, model: 'm' });

const rows: readonly {
  readonly name: string;
  readonly run: Partial<AgentTrace>;
  readonly options?: JsonObject;
  readonly answer?: Answer;
  readonly texts: readonly string[];
  readonly want: object;
}[] = [
  {
    name: 'the output is compared with the input',
    run: { input: 'Where is it?', finalResponse: 'On its way.' },
    answer: vectors([1, 0], [1, 1]),
    texts: ['Where is it?', 'On its way.'],
    want: {
      kind: 'scored',
      score: expect.closeTo(Math.SQRT1_2, 12),
      passed: null,
      explanation: 'The final response has the cosine similarity 0.707 to the input.',
      details: { model: 'm' },
    },
  },
  { name: 'no input is skipped', run: { finalResponse: 'On its way.' }, texts: [], want: { kind: 'skipped', reason: 'no_input' } },
  {
    name: 'a blank input is skipped',
    run: { input: ' ', finalResponse: 'On its way.' },
    texts: [],
    want: { kind: 'skipped', reason: 'no_input' },
  },
  {
    name: 'an input that was cut short is skipped',
    run: { input: 'Where is', finalResponse: 'On its way.', truncated: ['input'] },
    texts: [],
    want: { kind: 'skipped', reason: 'truncated' },
  },
  { name: 'no output is skipped', run: { input: 'Where is it?' }, texts: [], want: { kind: 'skipped', reason: 'no_final_response' } },
  { name: 'an empty output is 0', run: { input: 'Where is it?', finalResponse: '' }, texts: [], want: { kind: 'scored', score: 0 } },
  {
    name: 'what a tool gave back',
    run: { input: 'Where is it?', toolCalls: [call({ name: 'find', result: { status: 'sent' } })] },
    options: { on: { tool: 'find' } },
    answer: vectors([1, 0], [1, 0]),
    texts: ['Where is it?', '{"status":"sent"}'],
    want: { score: 1 },
  },
  {
    name: 'a judge that gives no vectors is failed',
    run: { input: 'Where is it?', finalResponse: 'Sent.' },
    answer: { kind: 'failed', error: 'judge_answer_invalid: x' },
    texts: ['Where is it?', 'Sent.'],
    want: { kind: 'failed', error: 'judge_answer_invalid: x' },
  },
];
for (const { name, run, options = {}, answer, texts, want } of rows) {
  test(`output_relevance_by_similarity: ${name}`, () => {
    const { requests, verdict } = asked(
      { entry: { use: 'output_relevance_by_similarity', options }, trace: agentTrace(run) },
      answer === undefined ? [] : [answer],
    );
    expect(verdict).toMatchObject(want);
    expect(requests.flatMap((request) => (request.kind === 'embed' ? request.texts : ['not an embedding request']))).toEqual(texts);
  });
}
