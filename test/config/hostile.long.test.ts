import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseConfigText } from '../../src/config/document.ts';

const laughs = `a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n${[...'bcdefgh']
  .map(
    (name, index) =>
      `${name}: &${name} [${Array(9)
        .fill(`*${'abcdefg'[index] ?? ''}`)
        .join(', ')}]`,
  )
  .join('\n')}\n`;

const bounded: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
  ['aliases of aliases', laughs, /more than 1000 aliases/],
  ['many aliases', `a: &a 1\nb: [${'*a, '.repeat(2000)}]`, /more than 1000 aliases/],
  ['an alias that holds itself', 'a: &a [ *a ]', /deeper than 64/],
  ['deep nesting', `a: ${'['.repeat(100)}${']'.repeat(100)}`, /deeper than 64/],
  ['many values', `a: [${'1,'.repeat(110_000)}]`, /more than 100000 values/],
];
for (const [name, text, problem] of bounded) {
  test(`config document: ${name} end at a bound, with one fault`, () => {
    const { faults, broken } = parseConfigText(text, {});
    expect([broken, faults.length]).toEqual([true, 1]);
    expect(faults[0]?.problem).toMatch(problem);
  });
}

test('config document: dollar signs without end are read in linear work', () => {
  expect(parseConfigText(`a: "${'${'.repeat(100_000)}"`, {}).faults).toEqual([]);
});

test('config document: any text is read, and every fault lies within it', () => {
  const piece = fc.constantFrom(
    'a',
    ': ',
    '- ',
    '\n',
    '  ',
    '[',
    ']',
    '{',
    '}',
    '&x ',
    '*x',
    '"',
    "'",
    '${env:A}',
    '${env:B}',
    '$$',
    '#',
    '|',
    '>',
    '? ',
    '!t ',
    '---\n',
    '1',
    'null',
    '\t',
    '\u0000',
    '😀',
    '<<',
    ',',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      for (const { offset } of parseConfigText(text, { A: 'x' }).faults) expect(offset >= 0 && offset <= text.length).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
