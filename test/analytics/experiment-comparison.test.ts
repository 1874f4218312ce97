/** Two experiments, example by example: what is compared, what is a regression, and what is left out. */
import { expect, test } from 'vitest';
import { experimentComparison } from '../../src/analytics/experiment-comparison.ts';
import { experimentSummary } from '../../src/analytics/experiment-summary.ts';
import type { ExperimentResult, ResultVerdict } from '../../src/model/experiment.ts';
import { spanId } from '../builders/agent-trace.ts';
import { seeded } from '../builders/seeded.ts';
import { experimentOf, resultOf, verdictOf } from '../builders/experiment.ts';
import { traceId } from '../stores/numbered.ts';

const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `example ${at}`);

function side(id: string, results: readonly ExperimentResult[]) {
  return { experiment: experimentOf({ id }), results };
}

/** The examples in `failing` fail. */
function results(count: number, failing: readonly number[]): readonly ExperimentResult[] {
  return ids(count).map((id, at) => resultOf(id, [verdictOf(failing.includes(at) ? 'fail' : 'pass')]));
}

const range = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, at) => from + at);

const cases = [
  { name: 'ten of forty fail now', first: [], second: range(0, 10), word: 'worse', regressions: ['tool_error'] },
  { name: 'ten of forty failed before', first: range(0, 10), second: [], word: 'better', regressions: [] },
  { name: 'two of forty fail now', first: [], second: [0, 1], word: 'no_difference_shown', regressions: [] },
  { name: 'as many fail, other ones', first: range(0, 10), second: range(10, 20), word: 'no_difference_shown', regressions: [] },
] as const;

for (const { name, first, second, word, regressions } of cases) {
  test(`experiment comparison: ${name}: ${word}`, () => {
    const found = experimentComparison(side('a', results(40, first)), side('b', results(40, second)));
    const own = found.evaluators.find((one) => one.name === 'tool_error');
    expect(own).toMatchObject({
      word,
      test: 'mcnemar',
      examples: 40,
      difference: { point: expect.closeTo((first.length - second.length) / 40, 9) as number },
    });
    expect(found.regressions).toEqual(regressions);
    expect(own?.flipped).toHaveLength(new Set([...first, ...second]).size);
  });
}

test('experiment comparison: a flipped example has the explanations, the runs and the usage of both sides', () => {
  const run = { traceId: traceId(1), spanId: spanId(1) };
  const found = experimentComparison(
    side('a', [resultOf('x', [verdictOf('pass', { explanation: 'All calls succeeded.' })], { run, cost: 0.5 })]),
    side('b', [resultOf('x', [verdictOf('fail', { explanation: 'find failed.' })], { inputTokens: 7, outputTokens: 3 })]),
  );
  expect(found.evaluators.find(({ name }) => name === 'tool_error')?.flipped).toEqual([
    {
      exampleId: 'x',
      first: { value: 1, runs: 1, explanation: 'All calls succeeded.', run, usage: { cost: 0.5, tokens: undefined, duration: 0.4 } },
      second: { value: 0, runs: 1, explanation: 'find failed.', run: undefined, usage: { cost: undefined, tokens: 10, duration: 0.4 } },
    },
  ]);
});

test('experiment comparison: only examples that both have are compared, the others are named', () => {
  const found = experimentComparison(side('a', results(3, [])), side('b', results(5, [3, 4])));
  expect(found).toMatchObject({ examples: 3, onlyFirst: [], onlySecond: ['example 3', 'example 4'], regressions: [] });
  expect(found.evaluators.find(({ name }) => name === 'tool_error')).toMatchObject({ examples: 3, second: { point: 1 } });
});

test('experiment comparison: a run that crashed is not a failed verdict, but a regression of completed', () => {
  const crashed = ids(20).map((id) => resultOf(id, [], { status: 'failed', error: { kind: 'exit_code', message: 'It exited with 3.' } }));
  const found = experimentComparison(side('a', results(20, [])), side('b', crashed));
  expect(found.evaluators.find(({ name }) => name === 'tool_error')).toMatchObject({ examples: 0, word: 'not_comparable', p: undefined });
  expect(found.evaluators[0]).toMatchObject({ name: 'completed', word: 'worse', flipped: expect.arrayContaining([]) as unknown });
  expect(found).toMatchObject({ regressions: ['completed'], lost: ['tool_error'] });
});

test('experiment comparison: a skipped verdict leaves its example out', () => {
  const found = experimentComparison(
    side('a', results(2, [])),
    side('b', [resultOf('example 0', [verdictOf('skipped')]), resultOf('example 1', [verdictOf('pass')])]),
  );
  expect(found.evaluators.find(({ name }) => name === 'tool_error')).toMatchObject({ examples: 1 });
});

/** Examples 0 … are failed, the next ones skipped. */
function withSkips(count: number, failed: readonly number[], skipped: readonly number[]): readonly ExperimentResult[] {
  return ids(count).map((id, at) => resultOf(id, [verdictOf(skipped.includes(at) ? 'skipped' : failed.includes(at) ? 'fail' : 'pass')]));
}

const skips = [
  { name: 'skips what A passed', first: [[], []], second: [[], range(0, 8)], word: 'worse_with_unscored', low: -0.2, high: 0 },
  { name: 'skips one that A passed', first: [[], []], second: [[], [0]], word: 'no_difference_shown', low: -0.025, high: 0 },
  { name: 'skips what A failed', first: [range(0, 8), []], second: [[], range(0, 8)], word: 'no_difference_shown', low: 0, high: 0.2 },
  {
    name: 'passes what A failed, and skips as many that A passed',
    first: [range(0, 10), []],
    second: [[], range(10, 20)],
    word: 'no_difference_shown',
    low: 0,
    high: 0.25,
  },
  {
    name: 'passes what A failed, and skips one',
    first: [range(0, 12), []],
    second: [[], [12]],
    word: 'better',
    low: 11 / 40,
    high: 12 / 40,
  },
  { name: 'scores what A skipped', first: [[], range(0, 8)], second: [[], []], word: 'no_difference_shown', low: 0, high: 0.2 },
  { name: 'fails more, and A skipped some', first: [[], [39]], second: [range(0, 10), []], word: 'worse', low: -0.25, high: -0.225 },
] as const;

for (const { name, first, second, word, low, high } of skips) {
  test(`experiment comparison: a version that ${name}: ${word}`, () => {
    const found = experimentComparison(side('a', withSkips(40, first[0], first[1])), side('b', withSkips(40, second[0], second[1])));
    expect(found.evaluators.find((one) => one.name === 'tool_error')).toMatchObject({
      word,
      unscored: {
        examples: 40,
        first: { runs: 40, unscored: first[1].length },
        second: { runs: 40, unscored: second[1].length },
        range: { low: expect.closeTo(low, 9) as number, high: expect.closeTo(high, 9) as number },
        lessScored: second[1].map((at) => `example ${at}`),
      },
    });
    expect(found.regressions).toEqual(word === 'worse' ? ['tool_error'] : []);
    expect(found.unscoredRegressions).toEqual(word === 'worse_with_unscored' ? ['tool_error'] : []);
  });
}

test('experiment comparison: an example that both sides skip makes no difference, and costs no test', () => {
  const [first, second] = [withSkips(40, [], range(0, 20)), withSkips(40, range(20, 26), range(0, 20))];
  const own = experimentComparison(side('a', first), side('b', second)).evaluators.find(({ name }) => name === 'tool_error');
  expect(own).toMatchObject({ word: 'worse', examples: 20, unscored: undefined, adjustedP: expect.closeTo(1 / 64, 9) as number });
});

test('experiment comparison: a larger share of runs without a score is tested, with repeats and after crashes', () => {
  const repeated = (isCrashed: (example: number, repeat: number) => boolean): readonly ExperimentResult[] =>
    range(0, 20).flatMap((example) =>
      range(0, 3).map((repeat) =>
        isCrashed(example, repeat)
          ? resultOf(`example ${example}`, [], { repeat, status: 'failed', error: { kind: 'exit_code', message: 'It exited with 3.' } })
          : resultOf(`example ${example}`, [verdictOf('pass')], { repeat }),
      ),
    );
  const found = experimentComparison(
    side(
      'a',
      repeated(() => false),
    ),
    side(
      'b',
      repeated((example, repeat) => example < 9 && repeat === 0),
    ),
  );
  const own = found.evaluators.find(({ name }) => name === 'tool_error');
  expect(own).toMatchObject({ word: 'worse_with_unscored', difference: { point: 0 }, p: 1 });
  expect(own?.unscored).toMatchObject({
    second: { runs: 60, unscored: 9 },
    share: { test: 'sign_flip', p: expect.closeTo(2 ** -8, 9) as number, difference: { point: expect.closeTo(0.15, 9) as number } },
    asNotPassed: { p: expect.closeTo(2 ** -8, 9) as number, difference: { point: expect.closeTo(-0.15, 9) as number } },
  });
  expect(own?.unscored?.share.adjustedP).toBeGreaterThan(2 ** -8);
});

test('experiment comparison: of two equal versions, the one that skips its failures is not better', () => {
  const chance = seeded(38);
  const worlds = 300;
  const words = { better: 0, worse: 0, worse_with_unscored: 0, no_difference_shown: 0, not_comparable: 0 };
  for (let world = 0; world < worlds; world++) {
    const run = (word: 'fail' | 'skipped'): readonly ExperimentResult[] =>
      ids(100).map((id) => resultOf(id, [verdictOf(chance.share() < 0.83 ? 'pass' : word)]));
    const { evaluators } = experimentComparison(side('a', run('fail')), side('b', run('skipped')));
    words[evaluators.find(({ name }) => name === 'tool_error')?.word ?? 'not_comparable']++;
  }
  expect(words.better / worlds).toBeLessThan(0.03);
  expect((words.worse + words.worse_with_unscored) / worlds).toBeLessThan(0.05);
});

test('experiment comparison: a difference that cannot be estimated has its own reason', () => {
  const of = (first: readonly ExperimentResult[], second: readonly ExperimentResult[]) =>
    experimentComparison(side('a', first), side('b', second)).evaluators.find(({ name }) => name === 'tool_error')?.difference;
  expect(of(withSkips(2, [], [0]), withSkips(2, [], [1]))).toMatchObject({ reason: 'no_common_example' });
  const twice = [1, 2].map((repeat) => resultOf('x', [verdictOf('pass')], { repeat }));
  expect(of(twice, twice)).toMatchObject({ reason: 'one_common_example' });
});

test('experiment comparison: many evaluators raise the bar of each', () => {
  const names = Array.from({ length: 20 }, (_, at) => `rule ${at}`);
  /** The first rule fails on some examples, the others on some others. */
  const verdicts = (fails: boolean, othersFail: boolean): readonly ResultVerdict[] =>
    names.map((name, at) => verdictOf((at === 0 ? fails : othersFail) ? 'fail' : 'pass', { name }));
  const first = ids(30).map((id, at) => resultOf(id, verdicts(false, at < 3)));
  const second = ids(30).map((id, at) => resultOf(id, verdicts(at < 6, at >= 3 && at < 6)));
  const found = experimentComparison(side('a', first), side('b', second)).evaluators.find(({ name }) => name === 'rule 0');
  expect(found?.p).toBeLessThan(0.05);
  expect(found).toMatchObject({ word: 'no_difference_shown' });
  expect(found?.adjustedP).toBeGreaterThan(0.05);
});

test('experiment comparison: evaluators without a differing example cost the others nothing', () => {
  const names = Array.from({ length: 20 }, (_, at) => `rule ${at}`);
  const verdicts = (fails: boolean): readonly ResultVerdict[] =>
    names.map((name, at) => verdictOf(fails && at === 0 ? 'fail' : 'pass', { name }));
  const first = ids(30).map((id) => resultOf(id, verdicts(false)));
  const second = ids(30).map((id, at) => resultOf(id, verdicts(at < 6)));
  const { evaluators } = experimentComparison(side('a', first), side('b', second));
  // All six differing examples became worse: 0.5 to the power of 6.
  expect(evaluators.find(({ name }) => name === 'rule 0')).toMatchObject({
    p: expect.closeTo(1 / 64, 9) as number,
    adjustedP: expect.closeTo(1 / 64, 9) as number,
    word: 'worse',
  });
  expect(evaluators.find(({ name }) => name === 'rule 1')).toMatchObject({ p: 1, adjustedP: 1, word: 'no_difference_shown' });
});

test('experiment comparison: with repeats the share of each example is compared, and a raw metric by its mean', () => {
  const repeated = (shares: readonly number[], speed: number): readonly ExperimentResult[] =>
    shares.flatMap((share, example) =>
      range(0, 4).map((at) =>
        resultOf(`example ${example}`, [verdictOf(at < share * 4 ? 'pass' : 'fail'), verdictOf('raw', { name: 'speed', score: speed })], {
          repeat: at + 1,
        }),
      ),
    );
  const shares = range(0, 24).map((at) => (at % 3) / 4 + 0.5);
  const found = experimentComparison(
    side('a', repeated(shares, 0.5)),
    side(
      'b',
      repeated(
        shares.map((share) => share - 0.5),
        0.6,
      ),
    ),
  );
  const of = (name: string) => found.evaluators.find((one) => one.name === name);
  expect(of('tool_error')).toMatchObject({ word: 'worse', test: 'sign_flip', difference: { point: expect.closeTo(-0.5, 9) as number } });
  expect(of('tool_error')?.repeats.first).toHaveLength(4);
  expect(of('tool_error')?.repeats.second[3]).toMatchObject({ k: 4, examples: 24, passHatK: 0 });
  expect(of('speed')).toMatchObject({ measure: 'mean', word: 'better', first: { point: expect.closeTo(0.5, 9) as number } });
});

test('experiment comparison: what keeps the two from being alike is said', () => {
  const [before, after] = [experimentOf(), experimentOf({ id: 'b', state: 'stopped' })];
  const found = experimentComparison(
    { experiment: before, results: [] },
    {
      experiment: {
        ...after,
        dataset: { name: 'refunds', version: 4, hash: 'def', examples: 2 },
        provenance: { configHash: 'c2' },
        evaluators: [{ name: 'tool_error', evaluator: 'tool_error', version: 2, threshold: 1 }],
      },
      results: [],
    },
  );
  expect(found.warnings).toEqual([
    'The datasets differ (refunds@3, then refunds@4): an example of one id may have another input or expectation.',
    'The configurations differ, so a difference may come from evaluators or judges.',
    'These evaluators have another version or threshold: tool_error.',
    'The experiment b is stopped: it may lack results.',
  ]);
});

test('experiment comparison: cost, tokens and duration are compared where both sides know them', () => {
  const taking = (cost: number) =>
    ids(25).map((id, at) =>
      resultOf(id, [verdictOf('pass')], { cost: cost + at / 1_000, inputTokens: 10, tookMicros: (at + 1) * 1_000_000 }),
    );
  const { usage } = experimentComparison(
    side('a', taking(1)),
    side(
      'b',
      taking(3).map((one, at) => (at === 0 ? { ...one, cost: 4 } : one)),
    ),
  );
  expect(usage.map(({ of, examples }) => [of, examples])).toEqual([
    ['cost', 25],
    ['tokens', 25],
    ['duration', 25],
  ]);
  expect(usage[0]?.difference).toMatchObject({ kind: 'estimated', point: expect.closeTo(2.04, 6) as number });
  expect(usage[1]?.difference).toMatchObject({ kind: 'not_estimable', reason: 'no_spread' });
});

test('experiment summary: counts, rate with interval, and what is unknown', () => {
  const found = experimentSummary(experimentOf(), [
    ...results(10, [0]),
    resultOf('other', [verdictOf('skipped')], { status: 'skipped', cost: 0.5 }),
    resultOf('crashed', [], { status: 'failed', error: { kind: 'no_spans', message: 'No span arrived.' } }),
  ]);
  expect(found).toMatchObject({
    statuses: { passed: 10, failed: 1, skipped: 1 },
    notCompleted: 1,
    cost: 0.5,
    withoutCost: 11,
    tokens: undefined,
  });
  expect(found.evaluators).toMatchObject([
    { name: 'completed', passed: 11, failed: 1 },
    { name: 'tool_error', passed: 9, failed: 1, skipped: 1, estimate: { point: 0.9 }, repeats: [] },
  ]);
});
