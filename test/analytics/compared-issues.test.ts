/** The issues that an experiment closes and opens against another one. */
import { describe, expect, test } from 'vitest';
import { experimentComparison } from '../../src/analytics/experiment-comparison.ts';
import { comparisonHtml } from '../../src/analytics/reports/comparison-html.ts';
import { comparisonMarkdown, comparisonTable } from '../../src/analytics/reports/comparison-text.ts';
import type { ExperimentResult, ResultVerdict } from '../../src/model/experiment.ts';
import { experimentOf, resultOf, verdictOf } from '../builders/experiment.ts';

const failed = (...signatures: readonly string[]): ResultVerdict =>
  verdictOf('fail', { faults: signatures.map((signature) => ({ tool: 'book', signature })) });
const pass = verdictOf('pass');

function compared(first: readonly ExperimentResult[], second: readonly ExperimentResult[]) {
  return experimentComparison(
    { experiment: experimentOf({ id: 'a' }), results: first },
    { experiment: experimentOf({ id: 'b' }), results: second },
  );
}

const cases: readonly {
  readonly name: string;
  /** Verdicts on each example. */
  readonly first: readonly (readonly ResultVerdict[])[];
  readonly second: readonly (readonly ResultVerdict[])[];
  readonly closed: readonly string[];
  readonly opened: readonly string[];
}[] = [
  { name: 'a fixed failure is closed', first: [[failed('timeout')]], second: [[pass]], closed: ['timeout'], opened: [] },
  { name: 'a new failure is opened', first: [[pass]], second: [[failed('timeout')]], closed: [], opened: ['timeout'] },
  { name: 'one failure may give way to another', first: [[failed('a')]], second: [[failed('b')]], closed: ['a'], opened: ['b'] },
  { name: 'a failure of both is neither', first: [[failed('a')], [pass]], second: [[pass], [failed('a')]], closed: [], opened: [] },
  { name: 'a run without a verdict closes nothing', first: [[failed('a')]], second: [[]], closed: [], opened: [] },
  { name: 'a skipped verdict closes nothing', first: [[failed('a')]], second: [[verdictOf('skipped')]], closed: [], opened: [] },
  {
    name: 'a failure is closed when all of its examples have a verdict',
    first: [[failed('a')], [failed('a', 'b')]],
    second: [[pass], [verdictOf('error')]],
    closed: [],
    opened: [],
  },
  { name: 'a failure where the other one has no verdict is not opened', first: [[]], second: [[failed('a')]], closed: [], opened: [] },
];

describe('compared issues', () => {
  test.each(cases)('$name', ({ first, second, closed, opened }) => {
    const results = (all: readonly (readonly ResultVerdict[])[]): readonly ExperimentResult[] =>
      all.map((verdicts, at) => resultOf(`example ${at}`, verdicts));
    const { issues } = compared(results(first), results(second));
    expect(issues?.closed.map(({ signature }) => signature)).toEqual(closed);
    expect(issues?.opened.map(({ signature }) => signature)).toEqual(opened);
  });

  test('results without signatures have no comparison of issues', () => {
    expect(compared([resultOf('one', [verdictOf('fail')])], [resultOf('one', [pass])]).issues).toBeUndefined();
  });

  test('reports list them in a line each', () => {
    const comparison = compared(
      [resultOf('one', [failed('a|b')]), resultOf('two', [pass])],
      [resultOf('one', [pass]), resultOf('two', [failed('c')])],
    );
    expect(comparisonTable(comparison)).toMatch(/^opened {2}tool_error {2}book: c {4}1\nclosed {2}tool_error {2}book: a\|b {2}1$/m);
    expect(comparisonMarkdown(comparison)).toContain('| closed | tool\\_error | book: a\\|b | 1 |');
    expect(comparisonHtml(comparison)).toContain('book: a|b');
  });
});
