/** The vectors in the test suite: none may fail, and every evaluator that exists passes all of its file. */
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { longSuite } from '../builders/property-runs.ts';
import { difference } from './compare.ts';
import { runVectors } from './conformance.ts';
import { groups } from './groups.ts';
import { disputed } from './disputed.ts';
import { namesOf } from './names.ts';
import { readVectors, vectorFolder } from './vectors.ts';
import type { VectorFile } from './vectors.ts';

const vectors = readVectors(vectorFolder());
/** The files of evaluators that exist. */
const complete = vectors
  .filter(
    ({ evaluator }) => evaluators.some(({ id }) => id === (namesOf(evaluator).evaluator ?? evaluator)) || Object.hasOwn(groups, evaluator),
  )
  .map(({ name }) => name);
const files = runVectors(vectors);

for (const { name, results } of files) {
  test(`conformance: ${name} has no failed case`, () => {
    expect(results.length).toBeGreaterThan(0);
    expect(results.filter(({ result }) => result.kind === 'failed')).toEqual([]);
  });
}

test('conformance: every evaluator that exists passes all of its file', () => {
  for (const { name, results } of files.filter((file) => complete.includes(file.name))) {
    const other = results.filter(({ result }) => result.kind !== 'passed').map(({ id }) => id);
    expect({ name, other }).toEqual({ name, other: disputed.filter(({ file }) => file === name).map(({ id }) => id) });
  }
});

test('conformance: a wrong score and a wrong outcome are found in every file', () => {
  for (const file of vectors.filter(({ name }) => complete.includes(name))) {
    const scored = file.cases
      .filter(({ outcome, wanted, optional }) => outcome === 'scored' && wanted.score !== null && optional === undefined)
      .slice(0, longSuite ? undefined : 5);
    const wrongScore = scored.map((one) => ({ ...one, wanted: { ...one.wanted, score: (one.wanted.score ?? 0) + 0.001 } }));
    const wrongOutcome = scored.map((one) => ({ ...one, outcome: 'skipped' as const }));
    for (const { results } of runVectors([
      { ...file, cases: wrongScore },
      { ...file, cases: wrongOutcome },
    ])) {
      expect(results.length).toBeGreaterThan(0);
      expect({ file: file.name, found: results.filter(({ result }) => result.kind === 'failed').length }).toEqual({
        file: file.name,
        found: results.length,
      });
    }
  }
});

test('conformance: calls that only messages contain have run', () => {
  const repeated = {
    role: 'assistant',
    content: null,
    tool_calls: [
      { name: 'a', arguments: {} },
      { name: 'a', arguments: {} },
    ],
  };
  const one = {
    id: 'repeated',
    config: { per_turn_evaluator: 'tool_efficiency' },
    trace: { messages: [{ role: 'user', content: 'u' }, repeated] },
    expected: {},
    judgeAnswers: undefined,
    outcome: 'extracted' as const,
    optional: undefined,
  };
  const file = (score: number): VectorFile => ({
    name: 'conversation_turns',
    evaluator: 'conversation_turns',
    cases: [{ ...one, wanted: { score: null, passed: null, details: { turn_count: 1, scores_by_turn: [score] } } }],
  });
  expect(runVectors([file(0.5)])).toMatchObject([{ results: [{ result: { kind: 'passed' } }] }]);
  expect(runVectors([file(1)])).toMatchObject([{ results: [{ result: { kind: 'failed' } }] }]);
});

const differences = [
  { name: 'numbers within the tolerance are equal', wanted: { a: 1 }, got: { a: 1.0000000001 }, differs: false },
  { name: 'true is not 1', wanted: { a: 1 }, got: { a: true }, differs: true },
  { name: 'members that are not named do not count', wanted: { a: 1 }, got: { a: 1, b: 2 }, differs: false },
  { name: 'a member that is named must be there', wanted: { a: null }, got: {}, differs: true },
  { name: 'lists are in order', wanted: { a: [1, 2] }, got: { a: [2, 1] }, differs: true },
  {
    name: 'problems are a set',
    wanted: { problems: [{ kind: 'x' }, { kind: 'y' }] },
    got: { problems: [{ kind: 'y' }, { kind: 'x', more: 1 }] },
    differs: false,
  },
  {
    name: 'a set has no more than is wanted',
    wanted: { problems: [{ kind: 'x' }] },
    got: { problems: [{ kind: 'x' }, { kind: 'x' }] },
    differs: true,
  },
] as const;
for (const { name, wanted, got, differs } of differences) {
  test(`conformance: in a comparison of details ${name}`, () => {
    expect(difference(wanted, got, '') !== undefined).toBe(differs);
  });
}
