import { expect, test } from 'vitest';
import type { Answer } from '../../evaluators/evaluator.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { asked, type Score } from './score.ts';

const vectors = (...value: JsonValue[]): Answer => ({ kind: 'answered', value, truncated: false, model: 'm' });
const of = (output: JsonValue | undefined, wanted: JsonValue | undefined, options: JsonObject = {}): Score => ({
  entry: { use: 'output_similarity', options, ...(wanted === undefined ? {} : { expect: { output: wanted } }) },
  trace: agentTrace(output === undefined ? {} : { finalResponse: output }),
});

const rows: readonly {
  readonly name: string;
  readonly score: Score;
  readonly answer?: Answer;
  readonly texts?: readonly string[];
  readonly want: object;
}[] = [
  {
    name: 'the score is the cosine, reported with the model',
    score: of('It is sent.', 'Sent.'),
    answer: vectors([3, 4], [4, 3]),
    texts: ['Sent.', 'It is sent.'],
    want: {
      kind: 'scored',
      score: expect.closeTo(0.96, 12),
      passed: null,
      explanation: 'The final response has the cosine similarity 0.96 to the expected output.',
      details: { model: 'm' },
    },
  },
  {
    name: 'the opposite direction is 0 and reported',
    score: of('no', 'yes'),
    answer: vectors([1, 0], [-1, 0]),
    want: { score: 0, details: { similarity: -1, distance: 2 } },
  },
  { name: 'a vector of zeros points nowhere', score: of('no', 'yes'), answer: vectors([1, 0], [0, 0]), want: { score: 0 } },
  { name: 'the distance on demand', score: of('no', 'yes', { distance: true }), answer: vectors([1, 0], [0, 1]), want: { score: 1 } },
  { name: 'the same text is embedded once', score: of('yes', 'yes'), answer: vectors([3, 4]), texts: ['yes'], want: { score: 1 } },
  {
    name: 'an object is embedded as JSON',
    score: of({ a: 1 }, { a: 2 }),
    answer: vectors([1], [1]),
    texts: ['{"a":2}', '{"a":1}'],
    want: { score: 1 },
  },
  {
    name: 'a value at a path',
    score: of('{"answer":"no"}', 'yes', { target_output_key: 'answer' }),
    answer: vectors([1], [1]),
    texts: ['yes', 'no'],
    want: { score: 1 },
  },
  {
    name: 'nothing at the path is 0',
    score: of('{"answer":"no"}', 'yes', { target_output_key: 'reply' }),
    texts: [],
    want: { score: 0, explanation: 'The final response has nothing to compare.' },
  },
  {
    name: 'an empty output is 0 and no model is asked',
    score: of(' \n', 'yes'),
    texts: [],
    want: { kind: 'scored', score: 0, explanation: 'The final response is empty.' },
  },
  { name: 'no output is skipped', score: of(undefined, 'yes'), texts: [], want: { kind: 'skipped', reason: 'no_final_response' } },
  {
    name: 'no output scores 0 where the original does',
    score: of(undefined, 'yes', { on_empty: 'original' }),
    texts: [],
    want: { kind: 'scored', score: 0 },
  },
  { name: 'no expectation is skipped', score: of('no', undefined), texts: [], want: { kind: 'skipped', reason: 'no_expectation' } },
  { name: 'an empty expectation is skipped', score: of('no', ''), texts: [], want: { kind: 'skipped', reason: 'no_expectation' } },
  {
    name: 'a text too long to embed is skipped',
    score: of('x'.repeat(100_001), 'yes'),
    texts: [],
    want: { kind: 'skipped', reason: 'too_large' },
  },
  {
    name: 'a judge that does not answer is failed',
    score: of('no', 'yes'),
    answer: { kind: 'failed', error: 'judge_unavailable: status 500' },
    want: { kind: 'failed', error: 'judge_unavailable: status 500' },
  },
  {
    name: 'vectors of two lengths are failed, not 0',
    score: of('no', 'yes'),
    answer: vectors([1, 0], [1]),
    want: { kind: 'failed', error: 'embedding_invalid: the vectors have different lengths: 2, 1' },
  },
  {
    name: 'an empty vector is failed',
    score: of('no', 'yes'),
    answer: vectors([], []),
    want: { kind: 'failed', error: /^embedding_invalid/ },
  },
  {
    name: 'a number that is not finite is failed',
    score: of('no', 'yes'),
    answer: vectors([1, Number.NaN], [1, 1]),
    want: { kind: 'failed', error: /^embedding_invalid/ },
  },
  {
    name: 'a vector too few is failed',
    score: of('no', 'yes'),
    answer: vectors([1]),
    want: { kind: 'failed', error: /^embedding_invalid/ },
  },
];
for (const { name, score, answer, texts, want } of rows) {
  test(`output_similarity: ${name}`, () => {
    const { requests, verdict } = asked(score, answer === undefined ? [] : [answer]);
    expect(verdict).toMatchObject(
      'error' in want && want.error instanceof RegExp ? { ...want, error: expect.stringMatching(want.error) as unknown } : want,
    );
    if (texts !== undefined)
      expect(requests.flatMap((request) => (request.kind === 'embed' ? request.texts : ['not an embedding request']))).toEqual(texts);
  });
}

test('output_similarity: with a threshold it passes or fails, and the lowest similarity that passes is the threshold itself', () => {
  const passed = (threshold: number) =>
    asked({ ...of('no', 'yes'), entry: { ...of('no', 'yes').entry, threshold } }, [vectors([1, 0], [1, 1])]).verdict;
  const similarity = Math.SQRT1_2;
  expect(
    [passed(0.7), passed(0.71)].map(
      (verdict) => verdict.kind === 'scored' && [verdict.passed, Math.abs(verdict.score - similarity) < 1e-12],
    ),
  ).toEqual([
    [true, true],
    [false, true],
  ]);
});

test('output_similarity: outputs of a tool are compared one by one in one request, and the score is their mean', () => {
  const trace = agentTrace({
    toolCalls: [
      call({ name: 'ask', result: 'yes', spanId: spanId(1) }),
      call({ name: 'ask', result: 'no', spanId: spanId(2) }),
      call({ name: 'other', result: 'x' }),
    ],
  });
  const { requests, verdict } = asked(
    { entry: { use: 'output_similarity', expect: { output: 'yes' }, options: { on: { tool: 'ask' } } }, trace },
    [vectors([1, 0], [0, 1])],
  );
  expect(requests).toEqual([{ kind: 'embed', texts: ['yes', 'no'] }]);
  expect(verdict).toMatchObject({ kind: 'scored', score: 0.5, evidence: [spanId(2)], details: { total: 2, full: 1, model: 'm' } });
});
