/** The depth of a JSON text is found without being misled by its texts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonDepthMax, parseJson, type JsonValue } from '../../src/model/json.ts';

const nested = (depth: number, inside: string): string => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;
const filler = JSON.stringify('x'.repeat(jsonDepthMax));

const cases = [
  { name: 'as deep as allowed', text: nested(jsonDepthMax, filler), read: true },
  { name: 'one deeper', text: nested(jsonDepthMax + 1, filler), read: false },
  { name: 'brackets in a text do not count', text: nested(1, JSON.stringify('[{'.repeat(500))), read: true },
  { name: 'brackets behind an escaped quote are still in the text', text: nested(1, JSON.stringify(`"${'['.repeat(500)}`)), read: true },
  { name: 'a text that ends in a backslash ends there', text: `[${JSON.stringify('\\')},${nested(jsonDepthMax, filler)}]`, read: false },
  { name: 'a text without an end', text: `["${'['.repeat(500)}`, read: false },
] as const;

for (const { name, text, read } of cases) {
  test(`json: ${name}`, () => {
    expect(parseJson(text) !== undefined).toBe(read);
  });
}

test('json: any text that is not too deep is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: fc.constantFrom('"', '\\', '[', '{', 'a', 'é') }), (value) => {
      // Long numbers are read exactly, which is another matter.
      const text = JSON.stringify([value, 'x'.repeat(jsonDepthMax)], (_key, one: unknown) => (typeof one === 'number' ? 1 : one));
      expect(parseJson(text)).toEqual(JSON.parse(text) as JsonValue);
    }),
  );
});
