/** Python's notation of values, written by a small writer of our own and read back. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePythonLiteral, pythonLiteralCharsMax, pythonLiteralEnd, readQuoted } from '../../../collectors/parsing/python-literal.ts';
import type { JsonValue } from '../../../src/model/json.ts';
import { anyCharacter } from '../../builders/any-character.ts';

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.oneof(
      fc.constantFrom<JsonValue>(null, true, false),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n }),
      fc.string({ unit: anyCharacter }),
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('__proto__', 'constructor')), tie('value'), { maxKeys: 5 }),
  ),
}));

const read: readonly { readonly name: string; readonly text: string; readonly value: JsonValue | undefined }[] = [
  { name: 'a dict', text: "{'x': 1, 'ok': True, 'v': None, 'f': -1.5e3}", value: { x: 1, ok: true, v: null, f: -1500 } },
  { name: 'a tuple is a list', text: "('a', ('b',), ())", value: ['a', ['b'], []] },
  { name: 'a set is a list', text: "{'a', 'b'}", value: ['a', 'b'] },
  { name: 'an empty pair of braces is a dict', text: '{}', value: {} },
  { name: 'quotes of either kind', text: `["it's", 'say "hi"', 'it\\'s']`, value: ["it's", 'say "hi"', "it's"] },
  { name: 'escapes', text: "['\\n\\t\\\\\\x41\\u0141\\U0001f600\\q']", value: ['\n\t\\AŁ😀\\q'] },
  {
    name: 'keys that are not texts',
    text: "{1: 'a', None: 'b', (1, 2): 'c', 12345678901234567890: 'd'}",
    value: { 1: 'a', null: 'b', '[1,2]': 'c', '12345678901234567890': 'd' },
  },
  { name: 'a comma at the end', text: "{'a': [1, 2,],}", value: { a: [1, 2] } },
  { name: 'blanks and line ends', text: " {\n 'a' :\t1 } ", value: { a: 1 } },
  {
    name: 'integers beyond 2^53',
    text: '[1234567890123456789, -1234567890123456789, +1234567890123456789]',
    value: [1234567890123456789n, -1234567890123456789n, 1234567890123456789n],
  },
  { name: 'a plain text', text: 'hello', value: undefined },
  { name: 'a bare word', text: '[yes]', value: undefined },
  { name: 'a call', text: 'StopEvent(result=1)', value: undefined },
  { name: 'a dict with a set inside its braces', text: "{'a': 1, 'b'}", value: undefined },
  { name: 'quotes that are not closed', text: "['a", value: undefined },
  { name: 'something behind the end', text: '[1] x', value: undefined },
  { name: 'two values without a comma', text: '[1 2]', value: undefined },
  { name: 'a value that is missing', text: "{'a': }", value: undefined },
  { name: 'an escape that is not a character', text: "['\\UFFFFFFFF']", value: undefined },
  { name: 'an escape that is cut short', text: "['\\x4']", value: undefined },
  { name: 'an empty text', text: '', value: undefined },
];

/** Only work that grows with the length of the text comes to an end within the test's time limit. */
const large = 400_000;
const hostile: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'brackets', text: '['.repeat(large) },
  { name: 'brackets that are closed', text: `${'['.repeat(large)}${']'.repeat(large)}` },
  { name: 'quotes', text: `[${"'".repeat(large + 1)}` },
  { name: 'backslashes', text: `['${'\\'.repeat(large)}` },
  { name: 'one long number', text: `[${'1'.repeat(large)}]` },
  { name: 'one long number with an end that is none', text: `[${'1'.repeat(large)}x]` },
  { name: 'one long fraction', text: `[1.${'1'.repeat(large)}e]` },
  { name: 'one long word', text: `[${'a'.repeat(large)}]` },
  { name: 'blanks', text: `[${' '.repeat(large)}x` },
  { name: 'commas', text: `[${','.repeat(large)}]` },
  { name: 'keys without values', text: `{${"'a':".repeat(large)}` },
];

describe('python literal', () => {
  test('python literal: what is written in Python’s notation is read back', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(value), fc.dictionary(fc.string(), value)), fc.boolean(), (written, double) => {
        expect(parsePythonLiteral(python(written, double ? '"' : "'"))).toEqual(normal(written));
      }),
    );
  });

  for (const { name, text, value: wanted } of read) {
    test(`python literal: ${name} ${wanted === undefined ? 'is not read' : 'is read'}`, () => {
      expect(parsePythonLiteral(text)).toEqual(wanted);
    });
  }

  test('python literal: no text makes it throw, and a text cut short is not a value', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]():,\'"\\ \n1e.+-TrueNonFalsxu0a') }), (text) => void parsePythonLiteral(text)),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), fc.double({ min: 0, max: 0.99, noNaN: true }), (written, share) => {
        const whole = python(written, "'");
        expect(parsePythonLiteral(whole.slice(0, Math.floor(whole.length * share)))).toBeUndefined();
      }),
    );
  });

  for (const { name, text } of hostile)
    test(`python literal: ${large} characters of ${name} are looked at once`, () => expect(parsePythonLiteral(text)).toBeUndefined());

  test('python literal: a text beyond the limit is not read', () => {
    expect(parsePythonLiteral(`['${'a'.repeat(pythonLiteralCharsMax)}']`)).toBeUndefined();
  });

  test('python literal: a literal ends behind its last bracket, with any text in its quotes', () => {
    const ends: readonly (readonly [text: string, rest: string])[] = [
      ['[1, (2, {3})], raw=[4]', ', raw=[4]'],
      [`['a]', "b]", 'it\\'s ]'] x`, ' x'],
      ['[] []', ' []'],
      ["{'a': ')'})", ')'],
      ['[1, [2]', ''],
      ["['open]", ''],
    ];
    for (const [text, rest] of ends) expect(text.slice(pythonLiteralEnd(text, 0))).toBe(rest);
    expect(pythonLiteralEnd('messages=[1], x', 9)).toBe(12);
  });

  test('python literal: the end of a written value is found before any text', () => {
    fc.assert(
      fc.property(fc.array(value), fc.string(), (written, behind) => {
        const text = python(written, "'");
        expect(pythonLiteralEnd(`${text}${behind}`, 0)).toBe(text.length);
      }),
    );
  });

  test('python literal: the end of a quoted text is found', () => {
    expect(readQuoted("x='a\\'b', y", 2)).toEqual({ value: "a'b", end: 8 });
    expect(readQuoted("'open", 0)).toBeUndefined();
  });
});

function python(written: JsonValue, quote: string): string {
  if (written === null) return 'None';
  if (typeof written === 'boolean') return written ? 'True' : 'False';
  if (typeof written === 'string') return `${quote}${[...written].map((char) => escaped(char, quote)).join('')}${quote}`;
  if (Array.isArray(written)) return `[${written.map((item: JsonValue) => python(item, quote)).join(', ')}]`;
  if (typeof written === 'object')
    return `{${Object.entries(written)
      .map(([key, item]) => `${python(key, quote)}: ${python(item, quote)}`)
      .join(', ')}}`;
  if (Object.is(written, -0)) return '-0.0';
  // Python writes a whole float with its point.
  return typeof written === 'number' && !Number.isSafeInteger(written) && /^-?\d+$/.test(String(written))
    ? `${written}.0`
    : String(written);
}

function escaped(char: string, quote: string): string {
  if (char === quote || char === '\\') return `\\${char}`;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code % 3 === 0 && code > 0x7f)
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  return char;
}

/** A member `__proto__` of a literal is an own member after reading. */
function normal(written: JsonValue): JsonValue {
  if (Array.isArray(written)) return written.map((item: JsonValue) => normal(item));
  if (typeof written !== 'object' || written === null) return written;
  return Object.fromEntries(Object.entries(written).map(([key, item]) => [key, normal(item)]));
}
