/** JSON within a number of bytes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JsonValue, parseJson } from '../../../src/model/json.ts';
import { boundedText } from '../../../src/web/mcp/bounded-text.ts';
import { propertyRuns } from '../../builders/property-runs.ts';

test('bounded text: a value that fits is whole', () => {
  const value = { a: [1, 'ä', null, true], b: { c: 12345678901234567890n } };
  const { text, isCut, bytes } = boundedText(value, 1_000);
  expect([parseJson(text), isCut, bytes]).toEqual([value, false, Buffer.byteLength(text)]);
});

test.each<readonly [string, JsonValue, string]>([
  ['a long text', { id: 7, text: 'x'.repeat(100_000) }, 'more characters'],
  ['a long list', { id: 7, list: Array.from({ length: 100_000 }, (_, at) => at) }, 'more entries'],
  ['many members', Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`m${at}`, at])), 'more members'],
])('bounded text: %s is cut, and the place of the cut states how much is left out', (_name, value, note) => {
  const { text, isCut, bytes } = boundedText(value, 1_000);
  expect(bytes).toBeLessThanOrEqual(1_000);
  expect(isCut).toBe(true);
  expect(text).toContain(note);
  expect(parseJson(text)).toBeDefined();
});

test('bounded text: the middle of a long code is left out, also where there is room', () => {
  const { text, isCut } = boundedText({ image: `see ${'iVBORw0KGgo'.repeat(100)} there` }, 10_000);
  expect(isCut).toBe(true);
  expect(text).toMatch(/^\{"image":"see iVBORw0K\w+… \[1040 more characters\] there"\}$/);
});

test('bounded text: hidden characters are written out', () => {
  expect(boundedText('a\u200bb\u202ec\u{e0041}d\u2028', 100).text).toBe('"a<U+200B>b<U+202E>c<U+E0041>d<U+2028>"');
});

test('bounded text: any value is JSON within its bytes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 40, max: 400 }), (value, bytesMax) => {
      const { text, bytes } = boundedText(value as JsonValue, bytesMax);
      return bytes <= bytesMax && bytes === Buffer.byteLength(text) && parseJson(text) !== undefined;
    }),
    { numRuns: propertyRuns({ short: 200, long: 5_000 }) },
  );
});
