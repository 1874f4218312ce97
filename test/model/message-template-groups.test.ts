/** Templates group the texts of known errors as a person does, and their cost stays linear. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { messageTemplate } from '../../src/model/message-template.ts';
import { cpuSeconds } from '../builders/cpu-seconds.ts';

interface Labelled {
  /** The group that a person gave the text. */
  readonly group: string;
  readonly text: string;
  readonly template: string;
}

/** Each block of the file is a group: its name, then one text a line, in which ⏎ is the end of a line. */
function labelled(): readonly Labelled[] {
  const blocks = readFileSync(new URL('../fixtures/error-texts.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n\n');
  return blocks.flatMap((block) => {
    const [group = '', ...lines] = block.split('\n');
    return lines.map((line) => {
      const text = line.replaceAll('⏎', '\n');
      return { group, text, template: messageTemplate(text) };
    });
  });
}

function mostFrequent(values: readonly string[]): string | undefined {
  const counts = [...Map.groupBy(values, (value) => value).entries()].map(([value, all]) => ({ value, count: all.length }));
  return counts.toSorted((one, other) => other.count - one.count)[0]?.value;
}

/** A text agrees when it has the main template of its group, and its group is the main one of this template. */
function agreeing(texts: readonly Labelled[]): readonly Labelled[] {
  const mainTemplates = new Map(
    [...Map.groupBy(texts, ({ group }) => group)].map(([group, own]) => [group, mostFrequent(own.map(({ template }) => template))]),
  );
  const mainGroups = new Map(
    [...Map.groupBy(texts, ({ template }) => template)].map(([template, own]) => [template, mostFrequent(own.map(({ group }) => group))]),
  );
  return texts.filter(({ group, template }) => mainTemplates.get(group) === template && mainGroups.get(template) === group);
}

test('templates group at least 95 % of 500 error texts as a person does', () => {
  const texts = labelled();
  expect(texts.length).toBeGreaterThanOrEqual(500);
  expect(agreeing(texts).length / texts.length).toBeGreaterThanOrEqual(0.95);
});

test('texts of two groups have two templates', () => {
  const shared = [...Map.groupBy(labelled(), ({ template }) => template)].filter(
    ([, own]) => new Set(own.map(({ group }) => group)).size > 1,
  );
  expect(shared).toEqual([]);
});

const hostile: readonly string[] = [
  '"',
  "'",
  '`',
  '“',
  '„',
  '「',
  '«',
  '\\',
  '/',
  '://',
  'a://',
  ': ',
  ':',
  '::',
  'a:',
  '-',
  '_',
  '*',
  '.',
  ',',
  '1',
  'a1',
  'a1-',
  '1.',
  '0x',
  '@',
  'a@',
  '{',
  '{"error":',
  'ENOTFOUND ',
  'no such table: ',
  ': a: not found',
  'error: ',
  'a/',
  'a-1 ',
  'org_a1',
  'sk****',
  '"…", ',
  'Traceback (most recent call last):\n',
  'aaaa.bbbb\n',
  '\n',
  ' ',
];

/** Seconds of CPU, the least of three attempts. */
function costOf(text: string): number {
  return Math.min(...[0, 1, 2].map(() => cpuSeconds(() => void messageTemplate(text))));
}

test.each(hostile)('a text of %j takes linear time', (piece) => {
  const of = (length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
  for (const tail of ['', 'x', '!']) {
    const small = costOf(of(100_000) + tail);
    expect(costOf(of(1_000_000) + tail)).toBeLessThan(20 * small + 0.02);
    expect(costOf(of(499) + tail)).toBeLessThan(0.02);
  }
});
