import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atPath, pathStepsMax, readJsonPath } from '../../../evaluators/matching/json-path.ts';
import { parseJson } from '../../../src/model/json.ts';
import type { JsonValue } from '../../../src/model/json.ts';

const store: JsonValue = {
  book: [
    { title: 'A', price: 8.95, tags: ['x'] },
    { title: 'B', price: 12.99, isbn: '1' },
    { title: 'C', price: 8.99, isbn: '2', tags: ['x', 'y'] },
    { title: 'D', price: 22.99 },
  ],
  bicycle: { price: 19.95 },
  limit: 10,
  'a.b': 1,
  "it's": 2,
  'é-ß': 3,
};

function at(path: string, root: JsonValue = store): JsonValue | undefined {
  const read = readJsonPath(path);
  if (read.kind === 'broken') return 'broken';
  const result = atPath(read.path, root);
  return result.kind === 'found' ? result.value : undefined;
}

const rows: readonly (readonly [path: string, want: JsonValue | undefined])[] = [
  ['$', store],
  ['$.limit', 10],
  ['limit', 10],
  ["$['limit']", 10],
  ['$["a.b"]', 1],
  ["$['it\\'s']", 2],
  ['$.é-ß', 3],
  ['book[0].title', 'A'],
  ['[0]', undefined],
  ['$.book[-1].title', 'D'],
  ['$.book[9].title', undefined],
  ['$.book[0].tags.length()', 1],
  ['$.book.length()', 4],
  ['$.limit.length()', undefined],
  ['$..price.length()', 5],
  ['$.book[*].title', ['A', 'B', 'C', 'D']],
  ['$.bicycle.*', [19.95]],
  ['$.book[0,2].title', ['A', 'C']],
  ['$.book[1:3].title', ['B', 'C']],
  ['$.book[:2].title', ['A', 'B']],
  ['$.book[-2:].title', ['C', 'D']],
  ['$.book[::2].title', ['A', 'C']],
  ['$.book[::-1].title', ['D', 'C', 'B', 'A']],
  ['$.book[2:0:-1].title', ['C', 'B']],
  ['$.book[::0]', []],
  ['$..price', [8.95, 12.99, 8.99, 22.99, 19.95]],
  ["$..['title']", ['A', 'B', 'C', 'D']],
  ['$..tags[*]', ['x', 'x', 'y']],
  ['$.book[?(@.price < 10)].title', ['A', 'C']],
  ['$.book[?@.price < $.limit].title', ['A', 'C']],
  ['$.book[?(@.isbn)].title', ['B', 'C']],
  ['$.book[?(!@.isbn)].title', ['A', 'D']],
  ['$.book[?(@.isbn && @.price<10)].title', ['C']],
  ['$.book[?(@.isbn == "1" || @.price >= 22.99)].title', ['B', 'D']],
  ['$.book[?(!(@.isbn || @.price > 20))].title', ['A']],
  ["$.book[?(@.title != 'A' && @.title <= 'C')].title", ['B', 'C']],
  ['$.book[?(@.tags.length() > 1)].title', ['C']],
  ['$.book[?(@.isbn != "1")].title', ['A', 'C', 'D']],
  ['$.book[?(@.isbn < 3)].title', []],
  ['$.book[?(@.ghost == @.spirit)].title', ['A', 'B', 'C', 'D']],
  ['$.book[?(@.tags[*])].title', ['A', 'C']],
  ['$.nothing[?(@.a)]', []],
];
for (const [path, want] of rows) {
  test(`json-path: ${path}`, () => {
    expect(at(path)).toEqual(want);
  });
}

const nested = (levels: number): string => `$${'[?(@'.repeat(levels)}${')]'.repeat(levels)}`;
const broken = [
  '',
  '$.',
  '$[',
  '$.[',
  "$['a]",
  "$['\\q']",
  '$[1',
  '$[a]',
  '$[?]',
  '$[?(@.a == )]',
  '$[?(@.a',
  '$[?(1)]',
  '$[?(@.a = 1)]',
  '$[?(@..a == 1)]',
  '$[?(@.a == 1e)]',
  '$.a b',
  '$.a.length().b',
  '$.a)',
  '$...a',
  nested(20),
  `$${'.a'.repeat(65)}`,
  `$.${'a'.repeat(1_000)}`,
];
for (const path of broken) {
  test(`json-path: ${path.length > 40 ? `${path.slice(0, 40)}…` : JSON.stringify(path)} is broken`, () => {
    expect(at(path)).toBe('broken');
  });
}

test('json-path: as deep and as many steps as the limits allow are read', () => {
  expect([at(`$${'.a'.repeat(64)}`), at(nested(5), [[[[[1]]]]])]).toEqual([undefined, [[[[[1]]]]]]);
});

test('json-path: foreign names are ordinary', () => {
  const value = parseJson('{"__proto__": {"constructor": 1}}') ?? null;
  expect([at('$.__proto__.constructor', value), at('$.constructor', value)]).toEqual([1, undefined]);
});

test('json-path: the work is bounded', () => {
  const read = readJsonPath('$..*');
  const many = Array.from({ length: pathStepsMax }, () => 1);
  expect(read.kind === 'path' ? atPath(read.path, many) : read).toEqual({ kind: 'too_much' });
  expect(at('$..*', many.slice(0, 1_000))).toHaveLength(1_000);
});

test('json-path: recursive descent finds as many values as there are', () => {
  const count = (value: JsonValue): number =>
    typeof value === 'object' && value !== null ? Object.values(value).reduce<number>((all, one) => all + 1 + count(one), 0) : 0;
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      (value) => (at('$..*', value as JsonValue) as readonly JsonValue[]).length === count(value as JsonValue),
    ),
  );
});

test('json-path: a path that ends in the middle of an escape is refused at its end', () => {
  expect(readJsonPath('["\\')).toMatchObject({ kind: 'broken', at: 3 });
});

test('json-path: any text is read or refused, at a place within it', () => {
  const piece = fc.constantFrom(
    '$',
    '@',
    '.',
    '..',
    '[',
    ']',
    '(',
    ')',
    '?',
    '*',
    ':',
    ',',
    'a',
    "'a'",
    '"',
    '1',
    '-1',
    '==',
    '<',
    '&&',
    '||',
    '!',
    ' ',
    '\\',
    'length()',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const read = readJsonPath(pieces.join(''));
      return read.kind === 'path'
        ? atPath(read.path, store).kind !== 'too_much'
        : read.at >= 0 && read.at <= pieces.join('').length && read.problem !== '';
    }),
    { numRuns: 2_000 },
  );
});
