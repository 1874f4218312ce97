/** Reports hold foreign text: it is shown, and nothing obeys it. */
import { expect, test } from 'vitest';
import { type EvalReport, gateResults, hasPassed, tableText, talliesOf } from '../../../src/cli/eval/report.ts';
import type { EvalOutcome, EvalResult, MatchedItem } from '../../../src/cli/eval/scoring.ts';
import { junitXml } from '../../../src/cli/eval/junit.ts';
import { htmlReport } from '../../../src/cli/eval/html.ts';
import { markdownText } from '../../../src/cli/eval/markdown.ts';
import { percent } from '../../../src/report/text.ts';
import { progressBar } from '../../../src/cli/terminal.ts';
import { reportJson } from '../../../src/cli/eval/report-json.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { junitFaults, xmlElements } from './junit-schema.ts';
import { inputOf } from '../../../src/cli/inspect/recording.ts';
import { readInputs } from '../../../src/cli/eval/inputs.ts';
import { defaultClosing } from '../../../src/pipeline/gathering/close-policy.ts';

const nasty = 'a|b `c` <img src=x> [l](u) @team ]]> "q" & \u0000\u001b[31m\u202e\nnext #1 \ud800';
const explained = { explanation: nasty, details: {} };
const scored = (score: number, threshold: number | null = 1): Verdict => ({
  kind: 'scored',
  score,
  threshold,
  passed: threshold === null ? null : score >= threshold,
  label: '',
  evidence: [],
  parts: score < 1 ? [{ index: 0, tool: nasty, score: 0, passed: false, explanation: nasty }] : [],
  ...explained,
});
const verdicts: readonly Verdict[] = [
  scored(1),
  scored(0.5),
  scored(0.25, null),
  { kind: 'skipped', reason: 'no_tool_calls', ...explained },
  { kind: 'failed', error: 'timed_out', ...explained },
];

const [item] = readInputs([inputOf({ name: 'x', bytes: Buffer.from('{"input":"hi"}') })], {
  reading: { closing: defaultClosing },
  take: (one) => one,
}).items;
if (item === undefined) throw new Error('no run');
const matchedItem: MatchedItem = { ...item, label: nasty, example: undefined };
const outcome: EvalOutcome = {
  results: verdicts.map((verdict) => ({ item: matchedItem, verdicts: [{ name: 'tool_error', evaluator: 'tool_error', verdict }] })),
  runs: 7,
  sampledOut: 1,
  notBegun: 1,
  missing: ['lost'],
};
const tallies = talliesOf(outcome);
const gates = gateResults(
  [
    { name: 'tool_error', share: 0.5 },
    { name: 'other', share: 0 },
  ],
  tallies,
);
const tasks: EvalReport['tasks'] = [
  { task: nasty, agent: nasty, runs: 2, convergence: 0.75, shareOnOptimalPath: 0.5, optimalSteps: 2 },
  { task: 'once', agent: '', runs: 1, convergence: 1, shareOnOptimalPath: 1, optimalSteps: 3 },
];
const report: EvalReport = { outcome, tallies, gates, tasks, passed: hasPassed(outcome, gates) };

test('report: five kinds of verdict are counted apart', () => {
  expect(tallies).toEqual([{ name: 'tool_error', passed: 1, failed: 1, raw: 1, skipped: 1, errors: 1, scoreSum: 1.75 }]);
  expect(gates).toEqual([
    { name: 'tool_error', share: 0.5, reached: 0.5, held: true },
    { name: 'other', share: 0, reached: undefined, held: false },
  ]);
});

test('report: an example without a run fails it under any gates', () => {
  const held = gates.slice(0, 1);
  expect([
    hasPassed(outcome, held),
    hasPassed({ ...outcome, missing: [] }, held),
    hasPassed({ ...outcome, missing: [] }, []),
    hasPassed({ ...outcome, missing: [], results: outcome.results.slice(2) }, []),
  ]).toEqual([false, true, false, true]);
});

test('report: a share is never rounded up', () => {
  expect([percent(0.9999), percent(1), percent(0.5), percent(2 / 3)]).toEqual(['99.9 %', '100 %', '50 %', '66.6 %']);
});

test('junit: the document keeps to the schema, and the counts are those of the cases', () => {
  const xml = junitXml(report);
  expect(junitFaults(xml)).toEqual([]);
  const cases = xmlElements(xml).filter(({ name }) => name === 'testcase');
  expect(cases).toHaveLength(5 + 1 + 2);
  expect(cases[0]?.attributes['name']).toBe('a|b `c` <img src=x> [l](u) @team ]]> "q" & \uFFFD\uFFFD[31m\u202e\nnext #1 \uFFFD');
});

test('junit: a gate that holds is a case with its shares', () => {
  expect(junitXml(report)).toContain('held: tool_error passed 50 %, at least 50 % wanted');
});

test('junit: the schema finds what is wrong', () => {
  const faulty = [
    '<testsuites>',
    '<testsuites><testcase name="a"/></testsuites>',
    '<testsuites><testsuite tests="1" failures="0" errors="0" skipped="0"/></testsuites>',
    '<testsuites><testsuite name="s" tests="2" failures="0" errors="0" skipped="0"><testcase name="a" classname="c"/></testsuite></testsuites>',
    '<testsuites><testsuite name="s" tests="1" failures="0" errors="0" skipped="0"><testcase name="a" classname="c"><failed/></testcase></testsuite></testsuites>',
  ];
  for (const xml of faulty) expect(junitFaults(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`)).not.toEqual([]);
});

test('markdown: every table row has its columns, and foreign text neither breaks out nor mentions anybody', () => {
  const text = markdownText(report);
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  for (const row of rows) expect([5, 7, 8]).toContain(row.split(/(?<!\\)\|/).length - 1);
  expect(text.replaceAll('\n', '')).not.toMatch(/<img|@team|(?<!\\)`|\p{Cc}/u);
  expect(text).toContain('7 runs');
  expect(text).toContain('Examples without a run: lost');
  expect(text).toContain('| 2 | 0.750 | 2 | 0.500 |');
  expect(text).not.toContain('once');
});

test('html: one page that loads nothing, in which foreign text is only text', () => {
  const html = htmlReport(report);
  expect(html).toContain('&lt;img src=x&gt; [l](u) @team');
  expect(html).not.toMatch(/<script|<img|<link|<iframe|javascript:|\son\w+=|url\(|(?:src|href)=[^x]/i);
  expect(html.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cs}/u);
  expect(html).toContain("default-src 'none'");
  expect(html).toContain('name="viewport"');
});

test('html: gates that hold and that do not, failing runs with their verdicts, and the others', () => {
  const html = htmlReport(report);
  for (const text of [
    '✓ held: tool_error passed 50 %',
    '✗ not held: other has nothing that passed or failed',
    'Examples without a run',
    '2 runs that did not pass',
    '3 other runs',
    '<td dir="auto">0.583</td>',
    '0.750',
  ])
    expect(html).toContain(text);
  const passing = htmlReport({
    ...report,
    outcome: { ...outcome, missing: [], results: outcome.results.slice(0, 1) },
    gates: [],
    tasks: [],
    passed: true,
  });
  expect(passing).toContain('<span class="passed">passed</span>');
  expect(passing).not.toMatch(/Gates|Examples without a run|did not pass/);
});

test('html: a report of many runs stays small', () => {
  const many = Array.from({ length: 5_000 }, (_, at) => outcome.results[at % 2]).flatMap((one) => one ?? []);
  const html = htmlReport({ ...report, outcome: { ...outcome, results: many } });
  expect(html.length).toBeLessThan(2_000_000);
  expect(html.match(/… and 2300 more/g)).toHaveLength(1);
  expect(html.match(/… and 1500 more/g)).toHaveLength(1);
});

test('table: a terminal obeys nothing of it', () => {
  const text = tableText(report);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
  expect(text.split('\n').at(-1)).toBe('FAILED');
  expect(text).toMatch(/^task .*shortest way +on it$/m);
  expect(text).not.toContain('once');
});

const turn = (label: string, session: string | undefined, startUnixNano: bigint, score: number): EvalResult => ({
  item: { ...item, label, example: undefined, run: { ...item.run, startUnixNano } },
  verdicts: [{ name: 'tool_error', evaluator: 'tool_error', verdict: scored(score) }],
  session,
});
const ofSessions: EvalReport = {
  ...report,
  outcome: {
    ...outcome,
    results: [
      turn('third', 's-1', 3n, 1),
      turn('first', 's-1', 1n, 0.5),
      turn('second', 's-1', 2n, 0.25),
      turn('good 1', 's-2', 1n, 1),
      turn('good 2', 's-2', 1n, 1),
      turn('alone', 's-3', 1n, 0),
      turn('no session', undefined, 1n, 0),
      turn('no session either', undefined, 1n, 0),
    ],
  },
};

test('report: runs of one session have their worst turn by evaluator', () => {
  const { sessions } = JSON.parse(reportJson(ofSessions)) as { readonly sessions: unknown };
  expect(sessions).toEqual([
    {
      session_id: 's-1',
      turns: 3,
      worst_turns: [{ name: 'tool_error', scored_turns: 3, worst_turn: 2, score: 0.25, label: 'second' }],
    },
    {
      session_id: 's-2',
      turns: 2,
      worst_turns: [{ name: 'tool_error', scored_turns: 2, worst_turn: 1, score: 1, label: 'good 1' }],
    },
  ]);
});

test('table: a session whose worst turn failed is named with that turn', () => {
  expect(tableText(ofSessions)).toMatch(/^s-1 +tool_error +2 of 3 +0\.250 +second$/m);
  expect(tableText(ofSessions)).not.toMatch(/^s-[23] /m);
  expect(tableText({ ...ofSessions, verbose: true })).toMatch(/^s-2 +tool_error +1 of 2 +1\.000 +good 1$/m);
});

test('progress: a bar on a terminal, nothing elsewhere', () => {
  const written: string[] = [];
  const draw = (isTTY: boolean): void => {
    const bar = progressBar({ isTTY, write: (text) => written.push(text) }, 2);
    for (const done of [1, 1, 2]) bar.show(done);
    bar.end();
  };
  draw(false);
  expect(written).toEqual([]);
  draw(true);
  expect(written).toEqual([`\r${'█'.repeat(15)}${'░'.repeat(15)} 1/2`, `\r${'█'.repeat(30)} 2/2`, '\r\u001b[K']);
});

test('report: each list in a terminal shows fifty, and the number of the others', () => {
  const listing = (length: number): string => {
    const many = Array.from({ length }, () => outcome.results[1]).flatMap((one) => one ?? []);
    const missing = many.map((_, at) => `lost ${at + 1}`);
    return tableText({ ...report, tasks: [], outcome: { ...outcome, results: many, missing } });
  };
  expect(listing(50)).not.toContain(' more');
  // Runs, verdicts that failed, examples without a run.
  expect(listing(51).match(/^ {2}… and 1 more$/gm)).toHaveLength(3);
  expect(listing(51)).toContain('  lost 50\n  … and 1 more');
  expect(listing(51)).not.toContain('lost 51');
});
