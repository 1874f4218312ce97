/** `--judges` and `--budget`. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gatheredRuns } from '../../../src/cli/inspect/inspection.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { type ChatServer } from '../../judges/chat-server.ts';
import { configFrom, storeTraces } from '../../builders/stored-runs.ts';
import { folder, replay, reported, of, strict, traces, stored, config, opened, allVerdicts, judging, ended } from './harness.ts';

afterAll(ended);

const done = '{ use: task_completion, name: done, judge: main, sample: { rate: 1 }, expect: { tasks: [ "answer" ] } }';
const judgesOf = ({ baseUrl }: ChatServer, model = 'm', price = ', price: { input_per_million: 1000, output_per_million: 1000 }'): string =>
  `judges: { main: { base_url: "${baseUrl}", model: ${model}, api_key: k, concurrency: 1${price} } }\n`;

test('replay: judges are asked within the budget and no further, what they said is cached, and a later replay takes it from there', async () => {
  const server = await judging('question 2');
  const path = await stored(strict, traces(6));
  const named = config(path, `${strict}, ${done}`, judgesOf(server));
  const nothing = await reported('-c', named);
  expect(server.requests).toHaveLength(0);
  expect(of(nothing, 'done')).toMatchObject({ after: null, verdicts: { not_asked: 6 }, not_asked: { no_cached_answer: 6 } });
  expect(nothing.notes).toContain('Rates of judges cover only the runs with a cached answer, which may differ from the others.');
  expect([nothing.forecast, nothing.notes.at(-1)]).toEqual([
    null,
    'The store has no run of the last 7 days, so nothing forecasts the cost of the judges.',
  ]);
  expect(of(await reported('-c', named, '--judges', 'skip'), 'done').not_asked).toEqual({ judges_skipped: 6 });
  // A question reserves some dollars for the longest answer, and costs 0.11.
  const asked = await reported('-c', named, '--judges', 'ask', '--budget', '12');
  expect(asked.spent_usd).toBeLessThanOrEqual(12);
  expect(asked.spent_usd).toBeCloseTo(0.11 * server.requests.length, 5);
  expect(of(asked, 'done')).toMatchObject({ after: { runs: server.requests.length } });
  const count = server.requests.length;
  const poor = await reported('-c', config(path, `${strict}, ${done}`, judgesOf(server, 'other')), '--judges', 'ask', '--budget', '0.5');
  expect(server.requests).toHaveLength(count);
  expect(of(poor, 'done')).toMatchObject({ after: null, not_asked: { replay_budget: 6 } });
  const cached = await reported('-c', named);
  expect(server.requests).toHaveLength(count);
  expect(of(cached, 'done')).toMatchObject({ after: of(asked, 'done').after, verdicts: { newly_scored: count, not_asked: 6 - count } });
  expect((await allVerdicts(path)).every(({ revision, verdicts }) => revision === 1 && verdicts.length === 1)).toBe(true);
});

test('replay: --write gives a new judge a history, and stored verdicts of the same judge need no answer', async () => {
  const server = await judging('question 2');
  const path = await stored(strict, traces(4));
  const named = config(path, `${strict}, ${done}`, judgesOf(server));
  const first = await reported('-c', named, '--judges', 'ask', '--budget', '100', '--write');
  expect(first.written).toEqual({ written: 4, changed: 0, gone: 0 });
  expect(
    (await allVerdicts(path)).map(({ verdicts }) => verdicts.map(({ name, verdict, revision }) => `${name} ${verdict} ${revision}`)),
  ).toEqual([
    ['done pass 2', 'tool_error pass 1'],
    ['done pass 2', 'tool_error fail 1'],
    ['done fail 2', 'tool_error pass 1'],
    ['done pass 2', 'tool_error pass 1'],
  ]);
  await opened(path, (store) => store.judgeAnswers.prune({ before: Number.MAX_SAFE_INTEGER, rows: 0, chars: 0 }));
  expect(of(await reported('-c', named), 'done')).toMatchObject({ verdicts: { same: 4 }, unchanged_evaluator: 4 });
  // Another model is another judge, and has nothing cached.
  expect(of(await reported('-c', config(path, `${strict}, ${done}`, judgesOf(server, 'other'))), 'done')).toMatchObject({
    before: { runs: 4 },
    verdicts: { not_asked: 4 },
  });
});

test('replay: a judge that samples is asked only about the runs of its sample', async () => {
  const server = await judging();
  const path = await stored(strict, traces(12));
  // The ids of these traces are below every threshold but that of the rate 1.
  const raised = done.replace('rate: 1', 'rate: 0.5, raise: [ { when: "tool_error < 1", to: 1 } ]');
  const report = await reported('-c', config(path, `${strict}, ${raised}`, judgesOf(server)), '--judges', 'ask', '--budget', '1000');
  expect(of(report, 'done')).toMatchObject({ after: { runs: 4 }, verdicts: { newly_scored: 4, unscored: 8 } });
  expect(server.requests).toHaveLength(4);
});

test('replay: forecasts what the judges would cost a day', async () => {
  const server = await judging();
  const path = join(folder(), `${randomUUID()}.db`);
  await opened(path, async (store) => {
    const old = configFrom(`evaluators: [ ${strict} ]`);
    const now = BigInt(Date.now()) * 1_000_000n;
    const recent = traces(5).map((trace) => ({
      ...trace,
      runs: [...gatheredRuns({ spans: trace.spans, records: [] }, old, noTelemetry).values()].map((run) => ({
        ...run,
        startUnixNano: now,
      })),
    }));
    await storeTraces(store, old, recent);
  });
  const named = config(path, `${strict}, ${done}`, judgesOf(server));
  const { forecast } = await reported('-c', named);
  expect(forecast?.evaluators).toEqual([
    expect.objectContaining({ name: 'done', share: 1, basis: 'estimated', usd_per_day: expect.any(Number) }),
  ]);
  expect((await replay('-c', named)).out).toMatch(/Judges a day, by the stored traffic:\n {2}\d+ runs a day/);
});

test.each([
  { price: '', words: ['--judges', 'ask', '--budget', '1'], says: '--budget cannot bound the judge main, as unknown-model has no price.' },
  {
    price: ', price: { input_per_million: 1, output_per_million: 1 }',
    words: ['--judges', 'ask'],
    says: '--judges ask needs --budget USD',
  },
])('replay: asks no judge when nothing bounds the cost: $says', async ({ price, words, says: told }) => {
  const server = await judging();
  const path = await stored(strict, traces(1));
  const named = config(path, `${strict}, ${done}`, judgesOf(server, 'unknown-model', price));
  expect(await replay('-c', named, ...words)).toMatchObject({ code: 2, err: expect.stringContaining(told) });
  expect(server.requests).toHaveLength(0);
});
