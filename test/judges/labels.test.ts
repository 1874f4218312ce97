/** Labels, scores and one verdict an item, over the whole way: an evaluator, the client, an endpoint that answers as models do. */
import { expect, test } from 'vitest';
import { evaluate, hallucination, router, toolSelection } from '../../src/library/evaluators.ts';
import type { ConfiguredJudge } from '../../src/library/evaluators.ts';
import { agentTrace, call, tool } from '../builders/agent-trace.ts';
import { bench } from './bench.ts';
import { says } from './chat-server.ts';

const trace = agentTrace({
  input: 'Find and book',
  finalResponse: 'Booked for 5.',
  toolDefinitions: [tool('find'), tool('book')],
  toolCalls: [call({ name: 'find' }), call({ name: 'book' })],
});
const entry = (number: unknown, label: unknown) => ({ number, explanation: `because ${String(number)}`, label });
const whole = JSON.stringify({ calls: [entry(1, 'correct'), entry(2, 'incorrect')] });
const lacks = JSON.stringify({ calls: [entry(1, 'correct')] });

interface Row {
  readonly name: string;
  readonly evaluator: ConfiguredJudge;
  readonly answers: readonly string[];
  readonly want: object;
  /** The correction that the judge gets after its first answer. */
  readonly correction?: string;
}

const rows: readonly Row[] = [
  {
    name: 'an answer that holds everything',
    evaluator: router(),
    answers: [whole],
    want: { kind: 'scored', score: 0.5, label: 'incorrect' },
  },
  {
    name: 'labels and numbers as models write them',
    evaluator: router(),
    answers: [
      '```json\n{"verdicts": [{"number": "2", "explanation": "e", "label": " Correct"}, {"number": 1, "explanation": "e", "label": "CORRECT",}]}\n```',
    ],
    want: { kind: 'scored', score: 1, label: 'correct' },
  },
  {
    name: 'a call left out, then mended',
    evaluator: router(),
    answers: [lacks, whole],
    want: { kind: 'scored', score: 0.5 },
    correction: 'tool call 2 has no verdict.',
  },
  {
    name: 'a call left out twice',
    evaluator: router(),
    answers: [lacks, lacks],
    want: { kind: 'failed', error: 'judge_answer_invalid: tool call 2 has no verdict' },
    correction: 'tool call 2 has no verdict.',
  },
  {
    name: 'a call judged twice',
    evaluator: router(),
    answers: [JSON.stringify({ calls: [entry(1, 'correct'), entry(2, 'correct'), entry(2, 'incorrect')] })],
    want: { kind: 'failed', error: 'judge_answer_invalid: tool call 2 has 2 verdicts' },
    correction: 'tool call 2 has 2 verdicts.',
  },
  {
    name: 'a label outside the set',
    evaluator: router(),
    answers: [JSON.stringify({ calls: [entry(1, 'correct'), entry(2, 'mostly')] })],
    want: { kind: 'failed', error: 'judge_answer_invalid: the label of tool call 2 is none of correct, incorrect' },
    correction: 'label is none of correct, incorrect.',
  },
  {
    name: 'a usable answer after one that is not',
    evaluator: router(),
    answers: ['I think so.', whole],
    want: { kind: 'scored', score: 0.5 },
  },
  {
    name: 'a step written as text',
    evaluator: toolSelection(),
    answers: ['{"explanation":"e","score":"0.75"}'],
    want: { kind: 'scored', score: 0.75 },
  },
  {
    name: 'a score between the steps, then a step',
    evaluator: toolSelection(),
    answers: ['{"explanation":"e","score":0.8}', '{"explanation":"e","score":0.75}'],
    want: { kind: 'scored', score: 0.75 },
    correction: 'score is none of 0, 0.25, 0.5, 0.75, 1.',
  },
  {
    name: 'a score of another scale',
    evaluator: toolSelection(),
    answers: ['{"explanation":"e","score":75}'],
    want: { kind: 'failed', error: 'judge_answer_invalid: score is none of 0, 0.25, 0.5, 0.75, 1' },
  },
  {
    name: 'a label against its own list',
    evaluator: hallucination(),
    answers: [
      '{"explanation":"e","unsupported_claims":[],"label":"hallucinated"}',
      '{"explanation":"e","unsupported_claims":["for 5"],"label":"hallucinated"}',
    ],
    want: { kind: 'scored', score: 0, label: 'hallucinated', explanation: 'The final response is hallucinated: "for 5" (e).' },
    correction: 'unsupported_claims of the answer must be filled under the label hallucinated.',
  },
];

for (const { name, evaluator, answers, want, correction } of rows) {
  test(`judge labels: ${evaluator.name}: ${name}`, async () => {
    const { judge, server } = await bench(answers.map((answer) => says(answer)));
    const [verdict] = await evaluate(trace, {}, [evaluator], { judge });
    expect(verdict).toMatchObject(want);
    expect(server.requests.length).toBeLessThanOrEqual(2);
    if (correction !== undefined) expect(server.requests[1]?.body.messages.at(-1)?.content).toContain(correction);
  });
}
