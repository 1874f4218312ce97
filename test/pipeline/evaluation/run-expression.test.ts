import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  evaluatorsIn,
  expressionCharsMax,
  expressionDepthMax,
  parseRunExpression,
  type ExpressionNames,
  type RunExpression,
} from '../../../src/pipeline/evaluation/run-expression.ts';

const names: ExpressionNames = { evaluators: ['tool_error', 'goal', 'goal.confidence', 'agent', 'booking.v2'], judged: ['goal'] };

function parsed(text: string, known: ExpressionNames | undefined = names): RunExpression {
  const result = parseRunExpression(text, known);
  if (result.kind === 'faulty') throw new Error(result.faults.map(({ column, problem }) => `${column}: ${problem}`).join('; '));
  return result.expression;
}

const score = (evaluator: string, sign: '<' | '=' = '<', value = 1) => ({
  kind: 'number',
  place: { part: 'score', evaluator },
  sign,
  value,
});
const field = (name: string, text: string, sign = '=') => ({ kind: 'text', place: { part: 'field', field: name }, sign, text });

const right: readonly (readonly [text: string, want: unknown])[] = [
  ['tool_error < 1', score('tool_error')],
  ['tool_error<1', score('tool_error')],
  ['  tool_error.score = .5  ', score('tool_error', '=', 0.5)],
  ['booking.v2 < 1', score('booking.v2')],
  ['judge.confidence < 0.6', { kind: 'number', place: { part: 'lowest_confidence' }, sign: '<', value: 0.6 }],
  // The whole name of an evaluator comes first.
  ['goal.confidence < 0.6', { kind: 'number', place: { part: 'score', evaluator: 'goal.confidence' }, sign: '<', value: 0.6 }],
  ['goal.verdict != skipped', { kind: 'text', place: { part: 'verdict', evaluator: 'goal' }, sign: '!=', text: 'skipped' }],
  ["goal.label = 'very good'", { kind: 'text', place: { part: 'label', evaluator: 'goal' }, sign: '=', text: 'very good' }],
  // A name that is both: what it is compared with decides.
  ['agent = support', field('agent', 'support')],
  ['agent < 1', score('agent')],
  ["agent = '1'", field('agent', '1')],
  ['version = 2', field('version', '2')],
  ["input = 'it''s \"late\"'", field('input', 'it\'s "late"')],
  ['input = "say ""no"""', field('input', 'say "no"')],
  ['model != openai/gpt-5-mini', field('model', 'openai/gpt-5-mini', '!=')],
  [
    'attributes.deployment.environment.name = prod',
    { kind: 'text', place: { part: 'attribute', key: 'deployment.environment.name' }, sign: '=', text: 'prod' },
  ],
  ["agent = 'and'", field('agent', 'and')],
  [
    'agent = a and tool_error < 1 or tool = b',
    { kind: 'or', terms: [{ kind: 'and', terms: [field('agent', 'a'), score('tool_error')] }, field('tool', 'b')] },
  ],
  [
    'agent = a AND (tool_error < 1 Or tool = b)',
    { kind: 'and', terms: [field('agent', 'a'), { kind: 'or', terms: [score('tool_error'), field('tool', 'b')] }] },
  ],
  ['not not (tool_error < 1)', { kind: 'not', term: { kind: 'not', term: score('tool_error') } }],
  ['not tool_error < 1 and tool = b', { kind: 'and', terms: [{ kind: 'not', term: score('tool_error') }, field('tool', 'b')] }],
];

for (const [text, want] of right) test(`expression: reads ${text}`, () => expect(parsed(text)).toEqual(want));

const wrong: readonly (readonly [text: string, column: number, problem: string | RegExp, todo: string | RegExp])[] = [
  ['', 1, 'is empty', /such as tool_error < 1/],
  ['   ', 4, 'is empty', /such as/],
  ['tool_error', 1, '"tool_error" is compared with nothing', /such as/],
  ['tool_error is bad', 12, '"is" is not a comparison of tool_error', /< <= > >= = and !=/],
  ['tool_error == 1', 12, '"==" is not a comparison of tool_error', 'Write =.'],
  ['tool_error <> 1', 12, '"<>" is not a comparison of tool_error', 'Write !=.'],
  ['tool_error <', 12, '"<" has nothing to compare with at its right', /such as/],
  ['tool_error < 10', 14, '"10" is not a score', 'Write a number from 0 to 1: tool_error < 1.'],
  ['tool_error < -1', 14, '"-1" is not a score', /0 to 1/],
  ["tool_error < '1'", 14, '"1" is not a score', /0 to 1/],
  ['tool_error = fail', 14, '"fail" is not a score', 'Write tool_error.verdict = fail.'],
  ['judge.confidence < high', 20, '"high" is not a confidence', 'Write a number from 0 to 1: judge.confidence < 0.6.'],
  ['tool_eror < 1', 1, 'tool_eror is not an evaluator of this file', 'Did you mean tool_error?'],
  ['agnet = support', 1, 'agnet is not an evaluator of this file', 'Did you mean agent?'],
  ['gaol.verdict = fail', 1, 'gaol is not an evaluator of this file', 'Did you mean goal.verdict?'],
  ['nothing_like_it < 1', 1, 'nothing_like_it is not an evaluator of this file', /Add it under evaluators/],
  ['tool_error.confidence < 1', 1, 'tool_error asks no judge, so its verdicts have no confidence', /tool_error\.verdict/],
  ['goal.verdict = failed', 16, '"failed" is not a verdict', 'Did you mean fail?'],
  ['goal.verdict < pass', 14, '< compares numbers, and goal.verdict is a text', 'Write = or !=.'],
  ['version > 2', 9, '> compares numbers, and version is a text', 'Write = or !=.'],
  ['tool_error < 1 and', 19, 'a comparison is missing at the end', /such as/],
  ['and tool_error < 1', 1, '"and" is found where a name is expected', /such as/],
  ['tool_error < 1 && goal < 1', 16, '"&&" follows a whole condition', 'Write and.'],
  ['tool_error < 1, goal < 1', 15, '"," follows a whole condition', /and, or and parentheses/],
  ['tool_error < 1 goal < 1', 16, '"goal" follows a whole condition', /and, or and parentheses/],
  ['agent = travel agent', 16, '"agent" follows a whole condition', /in quotes: 'travel agent'/],
  ['(tool_error < 1', 1, '"(" has no ) that closes it', /parenthesis/],
  ['tool_error < 1)', 15, '")" closes nothing', /parentheses/],
  ['()', 2, '")" is found where a name is expected', /such as/],
  ['!tool_error < 1', 1, '"!" is not a sign', 'Write not.'],
  ["agent = 'support", 9, '"\'support" has no quote that closes it', 'Add the quote.'],
  ["'agent' = support", 1, '"agent" is found where a name is expected', /such as/],
  ['agent = (support)', 9, '"(" stands where a value is expected', /such as/],
  [`tool_error < 1${' '.repeat(expressionCharsMax)}`, expressionCharsMax + 1, 'is too long', /500 characters/],
  [`${'('.repeat(expressionDepthMax + 1)}tool_error < 1`, expressionDepthMax + 2, /lies too deep/, /at most 16/],
];

for (const [text, column, problem, todo] of wrong)
  test(`expression: refuses ${text.slice(0, 40)}`, () => {
    const result = parseRunExpression(text, names);
    expect(result).toEqual({
      kind: 'faulty',
      faults: [
        {
          column,
          problem: typeof problem === 'string' ? problem : expect.stringMatching(problem),
          todo: typeof todo === 'string' ? todo : expect.stringMatching(todo),
        },
      ],
    });
  });

test('expression: all faulty names and values are reported at once', () => {
  const result = parseRunExpression('tool_eror < 1 or (agnet = a and goal < 2)', names);
  expect(result.kind === 'faulty' && result.faults.map(({ column, todo }) => [column, todo])).toEqual([
    [1, 'Did you mean tool_error?'],
    [19, 'Did you mean agent?'],
    [40, 'Write a number from 0 to 1: goal < 1.'],
  ]);
});

test('expression: an evaluator whose verdict comes too late is refused with the reason', () => {
  const result = parseRunExpression('goal < 1', {
    evaluators: ['tool_error'],
    judged: [],
    noun: 'a rule of this file',
    late: { names: ['goal'], why: 'Wait.' },
  });
  expect(result).toEqual({ kind: 'faulty', faults: [{ column: 1, problem: 'goal is not a rule of this file', todo: 'Wait.' }] });
});

const lowest: readonly (readonly [known: ExpressionNames, problem: string])[] = [
  [{ evaluators: ['tool_error'], judged: [] }, 'no evaluator of this file asks a judge'],
  [{ evaluators: [], judged: [], late: { names: ['goal'], why: 'Wait.' } }, 'judge.confidence is not known here'],
  [{ evaluators: ['judge'], judged: ['judge'] }, 'judge.confidence may be that of all judges or of the evaluator named judge'],
];

for (const [known, problem] of lowest)
  test(`expression: refuses the lowest confidence where ${problem}`, () => {
    const result = parseRunExpression('judge.confidence < 0.6', known);
    expect(result.kind === 'faulty' && result.faults.map((fault) => fault.problem)).toEqual([problem]);
  });

test('expression: without a list of names every name is right, and a part is read behind the last dot', () => {
  expect(parseRunExpression('any.name.confidence >= 0.6 or any.name < 1')).toEqual({
    kind: 'parsed',
    expression: {
      kind: 'or',
      terms: [
        { kind: 'number', place: { part: 'confidence', evaluator: 'any.name' }, sign: '>=', value: 0.6 },
        { kind: 'number', place: { part: 'score', evaluator: 'any.name' }, sign: '<', value: 1 },
      ],
    },
  });
});

test('expression: lists the verdicts that it looks at', () => {
  expect(evaluatorsIn(parsed('not (tool_error < 1 and goal.label = x) or agent = a'))).toEqual({
    names: ['tool_error', 'goal'],
    judges: false,
  });
  expect(evaluatorsIn(parsed('agent = a or judge.confidence < 0.6'))).toEqual({ names: [], judges: true });
});

/** Texts of the language and of its tokens in any order. */
const piece = fc.constantFrom(
  'tool_error',
  'goal',
  'agent',
  'and',
  'or',
  'not',
  '(',
  ')',
  '<',
  '=',
  '!=',
  '1',
  '0.5',
  "'a b'",
  "'",
  '"',
  'judge.confidence',
  ' ',
);

test('expression: any text is read or refused within its bounds, with a column inside it', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece, { maxLength: 40 }).map((all) => all.join(' ')),
        fc.string({ maxLength: 600, unit: 'grapheme' }),
      ),
      (text) => {
        const result = parseRunExpression(text, names);
        if (result.kind === 'parsed') return;
        expect(result.faults.length).toBeGreaterThan(0);
        for (const { column, problem, todo } of result.faults) {
          expect(column).toBeGreaterThanOrEqual(1);
          expect(column).toBeLessThanOrEqual(text.length + 1);
          expect(problem === '' || todo === '').toBe(false);
        }
      },
    ),
    { numRuns: 300 },
  );
});
