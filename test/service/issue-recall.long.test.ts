/** Issues against planted faults: 30 days of traffic of five agents, scored by rules and kept by a store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import type { IssueFix } from '../../src/model/store/issue-store.ts';
import type { Store, StoreItem } from '../../src/model/store/store.ts';
import { issueWatch } from '../../src/service/issue-watch.ts';
import { postgresStore } from '../../src/stores/postgres/postgres-store.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { emptyPostgres } from '../builders/postgres.ts';
import { seeded } from '../builders/seeded.ts';
import { dayMs, days, faultsOfTraffic, firstDayMs, type PlantedFault, trafficOf } from './planted-faults.ts';
import { eventually } from './running.ts';

const decisionDay = 11;
/** Days between two rounds of the watch. */
const roundDays = 3;
const fixes: readonly IssueFix[] = [{ in: 'version', version: '1.2' }, { in: 'next' }, { in: 'now' }];

/** The store behind the watch changes when the service starts again. */
function watchOver(current: () => Store, clock: ReturnType<typeof manualClock>) {
  const rests = manualSleep();
  const regressed: string[] = [];
  const isResting = (): true | undefined => (rests.asleep() > 0 ? true : undefined);
  const watch = issueWatch({
    store: {
      get issues() {
        return current().issues;
      },
      get versions() {
        return current().versions;
      },
    },
    newAfter: () => ({ runs: 3, withinMs: 3_600_000 }),
    keepMs: () => 365 * 86_400_000,
    to: () => [],
    redaction: () => undefined,
    notify: async () => ({ kind: 'sent' }),
    async refresh() {
      while (await current().versions.refresh({ now: clock.nowMs() * 1_000, keepFrom: 0 }));
      return true;
    },
    telemetry: metricRegistry({ clock }),
    logger: {
      warn(members: unknown, message: string) {
        if (message === 'a resolved issue has come back') regressed.push(String((members as { readonly issue: string }).issue));
      },
    },
    clock,
    sleep: rests.sleep,
    onFault(error) {
      throw error;
    },
  });
  onTestFinished(() => watch.stop());
  return {
    regressed,
    async round() {
      await eventually(isResting, 'the rest before a round');
      await rests.wakeAll();
      await eventually(isResting, 'the end of a round');
    },
  };
}

async function write(store: Store, items: readonly StoreItem[]): Promise<void> {
  for (let at = 0; at < items.length; at += 200) await store.write(items.slice(at, at + 200));
}

interface FoundIssue {
  readonly id: string;
  readonly signature: string;
  readonly traces: ReadonlySet<string>;
}

async function found(store: Store): Promise<readonly FoundIssue[]> {
  const issues = await store.issues.list({ limit: 1_000 });
  return await Promise.all(
    issues.map(async ({ id, agent, name, tool, signature }) => ({
      id,
      signature: `${agent} ${name} ${tool} ${signature}`,
      traces: new Set((await store.issues.runs(id, 10_000)).map(({ traceId }) => String(traceId))),
    })),
  );
}

/** The issue and the fault have at least 95 % of their runs in common. */
function isIssueOf({ traces }: FoundIssue, { traces: planted }: PlantedFault): boolean {
  const common = [...planted].filter((trace) => traces.has(trace)).length;
  return common >= 0.95 * (traces.size + planted.size - common);
}

const summary = (issues: readonly FoundIssue[]): readonly string[] => issues.map(({ id, traces }) => `${id} ${traces.size}`).toSorted();

test('issues are the planted faults, and those that came back after their fix are regressed', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-recall-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'tracejury.db');
  let store: Store = await sqliteStore(file, { inThread: false });
  onTestFinished(() => store.stop());
  const clock = manualClock(firstDayMs);
  const { round, regressed } = watchOver(() => store, clock);
  const chance = seeded(20_261_129);
  const faults = faultsOfTraffic(chance);
  expect(faults).toHaveLength(40);

  const items: StoreItem[] = [];
  const resolved = new Map<string, PlantedFault>();
  for (let day = 0; day < days; day++) {
    const ofDay = chance.shuffled(trafficOf(day, faults, chance));
    await write(store, ofDay);
    items.push(...ofDay);
    clock.advance(dayMs);
    if (day % roundDays === roundDays - 1) await round();
    if (day !== decisionDay) continue;
    const before = summary(await found(store));
    await store.stop();
    store = await sqliteStore(file, { inThread: false });
    const issues = await found(store);
    expect(summary(issues), 'after a restart').toEqual(before);
    let decisions = 0;
    for (const fault of faults.filter(({ life }) => life !== 'stays')) {
      const id = issues.find((one) => isIssueOf(one, fault))?.id ?? '';
      const issue = await store.issues.issue(id);
      if (issue === undefined) throw new Error(`${fault.name} has no issue`);
      const fix: IssueFix =
        fault.life === 'old version' ? { in: 'version', version: '1.2' } : (fixes[decisions++ % fixes.length] ?? { in: 'now' });
      await store.issues.change(issue, { state: 'resolved', fix, by: 'ann', note: '', changedAt: clock.nowMs() * 1_000, isTold: true });
      resolved.set(id, fault);
    }
  }

  const issues = await found(store);
  const missed = faults.filter((fault) => !issues.some((issue) => isIssueOf(issue, fault)));
  const wrong = issues.filter((issue) => !faults.some((fault) => isIssueOf(issue, fault)));
  expect(missed.map(({ name }) => name).slice(0.05 * faults.length)).toEqual([]);
  expect(wrong.map(({ signature }) => signature).slice(0.05 * issues.length)).toEqual([]);
  const cameBack = [...resolved].filter(([, { life }]) => life === 'comes back').map(([id]) => id);
  expect(cameBack).toHaveLength(3);
  expect(regressed.toSorted()).toEqual(cameBack.toSorted());

  // A replay counts no run twice.
  await write(store, items);
  expect(summary(await found(store)), 'after a replay').toEqual(summary(issues));

  // Two replicas, to which the runs come in another order.
  const database = await emptyPostgres({ leasesBy: 'caller' });
  const replicas = [await postgresStore(database, { inThread: false }), await postgresStore(database, { inThread: false })] as const;
  onTestFinished(async () => void (await Promise.all(replicas.map((one) => one.stop()))));
  const others = chance.shuffled(items);
  const half = Math.ceil(others.length / 2);
  await Promise.all([write(replicas[0], others.slice(0, half)), write(replicas[1], others.slice(half))]);
  for (const replica of replicas) expect(summary(await found(replica))).toEqual(summary(issues));
});
