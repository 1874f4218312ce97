/** Tool definitions, however they are written. */
import { describe, expect, test } from 'vitest';
import { definitionsMax, readDefinitions, unitedDefinitions } from '../../../collectors/parsing/definitions.ts';
import type { ToolDefinition } from '../../../src/model/agent-trace.ts';
import type { AttributeValue } from '../../../src/model/span.ts';

const schema = { type: 'object', properties: { x: { type: 'string' } } };
const whole = { name: 't', description: 'd', inputSchema: schema };

const cases: readonly {
  readonly name: string;
  readonly raw: AttributeValue | undefined;
  readonly definitions: readonly ToolDefinition[];
}[] = [
  { name: 'flat, with parameters', raw: [{ type: 'function', name: 't', description: 'd', parameters: schema }], definitions: [whole] },
  { name: 'flat, with inputSchema', raw: [{ name: 't', description: 'd', inputSchema: schema }], definitions: [whole] },
  { name: 'flat, with input_schema', raw: [{ name: 't', description: 'd', input_schema: schema }], definitions: [whole] },
  {
    name: 'flat, with parameters_json_schema',
    raw: [{ name: 't', description: 'd', parameters_json_schema: schema }],
    definitions: [whole],
  },
  {
    name: 'nested under function',
    raw: [{ type: 'function', function: { name: 't', description: 'd', parameters: schema } }],
    definitions: [whole],
  },
  {
    name: 'Gemini’s declarations',
    raw: [{ functionDeclarations: [{ name: 't', description: 'd', parameters: schema }] }, { function_declarations: [{ name: 'u' }] }],
    definitions: [whole, { name: 'u' }],
  },
  { name: 'a JSON text of a list', raw: JSON.stringify([{ name: 't', description: 'd', parameters: schema }]), definitions: [whole] },
  { name: 'a list of JSON texts', raw: [JSON.stringify({ name: 't', description: 'd', inputSchema: schema })], definitions: [whole] },
  {
    name: 'a list of one JSON text of a list',
    raw: [JSON.stringify([{ type: 'function', function: { name: 't', description: 'd', parameters: schema } }, 'u'])],
    definitions: [whole],
  },
  {
    name: 'the text form of an object of Python’s',
    raw: [
      "Tool(name='t', description='d', parameters={'type': 'object', 'properties': {'x': {'type': 'string'}}}, function=<function t at 0x7f07513d3880>)",
    ],
    definitions: [whole],
  },
  { name: 'the text form of an object without a name', raw: ["Tool(description='d')"], definitions: [] },
  { name: 'a schema that is a text', raw: [{ name: 't', description: 'd', parameters: JSON.stringify(schema) }], definitions: [whole] },
  {
    name: 'a schema that is a text but no JSON',
    raw: [{ name: 't', parameters: 'none' }],
    definitions: [{ name: 't', inputSchema: 'none' }],
  },
  { name: 'one definition', raw: { name: 't' }, definitions: [{ name: 't' }] },
  { name: 'bare names', raw: '["t","u",""]', definitions: [{ name: 't' }, { name: 'u' }] },
  {
    name: 'names that every object has',
    raw: ['__proto__', { name: 'constructor', parameters: JSON.parse('{"__proto__":{}}') as AttributeValue }],
    definitions: [{ name: '__proto__' }, { name: 'constructor', inputSchema: JSON.parse('{"__proto__":{}}') as AttributeValue as never }],
  },
  {
    name: 'names in one text',
    raw: 'find_order,refund-order, shop.close',
    definitions: [{ name: 'find_order' }, { name: 'refund-order' }, { name: 'shop.close' }],
  },
  { name: 'a text with a comma that is not a list of names', raw: 'finds, and books', definitions: [{ name: 'finds, and books' }] },
  {
    name: 'values that are not definitions',
    raw: [{ description: 'd' }, { name: '' }, { name: 5 }, null, 7, [], '{broken'],
    definitions: [],
  },
  { name: 'nothing', raw: undefined, definitions: [] },
];

describe('definitions', () => {
  for (const { name, raw, definitions } of cases) test(`definitions: ${name}`, () => expect(readDefinitions(raw)).toEqual(definitions));

  test('definitions: a list that is too long is cut', () => {
    expect(readDefinitions(Array.from({ length: definitionsMax + 5 }, (_, index) => `t${index}`))).toHaveLength(definitionsMax);
  });

  test('definitions: of several lists the first that names a tool counts, and later ones fill in', () => {
    expect(
      unitedDefinitions([
        [{ name: 't' }, { name: 'u', description: 'first' }],
        [{ name: 'u', description: 'second', inputSchema: schema }, whole],
        [{ name: '__proto__' }],
      ]),
    ).toEqual([whole, { name: 'u', description: 'first', inputSchema: schema }, { name: '__proto__' }]);
  });
});
