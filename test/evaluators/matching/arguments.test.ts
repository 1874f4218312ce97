import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  argumentDefaults,
  argumentDifference,
  argumentRule,
  argumentsAgree,
  argumentsMatch,
  preparedArguments,
} from '../../../evaluators/matching/arguments.ts';
import type { ArgumentMode, ArgumentRule } from '../../../evaluators/matching/arguments.ts';
import type { JsonObject } from '../../../src/model/json.ts';

const small = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor'), fc.integer({ min: 0, max: 2 }), { maxKeys: 3 });
const ruleOf = (mode: ArgumentMode): ArgumentRule => ({ ...argumentDefaults, mode });
const matches = (expected: JsonObject | null, actual: JsonObject | null, rule: ArgumentRule): boolean =>
  argumentsMatch(preparedArguments(expected, rule), preparedArguments(actual, rule), rule);

test('arguments: subset is superset with the sides changed', () => {
  fc.assert(fc.property(small, small, (a, b) => matches(a, b, ruleOf('subset')) === matches(b, a, ruleOf('superset'))));
});

test('arguments: exact is subset and superset at once', () => {
  fc.assert(
    fc.property(
      small,
      small,
      (a, b) => matches(a, b, ruleOf('exact')) === (matches(a, b, ruleOf('subset')) && matches(a, b, ruleOf('superset'))),
    ),
  );
});

test('arguments: what matches exactly matches in every mode', () => {
  const modes: readonly ArgumentMode[] = ['subset', 'superset', 'ignore'];
  fc.assert(fc.property(small, small, (a, b) => !matches(a, b, ruleOf('exact')) || modes.every((mode) => matches(a, b, ruleOf(mode)))));
});

test('arguments: a difference is reported if and only if they do not match', () => {
  fc.assert(
    fc.property(small, small, fc.constantFrom<ArgumentMode>('exact', 'subset', 'superset', 'ignore'), (a, b, mode) => {
      const rule = ruleOf(mode);
      return (argumentDifference(preparedArguments(a, rule), preparedArguments(b, rule), rule) === undefined) === matches(a, b, rule);
    }),
  );
});

const leaf = fc.constantFrom(1, 1n, 2, true, null, 'x', ' x ', 'X', '');
const nested = fc.dictionary(
  fc.constantFrom('a', 'b', 'constructor'),
  fc.oneof(leaf, fc.dictionary(fc.constantFrom('a', 'b'), leaf, { maxKeys: 2 }), fc.array(leaf, { maxLength: 2 })),
  { maxKeys: 3 },
);
const anyRule = fc
  .record({
    mode: fc.constantFrom<ArgumentMode>('exact', 'subset', 'superset', 'ignore'),
    trimStrings: fc.boolean(),
    caseInsensitive: fc.boolean(),
    fields: fc.option(fc.subarray(['a', 'b', 'a.b', 'c'], { minLength: 1 }), { nil: undefined }),
  })
  .map(({ fields, ...rule }): ArgumentRule => (fields === undefined ? rule : { ...rule, fields }));

test('arguments: compared at once or written out before, the answer is the same', () => {
  fc.assert(
    fc.property(fc.option(nested), fc.option(nested), anyRule, (a, b, rule) => argumentsAgree(a, b, rule) === matches(a, b, rule)),
    { numRuns: 1_000 },
  );
});

const rows = [
  {
    name: 'nested objects are compared whole in every mode',
    expected: { o: { a: 1 } },
    actual: { o: { a: 1, b: 2 } },
    mode: 'subset',
    want: false,
  },
  { name: 'arguments that are not an object match an empty expectation in subset', expected: {}, actual: null, mode: 'subset', want: true },
  { name: 'arguments that are not an object are not the empty ones', expected: {}, actual: null, mode: 'exact', want: false },
  {
    name: 'arguments that are not an object match where arguments are ignored',
    expected: { a: 1 },
    actual: null,
    mode: 'ignore',
    want: true,
  },
] as const;
for (const { name, expected, actual, mode, want } of rows) {
  test(`arguments: ${name}`, () => {
    expect(matches(expected, actual, ruleOf(mode))).toBe(want);
  });
}

test('arguments: the override of a tool wins, and an inherited name is none', () => {
  const options = { ...argumentDefaults, overrides: { book: 'ignore', find: { trimStrings: true } } } as const;
  expect([
    argumentRule(options, 'book').mode,
    argumentRule(options, 'find').trimStrings,
    argumentRule(options, 'constructor').mode,
  ]).toEqual(['ignore', true, 'exact']);
});
