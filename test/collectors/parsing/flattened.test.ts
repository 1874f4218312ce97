/** Lists that were flattened into keys come back unchanged. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flattened, flattenedDepthMax, flattenedItemsMax, unflattened } from '../../../collectors/parsing/flattened.ts';
import type { JsonValue } from '../../../src/model/json.ts';
import { attributed, type Attributes } from '../../builders/spans.ts';

const cases: readonly { readonly name: string; readonly attributes: Attributes; readonly items: readonly JsonValue[] }[] = [
  {
    name: 'members and lists inside each other',
    attributes: { 'p.0.message.role': 'user', 'p.0.message.calls.0.id': 'a', 'p.0.message.calls.1.id': 'b' },
    items: [{ message: { role: 'user', calls: [{ id: 'a' }, { id: 'b' }] } }],
  },
  {
    name: 'items in the order of their numbers, not of their keys',
    attributes: { 'p.10': 'c', 'p.9': 'b', 'p.1': 'a' },
    items: ['a', 'b', 'c'],
  },
  { name: 'a list without a first item', attributes: { 'p.3.x': 1, 'p.5.x': 2 }, items: [{ x: 1 }, { x: 2 }] },
  { name: 'only what is under the prefix', attributes: { 'p.0': 'a', 'pp.1': 'b', 'q.p.2': 'c' }, items: ['a'] },
  {
    name: 'keys that do not begin with a number are left out',
    attributes: { 'p.x': 1, 'p.': 2, 'p.-1': 3, 'p.1e3': 4, 'p.00001': 5 },
    items: [],
  },
  {
    name: 'numbers beyond the limit are left out',
    attributes: { [`p.${flattenedItemsMax}`]: 1, [`p.${flattenedItemsMax - 1}`]: 2 },
    items: [2],
  },
  { name: 'paths deeper than the limit are left out', attributes: { [`p.0${'.a'.repeat(flattenedDepthMax)}`]: 1, 'p.1': 2 }, items: [2] },
  {
    name: 'a value and members under one key: the members count',
    attributes: { 'p.0.a': 'x', 'p.0.a.b': 'y' },
    items: [{ a: { b: 'y' } }],
  },
  { name: 'the other way round they count as well', attributes: { 'p.0.a.b': 'y', 'p.0.a': 'x' }, items: [{ a: { b: 'y' } }] },
  {
    name: 'numbers and names beside each other make an object',
    attributes: { 'p.0.a.0': 'x', 'p.0.a.b': 'y' },
    items: [{ a: { 0: 'x', b: 'y' } }],
  },
  {
    name: 'names that every object has',
    attributes: { 'p.0.__proto__.x': 1, 'p.0.constructor': 2 },
    items: [JSON.parse('{"__proto__":{"x":1},"constructor":2}') as JsonValue],
  },
  {
    name: 'values of any type',
    attributes: { 'p.0.a': [1, { b: 2 }], 'p.0.c': new Uint8Array([255]) },
    items: [{ a: [1, { b: 2 }], c: '/w==' }],
  },
];

describe('flattened', () => {
  for (const { name, attributes, items } of cases)
    test(`flattened: ${name}`, () => expect(unflattened(attributed(attributes), flattened('p.'))).toEqual(items));

  test('flattened: what was flattened comes back', () => {
    const { node } = fc.letrec<{ node: JsonValue }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(fc.string(), fc.integer(), fc.boolean()),
        fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'role', '__proto__'), tie('node'), { minKeys: 1 }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(node, { maxLength: 4 }), (items) => {
        expect(unflattened(attributed(flat(items)), flattened('p.'))).toEqual(items);
      }),
    );
  });
});

function flat(items: readonly JsonValue[]): Attributes {
  const found: { [key: string]: string | number | boolean } = {};
  const visit = (value: JsonValue, path: string): void => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') found[path] = value;
    else if (typeof value === 'object' && value !== null) for (const [key, inner] of Object.entries(value)) visit(inner, `${path}.${key}`);
  };
  for (const [index, item] of items.entries()) visit(item, `p.${index}`);
  return found;
}
