import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonText, parseJson } from '../../src/model/json.ts';
import type { JsonValue } from '../../src/model/json.ts';

const long = 1234567890123456789n;
const rows: readonly { readonly name: string; readonly value: JsonValue; readonly text: string; readonly sorted?: string }[] = [
  {
    name: 'members in their order',
    value: { b: 1, a: [true, null, 'x"\n'] },
    text: '{"b":1,"a":[true,null,"x\\"\\n"]}',
    sorted: '{"a":[true,null,"x\\"\\n"],"b":1}',
  },
  {
    name: 'long whole numbers, anywhere',
    value: { z: long, a: [long, { b: 1, a: -long }] },
    text: `{"z":${long},"a":[${long},{"b":1,"a":-${long}}]}`,
    sorted: `{"a":[${long},{"a":-${long},"b":1}],"z":${long}}`,
  },
  { name: 'only a long whole number', value: long, text: String(long) },
  { name: 'a value that is not a JSON number', value: [Number.NaN, Number.POSITIVE_INFINITY, -0], text: '[null,null,0]' },
  { name: 'a member called toJSON', value: { toJSON: 'x' }, text: '{"toJSON":"x"}' },
  { name: 'half a surrogate pair', value: '\ud800', text: '"\\ud800"' },
];
for (const { name, value, text, sorted = text } of rows) {
  test(`json text: ${name}`, () => {
    expect([jsonText(value), jsonText(value, { sortKeys: true })]).toEqual([text, sorted]);
  });
}

test('json text: one long whole number changes nothing of how the rest is written', () => {
  const json = fc.jsonValue({ maxDepth: 4 }).map((value) => value as JsonValue);
  fc.assert(fc.property(json, (value) => jsonText([value, long]) === `[${jsonText(value)},${long}]`));
  fc.assert(
    fc.property(json, (value) => jsonText(parseJson(jsonText(value)) ?? null, { sortKeys: true }) === jsonText(value, { sortKeys: true })),
  );
});
