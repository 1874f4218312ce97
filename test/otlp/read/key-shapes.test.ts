import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attributeTable } from '../../../src/otlp/read/attribute-table.ts';
import { keyShapes, type KeyShapes } from '../../../src/otlp/read/key-shapes.ts';

/** Keys as in a body, behind each other from `offset` on, each without a value. */
function shapeIn(shapes: KeyShapes, keys: readonly string[], offset: number): readonly string[] {
  const bytes = Buffer.concat([Buffer.alloc(offset, 0x2e), ...keys.map((key) => Buffer.from(key))]);
  const table = attributeTable({ bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) });
  const ranges: number[] = [];
  let at = offset;
  for (const key of keys) {
    const end = at + Buffer.byteLength(key);
    ranges.push(at, end, end, end);
    at = end;
  }
  table.ranges = Int32Array.from(ranges);
  table.length = ranges.length;
  return shapes.of(table, 0, keys.length).keys;
}

const likeKeys = fc.array(fc.stringMatching(/^[ab.é]{0,9}$/), { minLength: 1, maxLength: 6 });

test('key shapes: keys are recognised as they are written, after any earlier ones', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(likeKeys, fc.nat({ max: 5 })), { minLength: 1, maxLength: 20 }), (spans) => {
      const shapes = keyShapes();
      for (const [keys, offset] of spans) expect(shapeIn(shapes, keys, offset)).toEqual([...new Set(keys)]);
    }),
  );
});

test('key shapes: keys that differ in one byte are different keys', () => {
  const shapes = keyShapes();
  const key = 'gen_ai.usage.input_tokens';
  shapeIn(shapes, [key], 0);
  for (let at = 0; at < key.length; at++) {
    const other = `${key.slice(0, at)}~${key.slice(at + 1)}`;
    expect(shapeIn(shapes, [other], at % 4)).toEqual([other]);
    expect(shapeIn(shapes, [key], at % 4)).toEqual([key]);
  }
});
