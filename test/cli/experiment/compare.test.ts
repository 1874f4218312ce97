/** `tracejury experiment compare` on files: exit codes, formats, and hostile text in each of them. */
import { join } from 'node:path';
import { parseXml } from '@rgrove/parse-xml';
import { expect, test } from 'vitest';
import { experimentFileJson } from '../../../src/analytics/experiment-json.ts';
import { experimentSummary } from '../../../src/analytics/experiment-summary.ts';
import type { ExperimentResult } from '../../../src/model/experiment.ts';
import { jsonText } from '../../../src/model/json.ts';
import { experimentOf, resultOf, verdictOf } from '../../builders/experiment.ts';
import { workplace, type Workplace } from './command.ts';

const many = Array.from({ length: 30 }, (_, at) => `example ${at}`);
const hostile = `<script>alert("x")</script>\u001b[31m & @everyone | \`a\` ]]> "quoted" 'single'`;

function written(place: Workplace, id: string, results: readonly ExperimentResult[], name = 'nightly'): string {
  const experiment = experimentOf({ id, name });
  return place.file(`${id}.json`, jsonText(experimentFileJson({ experiment, results }, experimentSummary(experiment, results))));
}

const passing = many.map((id) => resultOf(id, [verdictOf('pass')]));
const failing = many.map((id, at) => resultOf(id, [verdictOf(at < 12 ? 'fail' : 'pass')]));
const unscored = many.map((id) => resultOf(id, [verdictOf('skipped')]));

const skippingFirst = (count: number) => many.map((id, at) => resultOf(id, [verdictOf(at < count ? 'skipped' : 'pass')]));
const [skipping, skippingOne] = [skippingFirst(12), skippingFirst(1)];

/** Three runs of each example, and the first of them fails on the first examples. */
const thrice = (failed: number): readonly ExperimentResult[] =>
  many.flatMap((id, at) => [1, 2, 3].map((repeat) => resultOf(id, [verdictOf(repeat === 1 && at < failed ? 'fail' : 'pass')], { repeat })));

const exits = [
  { name: 'a significant regression', first: passing, second: failing, options: [], code: 1, says: 'Significantly worse: tool_error' },
  { name: 'an improvement', first: failing, second: passing, options: ['--fail-on-regression'], code: 0, says: '' },
  { name: 'no difference', first: passing, second: passing, options: ['--fail-on-regression'], code: 0, says: '' },
  { name: 'lost scores', first: passing, second: unscored, options: [], code: 0, says: 'so a regression there stays unseen' },
  {
    name: 'one of three runs fails on three examples',
    first: thrice(0),
    second: thrice(3),
    options: ['--fail-on-regression'],
    code: 0,
    says: '',
  },
  {
    name: 'one of three runs fails on seven examples',
    first: thrice(0),
    second: thrice(7),
    options: [],
    code: 1,
    says: 'Significantly worse',
  },
  {
    name: 'skipped scores',
    first: passing,
    second: skipping,
    options: [],
    code: 0,
    says: 'when a run without a score counts as not passed: tool_error',
  },
  {
    name: 'skipped scores in a gate',
    first: passing,
    second: skipping,
    options: ['--fail-on-regression'],
    code: 1,
    says: 'when a run without a score counts as not passed: tool_error',
  },
  { name: 'one skipped score in a gate', first: passing, second: skippingOne, options: ['--fail-on-regression'], code: 0, says: '' },
  {
    name: 'lost scores in a gate',
    first: passing,
    second: unscored,
    options: ['--fail-on-regression'],
    code: 1,
    says: 'so a regression there stays unseen',
  },
  {
    name: 'no example in common',
    first: passing,
    second: [resultOf('other', [verdictOf('pass')])],
    options: [],
    code: 1,
    says: 'no example in common',
  },
] as const;

for (const { name, first, second, options, code, says } of exits) {
  test(`experiment compare: ${name}: exit ${code}`, async () => {
    const place = workplace();
    const [a, b] = [written(place, 'a', first), written(place, 'b', second)];
    expect(await place.tracejury(['experiment', 'compare', a, b, ...options])).toMatchObject({
      code,
      err: expect.stringContaining(says) as string,
    });
  });
}

test('experiment compare: the table has rates, interval, test, and the changed examples with both explanations', async () => {
  const place = workplace();
  const [a, b] = [written(place, 'a', passing), written(place, 'b', failing)];
  const { out } = await place.tracejury(['experiment', 'compare', a, b]);
  expect(out).toMatch(/^tool_error +30 +100 % \(88\.6 % to 100 %\) +60 % .*−40\.0 \(.*\) points +0\.00\d\d +WORSE$/m);
  expect(out).toContain('  example 0  pass → fail\n    A: It is pass.\n    B: It is fail.');
  expect(out).toContain('worse: tool_error');
});

test('experiment compare: examples that pass less often are named, although no regression is significant', async () => {
  const place = workplace();
  const second = many.map((id, at) => resultOf(id, [verdictOf(at < 2 ? 'fail' : 'pass')]));
  const [a, b] = [written(place, 'a', passing), written(place, 'b', second)];
  const shown = await place.tracejury(['experiment', 'compare', a, b, '--format', 'markdown']);
  expect(shown.code).toBe(0);
  expect(shown.out).toMatch(/^### ⚠ Experiment: no difference shown; 2 examples pass less often: example 0, example 1$/m);
  const back = await place.tracejury(['experiment', 'compare', b, a, '--format', 'markdown']);
  expect(back.out).toMatch(/^### ✅ Experiment: no difference shown$/m);
});

const forms = [
  {
    format: 'table',
    second: skippingOne,
    says: /^⚠ tool_error: runs without a score: 0 of 30 in A, 1 of 30 in B: \+3\.3 .* points, p \(Holm\) 1\.0000\. /,
  },
  { format: 'table', second: skippingOne, says: /^no difference shown; 1 example has fewer scores: example 0$/ },
  { format: 'markdown', second: skippingOne, says: /^### ⚠ Experiment: no difference shown; 1 example has fewer scores: example 0$/ },
  {
    format: 'markdown',
    second: skipping,
    says: /^### ❌ Experiment: worse with unscored runs as not passed: tool\\_error; 12 examples have fewer scores/,
  },
  {
    format: 'markdown',
    second: skipping,
    says: /Counted as not passed: −40\.0 .*The worst and the best case are −40\.0 to 0\.0 points\.$/,
  },
  { format: 'junit', second: skipping, says: /<failure type="tool_error" .*runs without a score: 0 of 30 in A, 12 of 30 in B/ },
  { format: 'junit', second: skippingOne, says: /^tool_error: runs without a score: 0 of 30 in A, 1 of 30 in B/ },
  { format: 'html', second: skipping, says: /<p class="warning">tool_error: runs without a score: 0 of 30 in A, 12 of 30 in B/ },
  { format: 'json', second: skipping, says: /"unscored_regressions": ?\["tool_error"\]/ },
  { format: 'table', second: unscored, says: /^tool_error: the difference is not estimable: no example has a value on both sides\.$/ },
] as const;

for (const [at, { format, second, says }] of forms.entries()) {
  test(`experiment compare: runs without a score are reported as ${format} (${at + 1})`, async () => {
    const place = workplace();
    const [a, b] = [written(place, 'a', passing), written(place, 'b', second)];
    const { out } = await place.tracejury(['experiment', 'compare', a, b, '--format', format]);
    expect(out).toMatch(new RegExp(says, 'm'));
  });
}

async function inFormat(format: string): Promise<string> {
  const place = workplace();
  const explained = (word: 'pass' | 'fail') => [verdictOf(word, { name: `rule ${hostile}`, explanation: hostile })];
  const a = written(place, 'a', [resultOf(hostile, explained('pass')), resultOf('only a', explained('pass'))], hostile);
  const b = written(place, 'b', [resultOf(hostile, explained('fail')), resultOf(`${hostile} b`, explained('pass'))], hostile);
  return (await place.tracejury(['experiment', 'compare', a, b, '--format', format])).out;
}

test('experiment compare: hostile text is only text in HTML, and nothing is loaded from elsewhere', async () => {
  const html = await inFormat('html');
  expect(html).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
  expect(html).not.toMatch(/<script|<img|<link|<iframe|javascript:|\son\w+=|url\(/i);
  expect(html).not.toMatch(/(?:src|href)=/i);
  expect(html).toContain(`default-src 'none'`);
});

test('experiment compare: hostile text is only text in Markdown, in a terminal and in JUnit', async () => {
  const markdown = await inFormat('markdown');
  for (const sign of ['<script', '@everyone', '\u001b']) expect(markdown).not.toContain(sign);
  for (const line of markdown.split('\n').filter((text) => text.startsWith('| ') && text.includes('rule')))
    expect(line.match(/(?<!\\)\|/g)).toHaveLength(8);
  expect(await inFormat('table')).not.toContain('\u001b');
  const suites = parseXml(await inFormat('junit'));
  expect(suites.root?.name).toBe('testsuites');
});

test('experiment compare: JSON has everything, for programs', async () => {
  expect(JSON.parse(await inFormat('json'))).toMatchObject({
    examples: 1,
    only_a: { count: 1, examples: ['only a'] },
    only_b: { count: 1 },
    evaluators: [{ name: 'completed' }, { name: 'tool_error' }, { flipped: [{ a: { value: 1 }, b: { value: 0, explanation: hostile } }] }],
  });
});

test('experiment compare: a name without an experiment is reported', async () => {
  const place = workplace();
  const a = written(place, 'a', passing);
  for (const [words, text] of [
    [[a], 'Name two experiments'],
    [[a, join(place.folder, 'none.json')], 'There is no file'],
    [[a, place.file('list.json', '[]')], 'experiment and results'],
    [[a, place.file('text.json', 'not json')], 'it is not JSON'],
    [[a, a, '--format', 'pdf'], '--format takes one of table, markdown, junit, json, html'],
  ] as const)
    expect(await place.tracejury(['experiment', 'compare', ...words])).toMatchObject({
      code: 2,
      err: expect.stringContaining(text) as string,
    });
});
