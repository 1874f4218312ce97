import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvCell, readCsvCell } from '../../src/model/csv-cell.ts';
import { propertyRuns } from '../builders/property-runs.ts';

const signs = ['=', '+', '-', '@', '＝', ';', '\t', '\n', '\r', ',', '"', "'", ' ', 'a', '1'];
const hostile = fc.array(fc.constantFrom(...signs), { maxLength: 12 }).map((parts) => parts.join(''));

test('csv cell: for any border of a cell that a reader takes, no cell begins like a formula', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (texts) => {
      const line = texts.map(csvCell).join(',');
      for (const border of [';', '\t'])
        for (const cell of line.split(/\r?\n|\r/).flatMap((part) => part.split(border)))
          expect(cell.replace(/^[\s"]+/, '')).not.toMatch(/^[=+\-@＝＋－＠]/);
    }),
    { numRuns: propertyRuns({ short: 1_000, long: 20_000 }) },
  );
});

test('csv cell: a text is read as written', () => {
  const plain = (cell: string): string => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
  fc.assert(
    fc.property(hostile, (text) => {
      expect(readCsvCell(plain(csvCell(text)))).toBe(text);
    }),
  );
});

test.each([
  ['=1+1', "'=1+1"],
  ['a;=1+1', '"a;\'=1+1"'],
  ['a\t@x', '"a\t\'@x"'],
  ['a, -b', '"a, -b"'],
  [-5, '-5'],
  [true, 'true'],
  ['plain', 'plain'],
] as const)('csv cell: %j', (value, want) => {
  expect(csvCell(value)).toBe(want);
});
