import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Environment, parseConfigText, substitute, typedScalar } from '../../src/config/document.ts';

const env: Environment = { A: 'one', EMPTY: '', DOLLARS: '$$ ${env:A}', _x9: 'two' };

const cases: readonly (readonly [text: string, want: string])[] = [
  ['${env:A}', 'one'],
  ['<${env:A}|${env:_x9}>', '<one|two>'],
  ['${env:EMPTY}', ''],
  ['${env:EMPTY:-default}', ''],
  ['${env:NOT:-default}', 'default'],
  ['${env:NOT:-}', ''],
  ['${env:NOT:-a:-b}', 'a:-b'],
  ['$${env:A}', '${env:A}'],
  ['$$$${env:A}', '$${env:A}'],
  ['$$${env:A}', '$one'],
  ['${env:DOLLARS}', '$$ ${env:A}'],
  ['costs $5, or $A', 'costs $5, or $A'],
  ['^a+$', '^a+$'],
  ['an open ${env:A', 'an open ${env:A'],
];
for (const [text, want] of cases) {
  test(`substitution: ${text} becomes ${JSON.stringify(want)}`, () =>
    expect(substitute(text, env)).toMatchObject({ kind: 'substituted', text: want }));
}

const faults: readonly (readonly [text: string, problem: RegExp])[] = [
  ['${env:NOT}', /NOT is not set/],
  ['${env:}', /not the name/],
  ['${env:9}', /not the name/],
  ['${A}', /names no source/],
  ['${}', /names no source/],
  ['${file:/etc/passwd}', /names no source/],
  ['${env:NOT:-${env:A}}', /another substitution/],
  ['${env:__proto__}', /__proto__ is not set/],
  ['${env:constructor}', /constructor is not set/],
];
for (const [text, problem] of faults) {
  test(`substitution: ${text} is a fault`, () => {
    const result = substitute(text, env);
    expect(result.kind === 'faults' ? result.faults.map((fault) => fault.problem).join() : '').toMatch(problem);
  });
}

test('substitution: what a variable holds is never read again', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, value) => {
      const plain = before.replaceAll('$', '');
      expect(substitute(`${plain}\${env:X}`, { X: value })).toMatchObject({ kind: 'substituted', text: plain + value, names: ['X'] });
    }),
  );
});

test('substitution: a text without a dollar sign stays unchanged', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const plain = text.replaceAll('$', '');
      expect(substitute(plain, {})).toEqual({ kind: 'substituted', text: plain, names: [], whole: false });
    }),
  );
});

test('substitution: doubling every dollar sign gives any text back', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('$', '{', '}', 'env:', 'A', ' '), { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      expect(substitute(text.split('$').join('$$'), {})).toMatchObject({ text });
    }),
  );
});

const scalars: readonly (readonly [text: string, want: unknown])[] = [
  ['', null],
  ['null', null],
  ['~', null],
  ['true', true],
  ['False', false],
  ['yes', 'yes'],
  ['12', 12],
  ['-12', -12],
  ['0x1F', 31],
  ['0o17', 15],
  ['1.5e3', 1500],
  ['.5', 0.5],
  ['1_000', '1_000'],
  ['9007199254740993', 9007199254740993n],
  ['[1, 2]', '[1, 2]'],
  ['{a: 1}', '{a: 1}'],
  ['# no comment', '# no comment'],
];
for (const [text, want] of scalars)
  test(`substitution: a whole scalar ${JSON.stringify(text)} is typed as ${String(want)}`, () => expect(typedScalar(text)).toBe(want));

test.each([
  ['.inf', 'a: { b: .inf }'],
  ['-.inf', 'a: { b: -.inf }'],
  ['.nan', 'a: { b: .nan }'],
  ['1e999', 'a: { b: 1e999 }'],
  ['a substituted 1e999', 'a: { b: "${env:N}" }'],
])('config document: %s is not a number, and its place is named', (_, text) => {
  const { faults } = parseConfigText(text, { N: '1e999' });
  expect(faults.map(({ key, problem }) => [key, problem])).toEqual([['a.b', 'a number that is not finite']]);
});
