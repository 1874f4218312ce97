/** Serialised Zod schemas → JSON schemas, of both versions that write themselves down. */
import { describe, expect, test } from 'vitest';
import { schemaOfZod, zodDepthMax } from '../../../collectors/parsing/zod-schema.ts';
import type { JsonValue } from '../../../src/model/json.ts';

const four = (def: JsonValue): JsonValue => ({ def });
const text = four({ type: 'string' });
const three = (typeName: string, more: { readonly [key: string]: JsonValue } = {}): JsonValue => ({ _def: { typeName, ...more } });

const cases: readonly { readonly name: string; readonly written: JsonValue | undefined; readonly schema: object | undefined }[] = [
  {
    name: 'an object of version 4',
    written: four({ type: 'object', shape: { a: text, b: four({ type: 'optional', innerType: four({ type: 'number' }) }) } }),
    schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] },
  },
  {
    name: 'a list, a truth value and a description',
    written: four({
      type: 'object',
      shape: { l: four({ type: 'array', element: text }), t: { def: { type: 'boolean' }, description: 'whether' } },
    }),
    schema: {
      type: 'object',
      properties: { l: { type: 'array', items: { type: 'string' } }, t: { type: 'boolean', description: 'whether' } },
      required: ['l', 't'],
    },
  },
  {
    name: 'words to choose from',
    written: four({ type: 'enum', entries: { a: 'x', b: 'y' } }),
    schema: { type: 'string', enum: ['x', 'y'] },
  },
  { name: 'a whole number', written: four({ type: 'number', format: 'safeint' }), schema: { type: 'integer' } },
  {
    name: 'one of several',
    written: four({ type: 'union', options: [text, four({ type: 'null' })] }),
    schema: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  { name: 'a fixed value', written: four({ type: 'literal', values: ['x'] }), schema: { enum: ['x'] } },
  { name: 'names and values', written: four({ type: 'record', keyType: text, valueType: text }), schema: { type: 'object' } },
  {
    name: 'a value that is changed afterwards',
    written: four({ type: 'pipe', in: text, out: four({ type: 'number' }) }),
    schema: { type: 'string' },
  },
  {
    name: 'an object of version 3, whose shape is beside it',
    written: {
      _def: { typeName: 'ZodObject', unknownKeys: 'strip' },
      _cached: {
        shape: {
          a: three('ZodString'),
          n: three('ZodNumber', { checks: [{ kind: 'int' }] }),
          d: three('ZodDefault', { innerType: three('ZodBoolean') }),
          l: three('ZodArray', { type: three('ZodString') }),
          e: three('ZodEnum', { values: ['x'] }),
        },
      },
    },
    schema: {
      type: 'object',
      properties: {
        a: { type: 'string' },
        n: { type: 'integer' },
        d: { type: 'boolean' },
        l: { type: 'array', items: { type: 'string' } },
        e: { type: 'string', enum: ['x'] },
      },
      required: ['a', 'n', 'l', 'e'],
    },
  },
  { name: 'an object of version 3 whose shape is lost', written: three('ZodObject'), schema: { type: 'object' } },
  { name: 'an unknown kind', written: four({ type: 'acme' }), schema: {} },
  { name: 'a JSON schema', written: { type: 'object', properties: { def: { type: 'string' } } }, schema: undefined },
  { name: 'something else', written: { def: 'x' }, schema: undefined },
  { name: 'nothing', written: undefined, schema: undefined },
];

describe('zod-schema', () => {
  test.each(cases)('zod-schema: $name', ({ written, schema }) => expect(schemaOfZod(written)).toEqual(schema));

  test('zod-schema: values nested deeper than the limit are given without their content', () => {
    let nested = text;
    for (let depth = 0; depth < zodDepthMax * 200; depth++) nested = four({ type: 'array', element: nested });
    expect(JSON.stringify(schemaOfZod(nested)).length).toBeLessThan(1_000);
  });
});
