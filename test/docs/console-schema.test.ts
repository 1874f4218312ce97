import { expect, test } from 'vitest';
import { schemaTypes, typeOf } from './console-schema.ts';

test.each([
  { name: 'a text', schema: { type: 'string', format: 'date-time' }, want: 'string' },
  { name: 'a whole number', schema: { type: 'integer' }, want: 'number' },
  { name: 'several types', schema: { type: ['number', 'null'] }, want: 'number | null' },
  { name: 'values', schema: { enum: ['a', null, 1] }, want: '"a" | null | 1' },
  { name: 'a name', schema: { $ref: '#/components/schemas/Run' }, want: 'Schemas["Run"]' },
  { name: 'a list', schema: { type: 'array', items: { type: 'string' } }, want: 'ReadonlyArray<string>' },
  { name: 'a list of anything', schema: { type: 'array' }, want: 'ReadonlyArray<unknown>' },
  { name: 'alternatives', schema: { anyOf: [{ type: 'boolean' }, { type: 'null' }] }, want: 'boolean | null' },
  { name: 'both', schema: { allOf: [{ type: 'string' }, { type: 'null' }] }, want: '(string) & (null)' },
  {
    name: 'an object with a member that may be absent',
    schema: { type: 'object', required: ['a'], properties: { a: { type: 'string' }, 'b-c': { type: 'number' } } },
    want: '{ readonly "a": string; readonly "b-c"?: number }',
  },
  {
    name: 'an object of values',
    schema: { type: 'object', additionalProperties: { type: 'number' } },
    want: '{ readonly [key: string]: number }',
  },
  { name: 'an object or nothing', schema: { type: ['object', 'null'] }, want: '{ readonly [key: string]: unknown } | null' },
  { name: 'no type', schema: { description: 'Anything.' }, want: 'unknown' },
])('console schema: $name', ({ schema, want }) => {
  expect(typeOf(schema)).toBe(want);
});

test('console schema: a read has its parameters and its answer, a change its body', () => {
  const text = schemaTypes({
    paths: {
      '/runs/{trace}': {
        get: {
          parameters: [
            { name: 'trace', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'limit', in: 'query', required: false, schema: { type: 'integer' } },
          ],
          responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Run' } } } } },
        },
        post: {
          parameters: [],
          requestBody: { content: { 'application/json': { schema: { type: 'object', properties: {} } } } },
          responses: { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } },
        },
      },
    },
    components: { schemas: { Run: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } } },
  });
  expect(text).toContain('readonly "Run": { readonly "id": string };');
  expect(text).toContain(
    'readonly "/runs/{trace}": { readonly path: { readonly "trace": string }; readonly query: { readonly "limit"?: number }; readonly answer: Schemas["Run"] };',
  );
  expect(text).toContain('readonly "POST /runs/{trace}": { readonly body: { readonly [key: string]: unknown }; readonly answer: string };');
});
