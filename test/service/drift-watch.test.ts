/** A judge that is asked about a fixed set again and again: times, stored looks and reports. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfigWithFiles } from '../../src/config/load.ts';
import { configuredRedaction } from '../../src/config/entries/redaction.ts';
import type { DriftMeasurement } from '../../src/model/store/drift-store.ts';
import { manualClock } from '../../src/model/clock.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import type { AskEnd } from '../../src/pipeline/jury/judge-driver.ts';
import { driftWatch, type DriftWatch } from '../../src/service/drift-watch.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { Store } from '../../src/model/store/store.ts';
import type { MetricName } from '../../src/telemetry/metrics.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { scored } from '../builders/scored-run.ts';
import { validators } from '../builders/validators.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-drift-'));
afterAll(() => rmSync(folder, { recursive: true }));

const startMs = 1_700_000_000_000;
const hourMs = 3_600_000;
const runs = 20;
writeFileSync(
  join(folder, 'set.jsonl'),
  Array.from({ length: runs }, (_, at) =>
    JSON.stringify({ input: `question ${at} of ann@example.org`, final_response: `answer ${at}` }),
  ).join('\n'),
);

interface Entry {
  readonly drift?: string;
  readonly options?: string;
  readonly model?: string;
  readonly redact?: string;
}

async function configured({
  drift = 'dataset: set.jsonl, every: 1h',
  options = '',
  model = 'm',
  redact = '',
}: Entry = {}): Promise<Config> {
  const text = `${redact}\njudges: { main: { model: ${model} } }\nevaluators:\n  - { use: custom_judge, name: polite, judge: main, options: { template: "Is {{final_response}} polite?${options}", labels: { yes: 1, no: 0 } }, threshold: 1, drift: { ${drift} } }`;
  return (await loadConfigWithFiles({ validators, file: join(folder, 'tracejury.yaml'), text, env: {}, evaluators })).config;
}

/** The answer of the judge about the run with this number. */
type Says = (at: number, run: Run) => AskEnd;

const passes: AskEnd = { kind: 'judged', verdict: scored(1) };
const fails: AskEnd = { kind: 'judged', verdict: scored(0) };
const breaks: AskEnd = { kind: 'judged', verdict: { kind: 'failed', error: 'judge_timed_out: after 60 s', explanation: '', details: {} } };

/** A watch on a clock that goes on only by its own rests. */
function host(store: Store, first: Config, { calm = (): boolean => true } = {}) {
  const [clock, telemetry, ended] = [manualClock(startMs), metricRegistry(), new AbortController()];
  let config = first;
  let says: Says = () => passes;
  let asked: { readonly at: number; readonly ms: number; readonly input: string }[] = [];
  let untilMs = startMs;
  let wake: () => void = () => undefined;
  let atRest: () => void = () => undefined;
  const watch = (): DriftWatch =>
    driftWatch({
      store,
      config: () => config,
      redaction: () => configuredRedaction(config.redact, noTelemetry),
      isCalm: calm,
      ask(run, _work, done) {
        const at = Number(/\d+/.exec(String(run.trace.finalResponse))?.[0]);
        asked.push({ at, ms: clock.nowMs(), input: run.trace.input ?? '' });
        done(says(at, run));
      },
      telemetry,
      clock,
      async sleep(ms, signal) {
        clock.advance(ms);
        while (clock.nowMs() >= untilMs && signal?.aborted !== true && !ended.signal.aborted) {
          await new Promise<void>((resolve) => {
            wake = resolve;
            signal?.addEventListener('abort', () => resolve(), { once: true });
            atRest();
          });
        }
      },
      onFault: (error) => expect.unreachable(String(error)),
    });
  let own = watch();
  onTestFinished(() => own.stop());
  return {
    use: (next: Says) => void (says = next),
    configure: (next: Config) => void (config = next),
    /** Advances the time, and returns the questions of that time. */
    async until(ms: number) {
      asked = [];
      untilMs = startMs + ms;
      const rested = new Promise<void>((resolve) => void (atRest = resolve));
      wake();
      await rested;
      return asked;
    },
    async restart() {
      await own.stop();
      own = watch();
    },
    looks: () => store.judgeDrift.looks({ name: 'polite', limit: 50 }),
    gauge(metric: MetricName, bound?: string): number | undefined {
      const point = telemetry
        .snapshot()
        .find(({ name }) => name === metric)
        ?.points.find(({ labels }) => bound === undefined || labels['tracejury.bound'] === bound);
      return point?.kind === 'number' ? point.value : undefined;
    },
    counts(metric: MetricName): { readonly [outcome: string]: number } {
      return Object.fromEntries(
        (telemetry.snapshot().find(({ name }) => name === metric)?.points ?? []).map((point) => [
          point.labels['tracejury.outcome'] ?? '',
          point.kind === 'number' ? point.value : 0,
        ]),
      );
    },
  };
}

const brief = (looks: readonly DriftMeasurement[]): readonly string[] =>
  looks.map(
    ({ series, look, state, result }) =>
      `${series.number}.${look} ${state}${result === undefined ? '' : ` ${result.word} ${result.shown}`}`,
  );

test('drift watch: the set is asked about at once, one run after the other, and again when it is due', async () => {
  const to = host(await memoryStore(), await configured());
  const first = await to.until(hourMs / 2);
  expect(first.map(({ at }) => at)).toEqual(Array.from({ length: runs }, (_, at) => at));
  // A tenth of an hour for twenty runs would be eighteen seconds each: ten is the most.
  expect(first.map(({ ms }) => ms - startMs).slice(0, 3)).toEqual([0, 10_000, 20_000]);
  expect(brief(await to.looks())).toEqual(['1.0 kept']);
  expect([to.gauge('tracejury.judge.drift'), to.gauge('tracejury.judge.drift.flipped')]).toEqual([0, undefined]);
  expect(await to.until(hourMs - 60_000)).toEqual([]);
  expect(await to.until(2 * hourMs - 60_000)).toHaveLength(runs);
  expect(brief(await to.looks())).toEqual(['1.1 kept no_change_shown no_change_shown', '1.0 kept']);
  expect(to.gauge('tracejury.judge.drift.flipped', 'point')).toBe(0);
  expect(to.gauge('tracejury.judge.drift.flipped', 'high')).toBeGreaterThan(0.1);
  expect(to.gauge('tracejury.judge.drift.looked')).toBeGreaterThan((startMs + hourMs) / 1_000);
  expect(to.counts('tracejury.judge.drift.questions')).toEqual({ judged: 2 * runs });
});

test('drift watch: a judge that fails what it passed is reported, and stays reported until the next baseline', async () => {
  const to = host(await memoryStore(), await configured());
  await to.until(hourMs / 2);
  to.use((at) => (at < 10 ? fails : passes));
  await to.until(1.5 * hourMs);
  expect((await to.looks())[0]?.result).toEqual({
    counts: { stayedPass: 10, stayedFail: 0, toPass: 0, toFail: 10 },
    planned: undefined,
    word: 'passes_less',
    shown: 'passes_less',
  });
  expect([to.gauge('tracejury.judge.drift'), to.gauge('tracejury.judge.drift.flipped', 'point')]).toEqual([-1, 0.5]);
  to.use(() => passes);
  await to.until(2.5 * hourMs);
  expect(brief(await to.looks())[0]).toBe('1.2 kept no_change_shown passes_less');
  expect([to.gauge('tracejury.judge.drift'), to.gauge('tracejury.judge.drift.flipped', 'point')]).toEqual([-1, 0]);
  to.configure(await configured({ drift: 'dataset: set.jsonl, every: 1h, baseline: "2026-11"' }));
  await to.until(3.5 * hourMs);
  expect((await to.looks())[0]?.series).toMatchObject({ number: 2, because: ['baseline "2026-11", before ""'] });
  expect(to.gauge('tracejury.judge.drift')).toBe(0);
});

test('drift watch: one that wavers in both directions flips and does not drift', async () => {
  const to = host(await memoryStore(), await configured());
  to.use((at) => (at % 2 === 0 ? fails : passes));
  await to.until(hourMs / 2);
  to.use((at) => (at % 2 === 0 ? passes : fails));
  await to.until(1.5 * hourMs);
  expect([to.gauge('tracejury.judge.drift'), to.gauge('tracejury.judge.drift.flipped', 'point')]).toEqual([0, 1]);
});

for (const { name, given, because } of [
  { name: 'another model', given: { model: 'n' }, because: ['model "n", before "m"'] },
  {
    name: 'another question',
    given: { options: ' And kind?' },
    because: ['other options (a template is one), or another expectation'],
  },
  {
    name: 'texts that are redacted now',
    given: { redact: 'redact: [ { match: email } ]' },
    because: ['other runs in the dataset, or other rules of redact'],
  },
]) {
  test(`drift watch: ${name} begins a new baseline and is its reason`, async () => {
    const to = host(await memoryStore(), await configured());
    await to.until(hourMs / 2);
    to.configure(await configured(given));
    const asked = await to.until(hourMs);
    expect(asked).toHaveLength(runs);
    expect(asked.every(({ input }) => input.includes('ann@example.org') === (given.redact === undefined))).toBe(true);
    const looks = await to.looks();
    expect(brief(looks)).toEqual(['2.0 kept', '1.0 kept']);
    expect(looks[0]?.series.because).toEqual(because);
  });
}

test('drift watch: when the planned looks are over a new baseline begins', async () => {
  const to = host(await memoryStore(), await configured({ drift: 'dataset: set.jsonl, every: 1h, looks: 1' }));
  for (const hours of [0.5, 1.5, 2.5]) await to.until(hours * hourMs);
  const looks = await to.looks();
  expect(brief(looks)).toEqual(['2.0 kept', '1.1 kept no_change_shown no_change_shown', '1.0 kept']);
  expect(looks[0]?.series.because).toEqual(['all planned looks (1) are over']);
});

test('drift watch: a look goes on after a restart where it was', async () => {
  const file = join(folder, 'restart.db');
  const store = await sqliteStore(file);
  onTestFinished(() => store.stop());
  const to = host(store, await configured());
  expect((await to.until(45_000)).map(({ at }) => at)).toEqual([0, 1, 2, 3, 4]);
  await to.restart();
  expect((await to.until(hourMs / 2)).map(({ at }) => at)).toEqual(Array.from({ length: runs - 5 }, (_, at) => at + 5));
  expect(brief(await to.looks())).toEqual(['1.0 kept']);
});

test('drift watch: a judge without money or that is down is asked again later, and what it has said stays', async () => {
  const to = host(await memoryStore(), await configured());
  to.use((at) => (at < 3 ? passes : { kind: 'over_budget', reason: 'usd_per_day' }));
  expect((await to.until(5 * 60_000)).map(({ at }) => at)).toEqual([0, 1, 2, 3, 3, 3, 3, 3]);
  to.use(() => passes);
  expect((await to.until(hourMs / 2)).map(({ at }) => at)).toEqual(Array.from({ length: runs - 3 }, (_, at) => at + 3));
  expect(to.counts('tracejury.judge.drift.questions')).toEqual({ judged: runs, put_off: 5 });
});

test('drift watch: what failed is asked about once more, and a look with too few verdicts counts for nothing', async () => {
  const to = host(await memoryStore(), await configured());
  to.use((at) => (at < 3 ? breaks : passes));
  expect(await to.until(hourMs / 2)).toHaveLength(runs + 3);
  expect(brief(await to.looks())).toEqual(['1.0 unfinished']);
  expect(to.gauge('tracejury.judge.drift')).toBeUndefined();
  expect(to.counts('tracejury.judge.drift.looks')).toEqual({ unfinished: 1 });
  to.use((at) => (at < 2 ? breaks : passes));
  await to.until(1.5 * hourMs);
  expect(brief(await to.looks())).toEqual(['1.0 kept']);
  expect(to.counts('tracejury.judge.drift.questions')).toEqual({ failed: 10, judged: 17 + 18 });
});

test('drift watch: a look that takes longer than the time to the next one ends', async () => {
  const to = host(await memoryStore(), await configured());
  await to.until(hourMs / 2);
  to.use((at) => (at < 5 ? passes : { kind: 'overload', reason: 'judge_down' }));
  await to.until(2.9 * hourMs);
  expect(brief(await to.looks())).toEqual(['1.1 open', '1.0 kept']);
  to.use(() => passes);
  await to.until(2.99 * hourMs);
  expect(brief(await to.looks())).toEqual(['1.1 kept no_change_shown no_change_shown', '1.0 kept']);
  expect(to.counts('tracejury.judge.drift.looks')).toEqual({ kept: 2, unfinished: 1 });
});

test('drift watch: while there is too much to do nothing is asked', async () => {
  let calm = false;
  const to = host(await memoryStore(), await configured(), { calm: () => calm });
  expect(await to.until(hourMs)).toEqual([]);
  calm = true;
  expect(await to.until(1.5 * hourMs)).toHaveLength(runs);
});
