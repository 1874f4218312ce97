/** Alerts under a manual clock, on a real store. */
import { expect, onTestFinished, test } from 'vitest';
import { alertCondition } from '../../src/analytics/alerts/condition.ts';
import type { AlertRule } from '../../src/analytics/alerts/finding.ts';
import type { ExportOutcome } from '../../src/exporters/exporter.ts';
import type { AlertNotice } from '../../src/model/alert.ts';
import { manualClock, type ManualClock } from '../../src/model/clock.ts';
import type { Tenant } from '../../src/model/ids.ts';
import type { Store } from '../../src/model/store/store.ts';
import { alertAgentsMax, alertRow, alertWatch, type AlertWatch } from '../../src/service/alert-watch.ts';
import { versionUpkeep } from '../../src/service/version-upkeep.ts';
import { metricRegistry, type MetricRegistry } from '../../src/telemetry/registry.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';

const startMs = 1_795_651_200_000;
const minuteMs = 60_000;

function rule(when: string, members: Partial<AlertRule> = {}): AlertRule {
  const parsed = alertCondition(when);
  if (parsed.kind === 'fault') throw new Error(parsed.problem);
  return {
    name: 'low',
    when,
    condition: parsed.condition,
    by: 0,
    confidence: 0.99,
    estimate: 'point',
    objective: undefined,
    runsMin: 10,
    clearMs: 10 * minuteMs,
    to: ['hook'],
    ...members,
  };
}

interface Watched {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly telemetry: MetricRegistry;
  readonly notices: AlertNotice[];
  readonly logged: string[];
  readonly alerts: AlertWatch;
  rules: readonly AlertRule[];
  outcome: ExportOutcome | undefined;
  /** `undefined`: another process looks. */
  tenure: number | undefined;
  /** The receiver never answers when true. */
  hangs: boolean;
  stop(): Promise<void>;
  /** Begins a look. */
  wake(): Promise<void>;
  /** The next look, so long after the one before. */
  look(ms?: number): Promise<void>;
  runs(given: { readonly count: number; readonly bad?: number; readonly version?: string; readonly agent?: string }): Promise<void>;
  /** Another process on the same store. */
  restarted(): Watched;
}

let last = 0;

async function watched(rules: readonly AlertRule[], store?: Store, clock: ManualClock = manualClock(startMs)): Promise<Watched> {
  return begun(rules, store ?? (await memoryStore()), clock);
}

function begun(rules: readonly AlertRule[], store: Store, clock: ManualClock): Watched {
  const [rest, telemetry] = [manualSleep(), metricRegistry()];
  const [notices, logged]: [AlertNotice[], string[]] = [[], []];
  const upkeep = versionUpkeep({ store, keepMs: () => 30 * 86_400_000, clock, sleep: rest.sleep, onFault: fail });
  const logger = {
    info: (_: object, message: string) => void logged.push(message),
    warn: (_: object, message: string) => void logged.push(message),
  };
  const own: Watched = {
    clock,
    store,
    telemetry,
    notices,
    logged,
    rules,
    outcome: { kind: 'sent' },
    tenure: 1,
    hangs: false,
    stop: () => task.stop(),
    wake: rest.wakeAll,
    alerts: alertWatch({
      store,
      rules: () => own.rules,
      redaction: () => ({ text: (text) => text.replaceAll('ana@example.com', '[email]') }),
      refresh: upkeep.refresh,
      tenure: () => own.tenure,
      async notify(exporter, notice) {
        if (exporter !== 'hook') return undefined;
        if (own.hangs) return await new Promise(() => undefined);
        if (own.outcome?.kind === 'sent') notices.push(notice);
        return own.outcome;
      },
      telemetry,
      logger,
      clock,
      sleep: rest.sleep,
      onFault: fail,
    }),
    async look(ms = minuteMs) {
      // The look before this one has ended.
      while (rest.asleep() === 0) await settled();
      clock.advance(ms);
      await rest.wakeAll();
      while (rest.asleep() === 0) await settled();
    },
    async runs({ count, bad = 0, version, agent = 'a' }) {
      await store.write(
        Array.from({ length: count }, (_, at) =>
          scoredRun(
            { e: scored(at < bad ? 0 : 1) },
            run({
              spanId: spanId(++last),
              trace: agentTrace({ agent }),
              startUnixNano: BigInt(clock.nowMs()) * 1_000_000n,
              endUnixNano: BigInt(clock.nowMs() + 1_000) * 1_000_000n,
              ...(version === undefined ? {} : { serviceVersion: version }),
            }),
          ),
        ),
      );
    },
    restarted: () => begun(own.rules, store, clock),
  };
  const task = own.alerts.start();
  onTestFinished(() => task.stop());
  return own;
}

function fail(error: unknown): never {
  throw error instanceof Error ? error : new Error('a look failed');
}

const told = ({ notices }: Watched): readonly string[] => notices.map(({ kind, agent }) => `${kind} ${agent ?? ''}`);
const firing = ({ telemetry }: Watched): readonly (readonly [agent: string | undefined, value: number])[] =>
  telemetry
    .snapshot()
    .filter(({ name }) => name === 'tracejury.alert.firing')
    .flatMap(({ points }) =>
      points.map((point) => [point.labels['gen_ai.agent.name'], point.kind === 'number' ? point.value : Number.NaN] as const),
    );
const states = ({ alerts }: Watched): readonly string[] =>
  alerts
    .reports()
    .map(alertRow)
    .map(({ agent, state }) => `${agent ?? '-'} ${state}`);

test('alerts: people get one message when it fires, and one when it is over', async () => {
  const watch = await watched([rule('e.rate < 0.9 over 5m')]);
  await watch.look();
  expect([told(watch), firing(watch), states(watch)]).toEqual([[], [], ['- no_data']]);
  await watch.runs({ count: 20, bad: 5 });
  for (let at = 0; at < 3; at++) await watch.look();
  expect([told(watch), firing(watch), states(watch)]).toEqual([['firing a'], [['a', 1]], ['a firing']]);
  expect(watch.notices[0]).toMatchObject({
    alert: 'low',
    when: 'e.rate < 0.9 over 5m',
    figure: 0.75,
    threshold: 0.9,
    explanation: 'e has a rate of 75 % over 20 runs of the last 5m, below 90 %.',
  });
  await watch.look(12 * minuteMs);
  await watch.runs({ count: 30 });
  for (let at = 0; at < 4; at++) await watch.look();
  expect(told(watch)).toEqual(['firing a']);
  // The condition has to stay away for ten minutes.
  for (let at = 0; at < 3; at++) {
    await watch.runs({ count: 30 });
    await watch.look(4 * minuteMs);
  }
  expect([told(watch), firing(watch), states(watch)]).toEqual([['firing a', 'over a'], [['a', 0]], ['a ok']]);
  expect(watch.logged).toEqual(['an alert fires', 'an alert is over']);
});

test('alerts: without runs nothing fires and nothing is over, and there is no sample', async () => {
  const watch = await watched([rule('e.rate < 0.9 over 5m', { agent: 'a' })]);
  await watch.runs({ count: 20, bad: 20 });
  await watch.look();
  await watch.look(30 * minuteMs);
  await watch.look(30 * minuteMs);
  expect([told(watch), firing(watch), states(watch)]).toEqual([['firing a'], [], ['a no_data']]);
  // Nine runs are too few.
  await watch.runs({ count: 9, bad: 9 });
  await watch.look();
  expect(states(watch)).toEqual(['a no_data']);
  await watch.runs({ count: 9, bad: 9 });
  await watch.look();
  expect([told(watch), states(watch)]).toEqual([['firing a'], ['a firing']]);
});

test('alerts: states and undelivered messages go on after a restart', async () => {
  const watch = await watched([rule('e.rate < 0.9 over 1h')]);
  await watch.runs({ count: 20, bad: 20 });
  watch.outcome = { kind: 'failed', retryable: true, error: 'unanswered' };
  await watch.look();
  await watch.look();
  expect([told(watch), watch.alerts.reports().map(alertRow)[0]?.untold]).toEqual([[], 1]);
  const next = watch.restarted();
  await next.look();
  expect([told(next), next.alerts.reports().map(alertRow)[0]?.untold]).toEqual([['firing a'], 0]);
  const third = next.restarted();
  await third.look();
  expect([told(third), states(third)]).toEqual([[], ['a firing']]);
});

test('alerts: a message that a receiver refuses for good is given up, and so is one without a receiver', async () => {
  const watch = await watched([rule('e.rate < 0.9 over 1h', { to: ['hook', 'gone'] })]);
  await watch.runs({ count: 20, bad: 20 });
  watch.outcome = { kind: 'failed', retryable: false, error: 'refused' };
  await watch.look();
  expect(watch.logged).toEqual(['an alert fires', 'a message about an alert was given up', 'a message about an alert was given up']);
  expect(watch.alerts.reports().map(alertRow)[0]?.untold).toBe(0);
});

test('alerts: other rules after a reload leave the state of those that stay', async () => {
  const watch = await watched([rule('e.rate < 0.9 over 1h'), rule('e.rate < 0.8 over 1h', { name: 'lower' })]);
  await watch.runs({ count: 20, bad: 20 });
  await watch.look();
  expect(told(watch)).toEqual(['firing a', 'firing a']);
  watch.rules = [rule('e.rate < 0.85 over 1h')];
  await watch.look();
  expect([told(watch).length, states(watch), (await watch.store.versions.alertStates()).map(({ alert }) => alert)]).toEqual([
    2,
    ['a firing'],
    ['low'],
  ]);
});

test('alerts: each agent is looked at by itself, within a bound', async () => {
  const watch = await watched([rule('e.rate < 0.9 over 1h', { runsMin: 1 })]);
  for (let at = 0; at < alertAgentsMax + 10; at++)
    await watch.runs({ count: at === 3 ? 5 : 2, bad: at === 3 ? 5 : 0, agent: `agent-${at}` });
  await watch.look();
  expect(told(watch)).toEqual(['firing agent-3']);
  expect(states(watch)).toHaveLength(alertAgentsMax);
});

test('alerts: agents that fired and have no more runs keep no place from others', async () => {
  const watch = await watched([rule('e.rate < 0.9 over 1h', { runsMin: 1 })]);
  for (let at = 0; at < alertAgentsMax; at++) await watch.runs({ count: 2, bad: 2, agent: `a junk ${at}` });
  await watch.look();
  watch.clock.advance(120 * minuteMs);
  await watch.runs({ count: 5, bad: 5, agent: 'shop' });
  await watch.look();
  const states = watch.alerts.reports().map(({ agent, state }) => [agent, state?.state]);
  expect(states).toContainEqual(['shop', 'firing']);
  // They stay until the alert is over, as no data end nothing.
  expect(states).toHaveLength(alertAgentsMax + 1);
});

test('alerts: a version that is worse than the one before fires, and the next good one ends it', async () => {
  const watch = await watched([rule('e.rate worse than previous version', { by: 0.02, clearMs: 0 })]);
  await watch.runs({ count: 1_000, bad: 20, version: '1.0' });
  await watch.look();
  expect(states(watch)).toEqual(['a no_data']);
  await watch.look(60 * minuteMs);
  await watch.runs({ count: 300, bad: 60, version: '1.1' });
  await watch.look();
  expect(watch.notices).toMatchObject([
    { kind: 'firing', version: '1.1', against: '1.0', threshold: -0.02, figure: expect.closeTo(-0.18, 9) },
  ]);
  await watch.look(60 * minuteMs);
  await watch.runs({ count: 300, bad: 5, version: '1.2' });
  await watch.look();
  expect(watch.notices.slice(1)).toMatchObject([{ kind: 'over', version: '1.2', against: '1.1' }]);
});

test('alerts: a fault of all agents at once sends a few messages at each look, and one that is refused holds the others back', async () => {
  const watch = await watched([rule('e.rate < 0.9 over 1h', { runsMin: 1 })]);
  await watch.look();
  for (let at = 0; at < 25; at++) await watch.runs({ count: 2, bad: 2, agent: `agent-${at}` });
  const counts: number[] = [];
  for (let at = 0; at < 2; at++) {
    await watch.look();
    counts.push(watch.notices.length);
  }
  watch.outcome = { kind: 'failed', retryable: true, error: 'unanswered' };
  await watch.look();
  const attempts = watch.telemetry
    .snapshot()
    .filter(({ name }) => name === 'tracejury.alert.messages')
    .flatMap(({ points }) => points.map((point) => [point.labels['tracejury.outcome'], point.kind === 'number' ? point.value : 0]));
  watch.outcome = { kind: 'sent' };
  await watch.look();
  counts.push(watch.notices.length);
  expect(counts).toEqual([10, 20, 25]);
  expect(attempts).toEqual([
    ['sent', 20],
    ['retried', 1],
  ]);
  expect(new Set(told(watch)).size).toBe(25);
});

test('alerts: a stop does not wait for a receiver that hangs, and the message goes out after the next start', async () => {
  const watch = await watched([rule('e.rate < 0.9 over 1h')]);
  await watch.look();
  await watch.runs({ count: 20, bad: 20 });
  watch.hangs = true;
  watch.clock.advance(minuteMs);
  await watch.wake();
  while (watch.logged.length === 0) await settled();
  await watch.stop();
  const next = watch.restarted();
  await next.look();
  expect(told(next)).toEqual(['firing a']);
});

const hour = 60 * minuteMs;
const ana = { by: 'ana', note: 'the backend is being replaced' };
const lowA = { alert: 'low', agent: 'a', only: undefined };
const noted = ({ alerts }: Watched): readonly unknown[] =>
  alerts
    .reports()
    .map(alertRow)
    .map(({ silence, acknowledged }) => [silence?.by, acknowledged?.by]);

/** A rule that looks at an hour and at runs that stay in it. */
async function alarmed(members: Partial<AlertRule> = {}): Promise<Watched> {
  const watch = await watched([rule('e.rate < 0.9 over 24h', members)]);
  await watch.runs({ count: 20, bad: 20 });
  return watch;
}

test('alerts: a silence holds messages back over a restart, and what still holds at its end is sent then', async () => {
  const watch = await alarmed();
  expect(await watch.alerts.notes.silence({ ...lowA, agent: undefined }, { ...ana, untilMs: watch.clock.nowMs() + hour })).toBe('done');
  await watch.look();
  expect([told(watch), states(watch), noted(watch)]).toEqual([[], ['a firing'], [['ana', undefined]]]);
  const next = watch.restarted();
  await next.look();
  expect([told(next), noted(next)]).toEqual([[], [['ana', undefined]]]);
  await next.look(hour);
  expect([told(next), noted(next)]).toEqual([['firing a'], [[undefined, undefined]]]);
});

test('alerts: an alert that fires and ends within a silence sends no message', async () => {
  const watch = await alarmed({ clearMs: 0 });
  await watch.alerts.notes.silence({ ...lowA, agent: undefined }, { ...ana, untilMs: watch.clock.nowMs() + hour });
  await watch.look();
  await watch.runs({ count: 2_000 });
  await watch.look();
  expect(states(watch)).toEqual(['a ok']);
  await watch.look(2 * hour);
  expect(told(watch)).toEqual([]);
});

test('alerts: reasons and notes are kept without what redact removes', async () => {
  const watch = await alarmed();
  await watch.look();
  const given = { by: 'ana', note: 'ask ana@example.com' };
  await watch.alerts.notes.silence(lowA, { ...given, untilMs: watch.clock.nowMs() + hour });
  await watch.alerts.notes.acknowledge(lowA, given);
  const rows = watch.alerts.reports().map(alertRow);
  expect(rows.map(({ silence, acknowledged }) => [silence?.note, acknowledged?.note])).toEqual([['ask [email]', 'ask [email]']]);
  expect((await watch.store.versions.alertMarks()).map(({ note }) => note)).toEqual(['ask [email]', 'ask [email]']);
});

test('alerts: a silence that is lifted ends at once, and one of another agent holds nothing back', async () => {
  const watch = await alarmed();
  watch.outcome = { kind: 'failed', retryable: true, error: 'unanswered' };
  await watch.look();
  watch.outcome = { kind: 'sent' };
  const given = { ...ana, untilMs: watch.clock.nowMs() + hour };
  expect(await watch.alerts.notes.silence({ ...lowA, agent: 'b' }, given)).toBe('unknown');
  expect(await watch.alerts.notes.silence(lowA, given)).toBe('done');
  await watch.look();
  expect(told(watch)).toEqual([]);
  expect(await watch.alerts.notes.lift(lowA, 'silence')).toBe(true);
  expect(await watch.alerts.notes.lift(lowA, 'silence')).toBe(false);
  await watch.look();
  expect(told(watch)).toEqual(['firing a']);
});

test('alerts: people are reminded after a while, unless it is acknowledged, and are informed of the next one', async () => {
  const watch = await alarmed({ repeatMs: hour, clearMs: 0 });
  await watch.look();
  expect(await watch.alerts.notes.acknowledge({ ...lowA, agent: 'b' }, ana)).toBe('unknown');
  for (let at = 0; at < 3; at++) await watch.look(hour);
  expect([told(watch), watch.notices.map(({ isRepeated }) => isRepeated)]).toEqual([
    ['firing a', 'firing a', 'firing a', 'firing a'],
    [undefined, true, true, true],
  ]);
  expect(await watch.alerts.notes.acknowledge(lowA, ana)).toBe(1);
  const next = watch.restarted();
  for (let at = 0; at < 3; at++) await next.look(hour);
  expect([told(next), noted(next), states(next)]).toEqual([[], [[undefined, 'ana']], ['a firing']]);
  await next.runs({ count: 2_000 });
  await next.look();
  expect([told(next), noted(next)]).toEqual([['over a'], [[undefined, undefined]]]);
  expect(await next.store.versions.alertMarks()).toEqual([]);
  expect(await next.alerts.notes.acknowledge(lowA, ana)).toBe(0);
});

test('alerts: a condition must hold for the time in the rule, and is pending meanwhile', async () => {
  const watch = await alarmed({ forMs: 10 * minuteMs });
  await watch.look();
  await watch.look(5 * minuteMs);
  expect([told(watch), states(watch), firing(watch)]).toEqual([[], ['a pending'], [['a', 0]]]);
  await watch.look(6 * minuteMs);
  expect([told(watch), states(watch)]).toEqual([['firing a'], ['a firing']]);
});

test('alerts: a person who sees one tenant cannot add notes at alerts of others, and each tenant has separate silences', async () => {
  const [own, other] = ['north', 'south'] as Tenant[];
  const watch = await watched([
    rule('e.rate < 0.9 over 1h', { agent: 'a', tenant: own as Tenant }),
    rule('e.rate < 0.9 over 1h', { name: 'all', agent: 'a' }),
  ]);
  await watch.look();
  const given = { ...ana, untilMs: watch.clock.nowMs() + hour };
  for (const [alert, only, end] of [
    ['low', own, 'done'],
    ['low', other, 'unknown'],
    ['all', own, 'unknown'],
    ['all', undefined, 'done'],
    ['none', undefined, 'unknown'],
  ] as const)
    expect([alert, only, await watch.alerts.notes.silence({ alert, agent: 'a', only }, given)]).toEqual([alert, only, end]);
});

test('alerts: silences that ended, and marks of alerts that left the configuration, are removed', async () => {
  const watch = await alarmed();
  await watch.look();
  await watch.alerts.notes.silence(lowA, { ...ana, untilMs: watch.clock.nowMs() + hour });
  await watch.alerts.notes.acknowledge(lowA, ana);
  expect(await watch.store.versions.alertMarks()).toHaveLength(2);
  await watch.look(26 * hour);
  expect((await watch.store.versions.alertMarks()).map(({ kind }) => kind)).toEqual(['acknowledged']);
  watch.rules = [];
  await watch.look();
  expect(await watch.store.versions.alertMarks()).toEqual([]);
});

test('alert watch: a process that lost the task and has it again repeats no message that another one has sent meanwhile', async () => {
  const first = await watched([rule('e.rate < 0.9 over 5m')]);
  await first.runs({ count: 20 });
  await first.look();
  const second = first.restarted();
  await first.runs({ count: 20, bad: 20 });
  await second.look();
  expect([first.notices.length, second.notices.length]).toEqual([0, 1]);
  await second.stop();
  first.tenure = 2;
  await first.look();
  expect(first.notices).toEqual([]);
  expect(first.alerts.reports().map(({ state }) => state?.state)).toEqual(['firing']);
  await first.stop();
});
