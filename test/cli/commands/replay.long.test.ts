import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { noTenant } from '../../../src/model/ids.ts';
import type { Store } from '../../../src/model/store/store.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { traceId } from '../../builders/spans.ts';
import { configFrom, storeTraces, type StoredTrace } from '../../builders/stored-runs.ts';
import {
  folder,
  file,
  replay,
  reported,
  of,
  agentRun,
  lenient,
  strict,
  traces,
  stored,
  config,
  allVerdicts,
  ended,
} from '../replay/harness.ts';

afterAll(ended);

test('replay: a changed threshold flips verdicts, with both explanations, and nothing is written', async () => {
  const path = await stored(`${lenient}, loop_detection`, traces(30));
  const before = await allVerdicts(path);
  const report = await reported('-c', config(path, `${strict}, loop_detection, final_response_present`));
  expect([report.code, report.runs, report.left_out.runs, report.written]).toEqual([0, 30, 0, null]);
  const flipped = of(report, 'tool_error');
  expect(flipped).toMatchObject({
    result: 'worse',
    before: { point: 1, runs: 30 },
    after: { point: 2 / 3, runs: 30 },
    difference: { point: expect.closeTo(-1 / 3), runs: 30 },
    verdicts: { to_fail: 10, to_pass: 0, same: 20, changed: 0 },
  });
  expect(flipped.examples['to_fail']).toHaveLength(3);
  expect(flipped.examples['to_fail']?.[0]).toMatchObject({
    trace_id: traceId(30),
    span_id: spanId(1),
    agent: 'support',
    before: { verdict: 'pass', score: 0.5, explanation: expect.stringContaining('1 of 2') },
    after: { verdict: 'fail', score: 0.5, explanation: expect.stringContaining('1 of 2') },
  });
  expect(of(report, 'loop_detection')).toMatchObject({ result: 'no_difference_shown', verdicts: { same: 30 }, unchanged_evaluator: 30 });
  expect(of(report, 'final_response_present')).toMatchObject({
    result: 'not_tested',
    before: null,
    after: { runs: 30 },
    verdicts: { newly_scored: 30 },
  });
  expect(await allVerdicts(path)).toEqual(before);
});

test.each([
  {
    name: 'a threshold that is lower',
    before: strict,
    after: lenient,
    of_: 'tool_error',
    verdicts: { to_pass: 4, same: 8 },
    result: 'no_difference_shown',
  },
  {
    name: 'no threshold any more',
    before: strict,
    after: '{ use: tool_error, threshold: null }',
    of_: 'tool_error',
    verdicts: { measure_changed: 12 },
    result: 'not_tested',
  },
  {
    name: 'a removed evaluator',
    before: strict,
    after: 'loop_detection',
    of_: 'tool_error',
    verdicts: { no_longer_scored: 12 },
    result: 'not_tested',
  },
  {
    name: 'an evaluator for other agents',
    before: strict,
    after: `{ use: tool_error, when: { agent: sales } }`,
    of_: 'tool_error',
    verdicts: { no_longer_scored: 12 },
    result: 'not_tested',
  },
  {
    name: 'another name',
    before: strict,
    after: '{ use: tool_error, name: calls }',
    of_: 'calls',
    verdicts: { newly_scored: 12 },
    result: 'not_tested',
  },
  { name: 'the same evaluators', before: strict, after: strict, of_: 'tool_error', verdicts: { same: 12 }, result: 'no_difference_shown' },
])('replay: $name', async ({ before, after, of_, verdicts, result }) => {
  const path = await stored(before, traces(12));
  expect(of(await reported('-c', config(path, after)), of_)).toMatchObject({ verdicts, result });
});

test('replay: reasons of missing verdicts are counted', async () => {
  const path = await stored(`${strict}, final_response_present`, traces(4));
  const report = await reported('-c', config(path, '{ use: tool_error, when: { agent: sales } }'));
  expect(of(report, 'tool_error').no_longer_scored).toEqual({ when: 4 });
  expect(of(report, 'final_response_present').no_longer_scored).toEqual({ not_configured: 4 });
});

test('replay: a run whose spans are gone, redacted or not whole is counted by its reason and named, and no rate claims it', async () => {
  const gone: readonly StoredTrace[] = [
    { spans: agentRun(1) },
    { spans: agentRun(9) },
    { spans: agentRun(2), piece: { isRedacted: true } },
    { spans: agentRun(3), piece: { isWhole: false } },
    { spans: agentRun(4), piece: false },
    { spans: agentRun(5), piece: false, item: { withoutContent: 'sampled_out' } },
    { spans: agentRun(6), piece: false, item: { withoutContent: 'overload' } },
    { spans: agentRun(7).slice(1), runs: [] },
  ];
  const path = await stored(lenient, gone, async (store) => {
    // Its spans make a run that differs from the stored one.
    await storeTraces(store, configFrom(`evaluators: [ ${lenient} ]`), [{ spans: agentRun(8), piece: false }]);
    await store.writeSpans([{ ...(await pieceOfTrace(store, 7)), traceId: traceId(8), digest: 'other' }]);
    // The retention deletes content and spans before runs.
    await store.prune({
      runsBefore: 0,
      contentBefore: ((await store.runs({ traceId: traceId(1), limit: 1 })).runs[0]?.startedAt ?? 0) + 1,
      jobsBefore: 0,
      turnsBefore: 0,
      exportsBefore: 0,
      exportsMax: 10,
      bytesMax: 1e12,
      stepRuns: 100,
    });
  });
  const report = await reported('-c', config(path, strict));
  expect(report.runs).toBe(1);
  expect(report.left_out).toEqual({
    runs: 7,
    reasons: {
      redacted: { runs: 1, examples: [`${traceId(2)}/${spanId(1)}`] },
      not_whole: { runs: 1, examples: [`${traceId(3)}/${spanId(1)}`] },
      spans_not_kept: { runs: 1, examples: [`${traceId(4)}/${spanId(1)}`] },
      sampled_out: { runs: 1, examples: [`${traceId(5)}/${spanId(1)}`] },
      overload: { runs: 1, examples: [`${traceId(6)}/${spanId(1)}`] },
      not_in_spans: { runs: 1, examples: [`${traceId(8)}/${spanId(1)}`] },
      expired: { runs: 1, examples: [`${traceId(1)}/${spanId(1)}`] },
    },
  });
  expect(of(report, 'tool_error')).toMatchObject({ before: { runs: 1 }, after: { runs: 1 } });
  const { out } = await replay('-c', config(path, strict));
  expect(out).toContain('7 runs left out of the rates:');
  expect(out).toContain(
    `1 redacted: its spans are redacted, and may differ from those that were scored; --redacted scores them (${traceId(2)}/`,
  );
  expect((await reported('-c', config(path, strict), '--redacted')).runs).toBe(2);
});

async function pieceOfTrace(store: Store, nth: number) {
  const [piece] = await store.spans(noTenant, traceId(nth));
  if (piece === undefined) throw new Error('no spans');
  return piece;
}

test('replay: --where, --since, --until and --limit choose the runs', async () => {
  const path = await stored(lenient, [...traces(12), { spans: agentRun(13, { agent: 'sales', session: 's-1' }) }]);
  const named = config(path, strict);
  const runsOf = async (...words: readonly string[]): Promise<number> => (await reported('-c', named, ...words)).runs;
  expect(await runsOf('--where', 'agent=sales')).toBe(1);
  expect(await runsOf('--where', 'agent=support', '--where', 'evaluator=tool_error verdict=pass')).toBe(12);
  expect(await runsOf('--where', 'session=s-1')).toBe(1);
  expect(await runsOf('--limit', '5')).toBe(5);
  expect(await runsOf('--until', '2000-01-01')).toBe(13);
  expect((await replay('-c', named, '--since', '1h')).err).toBe('No stored run matches.');
});

test.each([
  { words: [], says: 'Name the new configuration with -c.' },
  { words: ['-c', 'x.yaml', '--judges', 'always'], says: '--judges takes cached, ask, skip, and not "always".' },
  { words: ['-c', 'x.yaml', '--budget', '1'], says: '--budget bounds what judges cost, so it goes with --judges ask.' },
  { words: ['-c', 'x.yaml', '--resume'], says: '--resume goes with --write.' },
  { words: ['-c', 'x.yaml', '--no-export'], says: '--no-export goes with --write.' },
  { words: ['-c', 'x.yaml', '--write', 'spans.json'], says: 'files hold none' },
  { words: ['-c', 'x.yaml', '--write', '--against', 'y.yaml'], says: 'Use one of them' },
  { words: ['-c', 'x.yaml', '--where', 'agnet=a'], says: 'Did you mean agent?' },
  { words: ['-c', 'x.yaml', '--since', 'never'], says: '--since: "never" is not a time.' },
  { words: ['-c', 'x.yaml', '--limit', '1.5'], says: '--limit takes a whole number.' },
  { words: ['-c', 'x.yaml', '--format', 'junit'], says: '--format takes one of text, json, markdown.' },
])('replay: $words is refused', async ({ words, says }) => {
  const { code, err } = await replay(...words);
  expect([code, err]).toEqual([2, expect.stringContaining(says)]);
});

test('replay: a configuration without a store, and a missing store, are reported', async () => {
  expect(await replay('-c', file('store: { url: "memory:" }'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('which only its own process can read'),
  });
  expect(await replay('-c', config(join(folder(), 'none.db'), strict))).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is no store at'),
  });
});

test('replay: --fail-on-regression is exit 1 for a significant change for the worse, and for nothing else', async () => {
  const path = await stored(lenient, traces(30));
  expect((await replay('-c', config(path, strict), '--fail-on-regression')).code).toBe(1);
  expect((await replay('-c', config(path, strict), '--fail-on-regression', '--limit', '4')).code).toBe(0);
  expect((await replay('-c', config(path, lenient), '--fail-on-regression')).code).toBe(0);
  const better = await stored(strict, traces(30));
  expect((await replay('-c', config(better, lenient), '--fail-on-regression')).code).toBe(0);
});

test('replay: the reports as text and Markdown', async () => {
  const path = await stored(`${lenient}, loop_detection`, traces(30));
  const named = config(path, `${strict}, loop_detection`);
  const { out } = await replay('-c', named, '--examples', '1');
  expect(out).toContain(`30 runs scored again, stored runs under ${named} beside the stored verdicts.`);
  expect(out).toMatch(/^ {2}before {6}pass rate 100\.0 % \(\d+\.\d % to 100\.0 %\) of 30 runs$/m);
  expect(out).toMatch(/^ {2}difference {2}−33\.3 points \(−\d+\.\d to −\d+\.\d\) on the same 30 runs, p = 0\.00\d: worse$/m);
  expect(out).toContain('10 to fail; 20 as before');
  expect(out).toMatch(/As before on every run:\n {2}loop_detection: pass rate 100\.0 %/);
  expect(out).toMatch(/Nothing is written; --write makes the new verdicts revisions of the stored ones\.$/);
  const { out: markdown } = await replay('-c', named, '--format', 'markdown');
  expect(markdown).toContain('### ❌ Replay: 1 worse');
  expect(markdown).toContain('| tool\\_error | pass rate 100.0 %');
});

test('replay: files of spans are scored under one configuration beside another', async () => {
  const spans = file(writeTraces(Array.from({ length: 12 }, (_, at) => agentRun(at + 1)).flat(), 'json'), 'json');
  const [next, old] = [file(`evaluators: [ ${strict} ]`), file(`evaluators: [ ${lenient} ]`)];
  const report = await reported(spans, '-c', next, '--against', old);
  expect(report).toMatchObject({ runs: 12, forecast: null, written: null });
  expect(of(report, 'tool_error')).toMatchObject({ verdicts: { to_fail: 4, same: 8 } });
  expect(of(await reported(spans, '-c', next), 'tool_error')).toMatchObject({ before: null, verdicts: { newly_scored: 12 } });
  expect((await reported(spans, '-c', next, '--against', old, '--where', 'evaluator=tool_error verdict=pass')).runs).toBe(12);
  expect((await replay(spans, '-c', next, '--where', 'verdict=fail')).err).toContain('Name a configuration with --against.');
});

test('replay: --against scores the side before anew, with any stored verdict', async () => {
  const path = await stored(strict, traces(12));
  const report = await reported('-c', config(path, strict), '--against', config(path, lenient));
  expect(of(report, 'tool_error')).toMatchObject({ before: { point: 1 }, verdicts: { to_fail: 4, same: 8 } });
});
