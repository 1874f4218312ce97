/** The watch over issues: reports, regressions and issues that open again, over a store. */
import { expect, onTestFinished, test } from 'vitest';
import type { NewAfter } from '../../src/analytics/issue-life.ts';
import type { ExportOutcome } from '../../src/exporters/exporter.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant } from '../../src/model/ids.ts';
import { type Issue, issueId } from '../../src/model/store/issue-store.ts';
import type { Store } from '../../src/model/store/store.ts';
import type { Redaction } from '../../src/redaction/redaction.ts';
import { issueWatch } from '../../src/service/issue-watch.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { scored, scoredRun } from '../builders/scored-run.ts';
import { eventually } from './running.ts';
import { base, nth, secondMicros } from '../stores/numbered.ts';

const fault = { name: 'tool_error', tool: 'book', signature: 'timeout' };
const id = issueId({ ...fault, tenant: noTenant, agent: 'support' });
const run = (number: number, version: string) => ({
  ...scoredRun({ tool_error: scored(0) }, nth(number, { trace: agentTrace({ agent: 'support' }), serviceVersion: version })),
  faults: [fault],
});

interface Watched {
  readonly newAfter?: NewAfter;
  readonly to?: readonly string[];
  readonly redaction?: Pick<Redaction, 'text'>;
  /** Default: a new one. */
  readonly on?: Store;
  readonly isOwn?: () => boolean;
}

async function watched({ newAfter = { runs: 3, withinMs: 3_600_000 }, to = [], redaction, on, isOwn }: Watched = {}) {
  const store = on ?? (await memoryStore());
  const clock = manualClock((base + 1_000 * secondMicros) / 1_000);
  const rests = manualSleep();
  const isResting = (): true | undefined => (rests.asleep() > 0 ? true : undefined);
  const messages: string[] = [];
  const notices: { readonly to: string; readonly kind: string; readonly titles: readonly string[] }[] = [];
  const outcomes = new Map<string, ExportOutcome>();
  const watch = issueWatch({
    store,
    newAfter: () => newAfter,
    keepMs: () => 30 * 86_400_000,
    to: () => to,
    redaction: () => redaction,
    ...(isOwn === undefined ? {} : { isOwn }),
    async notify(exporter, { kind, issues }) {
      notices.push({ to: exporter, kind, titles: issues.map(({ title }) => title) });
      return outcomes.get(exporter) ?? { kind: 'sent' };
    },
    async refresh() {
      while (await store.versions.refresh({ now: clock.nowMs() * 1_000, keepFrom: 0 }));
      return true;
    },
    telemetry: metricRegistry({ clock }),
    logger: { warn: (_, message) => void messages.push(message) },
    clock,
    sleep: rests.sleep,
    onFault(error) {
      throw error;
    },
  });
  onTestFinished(() => watch.stop());
  return {
    store,
    clock,
    messages,
    notices,
    outcomes,
    async round() {
      await eventually(isResting, 'the rest before a round');
      await rests.wakeAll();
      await eventually(isResting, 'the end of a round');
    },
  };
}

const decided = { by: 'ann', note: '', changedAt: base + 100 * secondMicros, isTold: true } as const;

async function stored(store: Store): Promise<Issue> {
  const issue = await store.issues.issue(id);
  if (issue === undefined) throw new Error('there is no issue');
  return issue;
}

test('issues: the third run within an hour is news, once', async () => {
  const { store, round, messages } = await watched();
  await store.write([run(1, '1'), run(2, '1')]);
  await round();
  expect(messages).toEqual([]);
  await store.write([run(3, '1')]);
  await round();
  await round();
  expect(messages).toEqual(['a new issue']);
});

test('issues: the configuration sets how many runs within which time are news', async () => {
  const { store, round, messages } = await watched({ newAfter: { runs: 2, withinMs: 10_000 } });
  await store.write([run(1, '1'), run(12, '1')]);
  await round();
  expect(messages).toEqual([]);
  await store.write([run(22, '1')]);
  await round();
  expect(messages).toEqual(['a new issue']);
});

test('issues: resolved in a version, a run of the version before does not regress it, and a run of that version does', async () => {
  const { store, round, messages } = await watched();
  await store.write([run(1, '1'), run(2, '2')]);
  await store.issues.change(await stored(store), { ...decided, state: 'resolved', fix: { in: 'version', version: '2' } });
  await store.write([run(200, '1')]);
  await round();
  expect((await store.issues.issue(id))?.state).toBe('resolved');
  await store.write([run(201, '2')]);
  await round();
  expect(await store.issues.issue(id)).toMatchObject({ state: 'regressed', by: '', fix: { in: 'version', version: '2' } });
  expect(messages).toEqual(['a resolved issue has come back']);
});

test('issues: a run of the future that is stored before the decision does not regress it, and a later run does', async () => {
  const { store, round } = await watched();
  await store.write([run(1, '1'), run(5_000, '1')]);
  const issue = await stored(store);
  await store.issues.change(issue, { ...decided, state: 'resolved', fix: { in: 'now' } });
  await round();
  expect((await stored(store)).state).toBe('resolved');
  await store.write([run(300, '1')]);
  await round();
  expect((await stored(store)).state).toBe('regressed');
});

test('issues: each webhook gets each message once', async () => {
  const { store, round, notices, outcomes } = await watched({ to: ['channel', 'tickets'] });
  outcomes.set('tickets', { kind: 'failed', retryable: true, error: 'HTTP_503' });
  await store.write([run(1, '1'), run(2, '1'), run(3, '1')]);
  await round();
  await round();
  const message = { kind: 'new', titles: ['book: timeout'] };
  expect(notices).toEqual([
    { to: 'channel', ...message },
    { to: 'tickets', ...message },
    { to: 'tickets', ...message },
  ]);
  outcomes.clear();
  await round();
  await round();
  expect(notices.slice(3)).toEqual([{ to: 'tickets', ...message }]);
});

test('issues: people are notified of a decision and of a regression', async () => {
  const { store, round, notices } = await watched({ to: ['channel'] });
  await store.write([run(1, '1')]);
  await store.issues.change(await stored(store), {
    ...decided,
    state: 'resolved',
    fix: { in: 'now' },
    notice: { kind: 'resolved', at: decided.changedAt },
  });
  await round();
  await store.write([run(300, '1')]);
  await round();
  await round();
  expect(notices.map(({ kind }) => kind)).toEqual(['resolved', 'regressed']);
});

test('issues: a webhook gets one message in a round, and issues with the same change share it', async () => {
  const { store, round, notices } = await watched({ to: ['channel'] });
  const other = { ...fault, signature: 'refused' };
  await store.write([1, 2, 3].map((number) => ({ ...run(number, '1'), faults: [fault, other] })));
  await round();
  await round();
  expect(notices.map(({ titles }) => titles.toSorted())).toEqual([['book: refused', 'book: timeout']]);
});

test('issues: a message has no text that is redacted by now', async () => {
  const redaction = { text: (text: string) => text.replaceAll('timeout', '[redacted]') };
  const { store, round, notices } = await watched({ to: ['channel'], redaction });
  await store.write([run(1, '1'), run(2, '1'), run(3, '1')]);
  await round();
  expect(notices.map(({ titles }) => titles)).toEqual([['book: [redacted]']]);
});

test('issues: a message that no webhook takes for a day is given up, and one without a webhook is forgotten', async () => {
  const { store, round, notices, outcomes, clock, messages } = await watched({ to: ['channel'] });
  outcomes.set('channel', { kind: 'failed', retryable: true, error: 'HTTP_503' });
  await store.write([run(1, '1'), run(2, '1'), run(3, '1')]);
  await round();
  clock.advance(25 * 3_600_000);
  await round();
  await round();
  expect(notices).toHaveLength(2);
  expect(messages).toEqual(['a new issue', 'a message about issues was given up']);

  const silent = await watched();
  await silent.store.write([run(1, '1'), run(2, '1'), run(3, '1')]);
  await silent.round();
  expect(await silent.store.issues.untold(10)).toEqual([]);
});

test('issues: of several replicas one sends each message, and another one goes on with what is left', async () => {
  let owner = 'first';
  const first = await watched({ to: ['channel', 'tickets'], isOwn: () => owner === 'first' });
  const second = await watched({ to: ['channel', 'tickets'], on: first.store, isOwn: () => owner === 'second' });
  first.outcomes.set('tickets', { kind: 'failed', retryable: true, error: 'HTTP_503' });
  await first.store.write([run(1, '1'), run(2, '1'), run(3, '1')]);
  for (const round of [second.round, first.round, second.round]) await round();
  expect(first.notices.map(({ to }) => to)).toEqual(['channel', 'tickets']);
  owner = 'second';
  for (const round of [first.round, second.round, second.round]) await round();
  expect(second.notices).toEqual([{ to: 'tickets', kind: 'new', titles: ['book: timeout'] }]);
  expect(first.notices).toHaveLength(2);
});
