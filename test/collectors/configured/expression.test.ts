/** The language of `dialects`: its meaning, and the answers to a person who writes it wrong. */
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
  ["events['tool.end'].attributes.tool.result", { place: { from: 'attribute', key: 'tool.result', event: 'tool.end' } }],
  [`json(events["tool.end"].attributes.x).a`, { place: { from: 'attribute', key: 'x', event: 'tool.end' }, path: ['a'] }],
  ['list(attributes.acme.prompt)', { place: { from: 'list', prefix: 'acme.prompt.' }, path: [] }],
  ['list(attributes.acme.prompt)[0].content', { place: { from: 'list', prefix: 'acme.prompt.' }, path: [0, 'content'] }],
  ["list(events['turn'])", { place: { from: 'events', event: 'turn' }, path: [] }],
  ["list(events['turn'])[0]['gen_ai.content']", { place: { from: 'events', event: 'turn' }, path: [0, 'gen_ai.content'] }],
  ["list(events['turn'].attributes.said)", { place: { from: 'list', prefix: 'said.', event: 'turn' }, path: [] }],
  [
    'list(attributes.acme.prompt.0.content)',
    '"acme.prompt.0.content" is not a prefix of a list > Write the part before the index: list(attributes.acme.prompt).',
  ],
  ['list(attributes.p.*)', '"p.*" is not a prefix of a list > Write the part before the index: list(attributes.p).'],
  [
    "list(events['e'].attributes.p.1)",
    `"p.1" is not a prefix of a list > Write the part before the index: list(events['e'].attributes.p).`,
  ],
  ['list(span.name)', `"span.name" is not a list > Write list(attributes.PREFIX) or list(events['NAME']).`],
  ['list(attributes.p', "has no ) that closes list( > Write list(attributes.PREFIX) or list(events['NAME'])."],
  ['lists(attributes.p)', '"lists" is not a function > Did you mean list?'],
  [
    "events['turn']",
    `"events['turn']" names no attribute of an event > Write events['NAME'].attributes.KEY, or list(events['NAME']) for all events of the name.`,
  ],
  [
    'event.turn.x',
    `"event.turn.x" names no attribute of an event > Write events['NAME'].attributes.KEY, or list(events['NAME']) for all events of the name.`,
  ],
  ['', 'is empty > Write attributes.KEY, json(attributes.KEY).member or span.name.'],
  ['action', '"action" is not a value > Did you mean attributes.action?'],
  ['attribute.action', '"attribute.action" is not a value > Did you mean attributes.action?'],
  ['attributes.', 'names no attribute > Write its key behind attributes.'],
  ['span.nam', '"span.nam" is not a value > Did you mean span.name?'],
  ['JSON(attributes.a)', '"JSON" is not a function > Did you mean json?'],
  ['eval(attributes.a)', '"eval" is not a function > Write attributes.KEY, json(attributes.KEY).member or span.name.'],
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
  ["exists(events['tool.start'])", { is: 'there', event: 'tool.start' }],
  ["exists(events['tool.start'].attributes.id)", { is: 'there', key: 'id', event: 'tool.start' }],
  ["events['e'].attributes.kind = 'TOOL'", { is: 'equal', place: { from: 'attribute', key: 'kind', event: 'e' }, text: 'TOOL' }],
  [
    "events['e'] = 'TOOL'",
    `"events['e']" names no attribute of an event > Write exists(events['e']) or events['e'].attributes.KEY = 'TOOL'.`,
  ],
  ['', "is empty > Write a comparison such as kind = 'TOOL' or kind != 'TOOL', or exists(KEY)."],
  ['kind', "\"kind\" compares nothing > Write a comparison such as kind = 'TOOL' or kind != 'TOOL', or exists(KEY)."],
  ['kind = ACTION', '"ACTION" is not a text in quotes > Write kind = \'ACTION\'.'],
  ["kind = 'it's'", "\"'it's'\" is not a text in quotes > Write kind = 'its'."],
  ["kind == 'ACTION'", '== is not a comparison > Write = for equal and != for different.'],
  ['exist(kind)', '"exist" is not a function > Did you mean exists(KEY)?'],
];
for (const [text, want] of conditions)
  test(`condition: ${text}`, () => {
    expect(told(parseCondition(text))).toEqual(want);
  });

function told(parsed: ReturnType<typeof parseExpression> | ReturnType<typeof parseCondition>): unknown {
  return parsed.kind === 'parsed' ? parsed.result : `${parsed.problem} > ${parsed.todo}`;
}
