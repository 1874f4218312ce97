import { expect, test } from 'vitest';
import { jsonLines, type JsonLinesOptions } from '../../../../src/console/parts/run/json-lines.ts';

function written(value: unknown, options: JsonLinesOptions = {}): readonly string[] {
  return jsonLines(value, options).map(
    ({ depth, name, text, marks }) =>
      `${'  '.repeat(depth)}${name === undefined ? '' : `${name}: `}${text}${marks.map((mark) => ` <${mark}>`).join('')}`,
  );
}

const order = { id: 'A-1', items: [{ price: '12', count: 2 }], note: null };

test('a value becomes a line for each member and item', () => {
  expect(written(order)).toEqual([
    '{',
    '  id: "A-1"',
    '  items: [',
    '    {',
    '      price: "12"',
    '      count: 2',
    '    }',
    '  ]',
    '  note: null',
    '}',
  ]);
  expect(written('<b>text</b>')).toEqual(['"<b>text</b>"']);
  expect(written({})).toEqual(['{}']);
});

test('marks are at their member, and a missing member has a line', () => {
  const marks = [
    { path: ['items', '0', 'price'], message: 'must be a number' },
    { path: ['customer'], message: 'customer is missing', isMissing: true },
  ];
  const lines = written(order, { marks });
  expect(lines).toContain('      price: "12" <must be a number>');
  expect(lines).toContain('  customer: missing <customer is missing>');
});

test('a large value is cut, and the member with a mark stands all the same', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, nth) => [`k${nth}`, nth]));
  const lines = written(many, { linesMax: 10, marks: [{ path: ['k900'], message: 'wrong' }] });
  expect(lines).toHaveLength(13);
  expect(lines.slice(-3)).toEqual(['  k900: 900 <wrong>', '  990 more', '}']);
});

test('texts, depths and lists are bounded', () => {
  expect(written('x'.repeat(50), { charsMax: 5 })).toEqual(['"xxxxx…"']);
  let deep: unknown = 1;
  for (let nth = 0; nth < 5_000; nth++) deep = [deep];
  expect(written(deep, { depthMax: 2 })).toEqual(['[', '  [', '    [ 1 item ]', '  ]', ']']);
});
