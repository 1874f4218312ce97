import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonText, parseJson, type JsonValue } from '../../src/model/json.ts';
import { notSearched, search, type Search } from '../../src/redaction/search.ts';
import { redactionRules, type RedactionSettings } from '../../src/redaction/settings.ts';
import { cpuSeconds } from '../builders/cpu-seconds.ts';
import { propertyRuns } from '../builders/property-runs.ts';

const ready: readonly RedactionSettings[] = [
  { match: 'email', replace: '[email]' },
  { match: 'credit_card', replace: '[card]' },
  { pattern: 'acct-[0-9]+', replace: 'acct-…', place: 2 },
];

function searching(settings: readonly RedactionSettings[], charsMax?: number): Search & { readonly counted: string[] } {
  const counted: string[] = [];
  return {
    ...search({
      rules: redactionRules(settings),
      onRedacted: (rule) => counted.push(rule),
      ...(charsMax === undefined ? {} : { charsMax }),
    }),
    counted,
  };
}

function own(...patterns: readonly (readonly [pattern: string, replace: string])[]): readonly RedactionSettings[] {
  return patterns.map(([pattern, replace], place) => ({ pattern, replace, place }));
}

const texts: readonly {
  readonly name: string;
  readonly rules: readonly RedactionSettings[];
  readonly text: string;
  readonly want: string;
  readonly counted: readonly string[];
}[] = [
  {
    name: 'a text without a match stays unchanged',
    rules: ready,
    text: '{ "a": 1.0,  "b": "x" }',
    want: '{ "a": 1.0,  "b": "x" }',
    counted: [],
  },
  {
    name: 'each rule has its own words',
    rules: ready,
    text: 'anna@example.com paid acct-17 with 4111 1111 1111 1111',
    want: '[email] paid acct-… with [card]',
    counted: ['email', 'redact[2]', 'credit_card'],
  },
  {
    name: 'overlapping matches all go, and the first rule of the list decides the replacement',
    rules: own(['b+c', '<one>'], ['ab+', '<two>']),
    text: 'xabbcx',
    want: 'x<one>x',
    counted: ['redact[0]'],
  },
  {
    name: 'the same in the other order',
    rules: own(['ab+', '<two>'], ['b+c', '<one>']),
    text: 'xabbcx',
    want: 'x<two>x',
    counted: ['redact[0]'],
  },
  {
    name: 'a rule sees what an earlier one matches, not its replacement',
    rules: [{ match: 'email', replace: 'X' }, ...own(['to .* now', 'Y'])],
    text: 'mail to anna@example.com now',
    want: 'mail X',
    counted: ['email'],
  },
  {
    name: 'what matches only once something is taken away goes as well',
    rules: own(['-', ''], ['secret', 'S']),
    text: 'sec-ret',
    want: 'S',
    counted: ['redact[0]', 'redact[1]'],
  },
  { name: 'empty matches take nothing away', rules: own(['x*', '.']), text: 'axxb', want: 'a.b', counted: ['redact[0]'] },
  {
    name: 'values within a JSON text, which stays one',
    rules: ready,
    text: '{"to":"anna\\u0040example.com","card":4111111111111111,"n":1}',
    want: '{"to":"[email]","card":"[card]","n":1}',
    counted: ['email', 'credit_card'],
  },
  {
    name: 'a JSON text within a JSON text',
    rules: ready,
    text: '{"body":"{\\"card\\":4111111111111111}"}',
    want: '{"body":"{\\"card\\":\\"[card]\\"}"}',
    counted: ['credit_card'],
  },
  {
    name: 'a JSON text that is cut short is a text like others',
    rules: ready,
    text: '{"to":"anna@example.com","bo',
    want: '{"to":"[email]","bo',
    counted: ['email'],
  },
  {
    name: 'a match of a pattern between the values of a JSON text goes, even if the text is not JSON any more',
    rules: own(['"pin":[0-9]+', 'PIN']),
    text: '{"a":1,"pin":1234}',
    want: '{"a":1,PIN}',
    counted: ['redact[0]'],
  },
];

for (const { name, rules, text, want, counted } of texts) {
  test(`search: ${name}`, () => {
    const one = searching(rules);
    expect([one.text(text), one.counted]).toEqual([want, counted]);
  });
}

const values: readonly { readonly name: string; readonly value: JsonValue; readonly want: JsonValue }[] = [
  { name: 'texts at any depth', value: { a: [{ b: 'acct-1' }, null, true] }, want: { a: [{ b: 'acct-…' }, null, true] } },
  {
    name: 'a number becomes a text',
    value: [4111111111111111, 4111111111111112, 6304000000000000000n],
    want: ['[card]', 4111111111111112, '[card]'],
  },
  { name: 'names of members', value: { 'anna@example.com': 1, b: 2 }, want: { '[email]': 1, b: 2 } },
  {
    name: 'names that have become the same are counted',
    value: { 'a@example.com': 1, 'b@example.com': 2, '[email] (2)': 3, 'c@example.com': 4 },
    want: { '[email]': 1, '[email] (3)': 2, '[email] (2)': 3, '[email] (4)': 4 },
  },
  {
    name: 'a member called __proto__ is a member',
    value: parseJson('{"__proto__":{"a":"acct-1"}}') ?? null,
    want: parseJson('{"__proto__":{"a":"acct-…"}}') ?? null,
  },
];

for (const { name, value, want } of values)
  test(`search: ${name}`, () => expect(jsonText(searching(ready).json(value))).toBe(jsonText(want)));

test('search: a value in which nothing is matched is handed on unchanged', () => {
  const value = { a: [{ b: 'x' }], c: 1 };
  expect(searching(ready).json(value)).toBe(value);
});

test('search: beyond its bound texts are not let through, they are taken away whole, and that is counted', () => {
  const one = searching([{ match: 'email', replace: '[email]' }], 100);
  expect([one.text('a'.repeat(80)), one.text('b'.repeat(80)), one.json({ deep: ['c'] })]).toEqual([
    'a'.repeat(80),
    notSearched,
    { [notSearched]: [notSearched] },
  ]);
  expect(one.counted).toEqual(['not_searched', 'not_searched', 'not_searched']);
});

test('search: a pattern that has to look to the end for each match ends at the bound', () => {
  const one = searching(own(['x.*y|x', '.']), 1_000_000);
  expect(cpuSeconds(() => expect(one.text('x'.repeat(100_000))).toBe(notSearched))).toBeLessThan(20);
});

test('search: values nested deeper than any that is read are taken away', () => {
  let value: JsonValue = 'acct-1';
  for (let depth = 0; depth < 10_000; depth++) value = [value];
  expect(jsonText(searching(ready).json(value))).not.toContain('acct-1');
});

const piece = fc.oneof(
  fc.constantFrom(
    'anna@example.com',
    '4111 1111 1111 1111',
    'acct-12',
    'acct-',
    '[card]',
    '[email]',
    notSearched,
    '@',
    '.com',
    '4111',
    '1111',
    '"',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '\\u0040',
    ' ',
    '😀',
  ),
  fc.string({ maxLength: 6 }),
);
const anyText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const anyJson = fc
  .jsonValue({ maxDepth: 4 })
  .chain((value) => fc.tuple(fc.constant(value), anyText, anyText))
  .map(([value, name, text]) => ({ value, [name]: [text, { text, n: 4111111111111111 }] }) as JsonValue);

function leavesOf(value: JsonValue): readonly string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value as { readonly [name: string]: JsonValue }).flatMap(([name, item]) => [name, ...leavesOf(item)]);
  return [String(value)];
}

test('search: no rule matches anything in what comes out, and a second search changes nothing', () => {
  const rules = redactionRules(ready);
  fc.assert(
    fc.property(anyText, (text) => {
      const out = searching(ready).text(text);
      expect(rules.flatMap(({ parts }) => parts(out, () => true))).toEqual([]);
      const again = searching(ready);
      expect([again.text(out), again.counted]).toEqual([out, []]);
    }),
    { numRuns: propertyRuns({ short: 80, long: 500 }) },
  );
});

test('search: the same holds for every text, number and name of a JSON value, as a value and as a text, and no member is lost', () => {
  const rules = redactionRules(ready);
  fc.assert(
    fc.property(anyJson, (value) => {
      const out = searching(ready).json(value);
      const text = searching(ready).text(jsonText(value));
      for (const leaves of [leavesOf(out), leavesOf(parseJson(text) ?? '')])
        expect(leaves.flatMap((leaf) => rules.flatMap(({ parts }) => parts(leaf, () => true)))).toEqual([]);
      expect(parseJson(text)).toBeDefined();
      expect(leavesOf(out)).toHaveLength(leavesOf(value).length);
      expect(searching(ready).json(out)).toBe(out);
    }),
    { numRuns: propertyRuns({ short: 50, long: 300 }) },
  );
});
