import { expect, test } from 'vitest';
import { roughBytes } from '../../src/model/size-estimate.ts';

const nodeBytes = 16;

test.each([
  { name: 'a number', value: 1, want: nodeBytes },
  { name: 'null', value: null, want: nodeBytes },
  { name: 'a text', value: 'four', want: nodeBytes + 4 },
  { name: 'bytes', value: new Uint8Array(10), want: nodeBytes + 10 },
  { name: 'a list', value: [1, 'four'], want: 3 * nodeBytes + 4 },
  { name: 'an object', value: { a: [1], b: 'four' }, want: 4 * nodeBytes + 4 },
  { name: 'more values than are counted', value: Array.from({ length: 1_000_100 }, () => 0), want: 1_000_000 * nodeBytes },
])('size estimate: $name', ({ value, want }) => {
  expect(roughBytes(value)).toBe(want);
});
