import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const verdict = (output: JsonValue, wanted: JsonValue, options: JsonObject = {}) =>
  score({ entry: { use: 'cosine_similarity', expect: { output: wanted }, options }, trace: agentTrace({ finalResponse: output }) });

const rows: readonly {
  readonly name: string;
  readonly output: JsonValue;
  readonly wanted: JsonValue;
  readonly options?: JsonObject;
  readonly want: object;
}[] = [
  { name: 'the same direction is 1', output: [2, 4], wanted: [1, 2], want: { score: 1, passed: null } },
  { name: 'a right angle is 0', output: [1, 0], wanted: [0, 1], want: { score: 0 } },
  { name: 'three, four against four, three', output: [3, 4], wanted: [4, 3], want: { score: expect.closeTo(0.96, 12) } },
  {
    name: 'the opposite direction is 0 and reported',
    output: [-1, 0],
    wanted: [1, 0],
    want: { score: 0, details: { similarity: -1, distance: 2 } },
  },
  { name: 'the distance on demand', output: [1, 0], wanted: [0, 1], options: { distance: true }, want: { score: 1 } },
  { name: 'zeros point nowhere', output: [0, 0], wanted: [1, 0], want: { score: 0 } },
  { name: 'great numbers do not overflow', output: [1e300, 1e300], wanted: [1e300, 1e300], want: { score: expect.closeTo(1, 12) } },
  {
    name: 'a vector in a text, at a path',
    output: '{"v": [1, 2]}',
    wanted: { v: [1, 2] },
    options: { target_output_key: 'v' },
    want: { score: expect.closeTo(1, 12) },
  },
  {
    name: 'another number of dimensions is 0',
    output: [1, 2, 3],
    wanted: [1, 2],
    want: { score: 0, explanation: 'The final response has 3 dimensions instead of 2.' },
  },
  {
    name: 'a value that is not a vector is 0',
    output: [1, 'x'],
    wanted: [1, 2],
    want: { score: 0, explanation: 'The final response is not a list of numbers.' },
  },
  { name: 'an expectation that is not a vector is ignored', output: [1], wanted: 'x', want: { kind: 'skipped', reason: 'no_expectation' } },
];
for (const { name, output, wanted, options, want } of rows) {
  test(`cosine_similarity: ${name}`, () => {
    expect(verdict(output, wanted, options)).toMatchObject(want);
  });
}

test('cosine_similarity: it is symmetric, from 0 to 1, and length does not count', () => {
  const vector = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 3, maxLength: 3 });
  const scoreOf = (a: JsonValue, b: JsonValue): number => {
    const reached = verdict(a, b);
    return reached.kind === 'scored' ? reached.score : NaN;
  };
  fc.assert(
    fc.property(vector, vector, fc.integer({ min: 1, max: 9 }), (a, b, times) => {
      const one = scoreOf(a, b);
      return (
        one >= 0 &&
        one <= 1 &&
        one === scoreOf(b, a) &&
        Math.abs(
          one -
            scoreOf(
              a.map((x) => x * times),
              b,
            ),
        ) < 1e-9
      );
    }),
  );
});

test('cosine_similarity: vectors that a tool returned can be compared, and without an expectation it is skipped', () => {
  const trace = agentTrace({ toolCalls: [call({ name: 'embed', result: [1, 0] }), call({ name: 'embed', result: [0, 1] })] });
  expect(
    score({ entry: { use: 'cosine_similarity', expect: { output: [1, 0] }, options: { on: { tool: 'embed' } } }, trace }),
  ).toMatchObject({ score: 0.5 });
  expect(score({ entry: { use: 'cosine_similarity' }, trace })).toMatchObject({ kind: 'skipped', reason: 'no_expectation' });
});
