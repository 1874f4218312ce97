/** The language of `dialects`: what it says, and what a person is answered who writes it wrong. */
import { expect, test } from 'vitest';
import { parseCondition, parseExpression } from '../../../collectors/configured/expression.ts';

const attribute = (key: string): object => ({ from: 'attribute', key });

const expressions: readonly (readonly [text: string, want: object | string])[] = [
  ['span.name', { place: { from: 'name' } }],
  ['none', { place: { from: 'nowhere' } }],
  ['attributes.none', { place: attribute('none') }],
  ['attributes.action', { place: attribute('action') }],
  ['attributes.a.b (c)', { place: attribute('a.b (c)') }],
  ['json(attributes.payload)', { place: attribute('payload'), path: [] }],
  ['json( attributes.pay(load)x ).calls[0].args', { place: attribute('pay(load)x'), path: ['calls', 0, 'args'] }],
  ['json(span.name).a', { place: { from: 'name' }, path: ['a'] }],
  ['', 'is empty > Write attributes.KEY, json(attributes.KEY).member or span.name.'],
  ['action', '"action" is no value > Did you mean attributes.action?'],
  ['attribute.action', '"attribute.action" is no value > Did you mean attributes.action?'],
  ['attributes.', 'names no attribute > Write its key behind attributes.'],
  ['span.nam', '"span.nam" is no value > Did you mean span.name?'],
  ['JSON(attributes.a)', '"JSON" is no function > Did you mean json?'],
  ['eval(attributes.a)', '"eval" is no function > Write attributes.KEY, json(attributes.KEY).member or span.name.'],
  ['json(attributes.a', 'has no ) that closes json( > Write json(attributes.KEY).member, or json(attributes.KEY) for the whole.'],
  ['json(attributes.a).b c', '" c" names no member > Write .name for a member of an object and [0] for an item of a list.'],
  ['json(attributes.a)[x]', '"[x]" names no member > Write .name for a member of an object and [0] for an item of a list.'],
  [`json(attributes.a)${'.b'.repeat(17)}`, 'goes too deep > Name at most 16 members.'],
  [`attributes.${'a'.repeat(500)}`, 'is too long > Keep it within 500 characters.'],
];
for (const [text, want] of expressions)
  test(`expression: ${text.slice(0, 60)}`, () => {
    expect(told(parseExpression(text))).toEqual(want);
  });

const conditions: readonly (readonly [text: string, want: object | string])[] = [
  ["kind = 'ACTION'", { is: 'equal', place: attribute('kind'), text: 'ACTION' }],
  ['attributes.acme.kind != "LLM"', { is: 'different', place: attribute('acme.kind'), text: 'LLM' }],
  ["span.name='it''s'", { is: 'equal', place: { from: 'name' }, text: "it's" }],
  ["kind = ''", { is: 'equal', place: attribute('kind'), text: '' }],
  ['exists(tool.name)', { is: 'there', key: 'tool.name' }],
  ['', "is empty > Write a comparison such as kind = 'TOOL' or kind != 'TOOL', or exists(KEY)."],
  ['kind', "\"kind\" compares nothing > Write a comparison such as kind = 'TOOL' or kind != 'TOOL', or exists(KEY)."],
  ['kind = ACTION', '"ACTION" is no text in quotes > Write kind = \'ACTION\'.'],
  ["kind = 'it's'", "\"'it's'\" is no text in quotes > Write kind = 'its'."],
  ["kind == 'ACTION'", '== is no comparison > Write = for equal and != for different.'],
  ['exist(kind)', '"exist" is no function > Did you mean exists(KEY)?'],
];
for (const [text, want] of conditions)
  test(`condition: ${text}`, () => {
    expect(told(parseCondition(text))).toEqual(want);
  });

function told(parsed: ReturnType<typeof parseExpression> | ReturnType<typeof parseCondition>): unknown {
  return parsed.kind === 'parsed' ? parsed.result : `${parsed.problem} > ${parsed.todo}`;
}
