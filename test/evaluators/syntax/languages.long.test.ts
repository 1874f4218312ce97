import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codeBlocks } from '../../../evaluators/evidence/code-blocks.ts';
import { languages, type CodeLanguage } from '../../../evaluators/syntax/languages.ts';
import { snippets } from './snippets.ts';

const root = join(import.meta.dirname, '../../..');
const all = Object.keys(languages) as readonly CodeLanguage[];
const checks = Object.fromEntries(all.map((language) => [language, languages[language].check()])) as {
  readonly [language in CodeLanguage]: (code: string) => string | undefined;
};

for (const language of all) {
  const problem = checks[language];

  test(`syntax: ${language} raises no alarm on correct code`, () => {
    expect(snippets[language].correct.length).toBeGreaterThan(2);
    expect(snippets[language].correct.flatMap((code) => problem(code) ?? [])).toEqual([]);
  });

  test(`syntax: ${language} finds broken code`, () => {
    expect(snippets[language].broken.length).toBeGreaterThan(4);
    expect(snippets[language].broken.filter((code) => problem(code) === undefined)).toEqual([]);
  });

  test(`syntax: ${language} names the fault in one line`, () => {
    for (const code of snippets[language].broken) expect(problem(code)).toMatch(/^.+$/);
  });
}

test('syntax: a fence names one language', () => {
  const fences = all.flatMap((language) => languages[language].fences);
  expect(new Set(fences).size).toBe(fences.length);
});

test('syntax: the code of this project, and of its pages, raises no alarm', () => {
  const sources = globSync('{src/model,src/pipeline,evaluators,collectors}/**/*.ts', { cwd: root });
  const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/{tutorial,guides,reference,explanation}/*.md', { cwd: root })];
  const blocks = pages.flatMap((page) =>
    (codeBlocks(readFileSync(join(root, page), 'utf8')) ?? []).flatMap(({ language: fence, code, line }) => {
      const language = all.find((one) => (languages[one].fences as readonly string[]).includes(fence));
      return language === undefined ? [] : [{ language, code, place: `${page}:${line}` }];
    }),
  );
  expect(sources.length).toBeGreaterThan(100);
  expect(blocks.length).toBeGreaterThan(10);
  expect(sources.filter((path) => checks.typescript(readFileSync(join(root, path), 'utf8')) !== undefined)).toEqual([]);
  expect(blocks.filter(({ language, code }) => checks[language](code) !== undefined).map(({ place }) => place)).toEqual([]);
});

/** What nests, or may be read in two ways, in one language or another. */
const hostile = [
  '(',
  '[',
  '{',
  '<a>',
  'f(',
  'not ',
  'a.',
  '`${',
  'f<a>(',
  'a<b>`${',
  'async<T>(',
  'new A<',
  '<T>(x:',
  'type A=',
  'if a:\n ',
  'f"{',
  'a::<',
  'a {b:',
  '$(',
  'foo(){',
  '{a}',
  '!x\n',
  '- ',
  '\n',
  '<?php ',
  '&a;',
];

/** Seconds of this process's time for the worst block; measured at 0.8 s, so that ten times as much is a fault and no slow machine. */
const cpuSecondsMax = 8;

for (const language of all) {
  test(`syntax: ${language} reads hostile blocks in bounded time, and correct code after them`, () => {
    let worst = 0;
    for (const unit of hostile) {
      const before = process.cpuUsage().user;
      checks[language](unit.repeat(50_000 / unit.length));
      worst = Math.max(worst, (process.cpuUsage().user - before) / 1e6);
    }
    expect(worst).toBeLessThan(cpuSecondsMax);
    expect(snippets[language].correct.filter((code) => checks[language](code) !== undefined)).toEqual([]);
  });

  test(`syntax: ${language} takes any text`, () => {
    const piece = fc.oneof(
      fc.constantFrom(...hostile, ...snippets[language].correct, ...snippets[language].broken),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const problem = checks[language](pieces.join(''));
        expect(problem === undefined || problem.length > 0).toBe(true);
      }),
      { numRuns: 80 },
    );
  });
}
