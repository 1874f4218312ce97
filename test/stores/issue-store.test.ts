/** The contract of issues, for every store. */
import { describe, expect, test } from 'vitest';
import type { RunFault } from '../../src/model/scored-run.ts';
import {
  issueId,
  issuesPerAgentMax,
  otherIssue,
  type Issue,
  type IssuesSince,
  type IssueState,
} from '../../src/model/store/issue-store.ts';
import type { RunQuery, Store, StoreItem } from '../../src/model/store/store.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { scored, scoredRun, skipped } from '../builders/scored-run.ts';
import { noTenant } from '../../src/model/ids.ts';
import { retention } from '../builders/retention.ts';
import { members, open } from './members.ts';
import { base, nth, numbers, secondMicros } from './numbered.ts';

const fault = (signature: string, more: Partial<RunFault> = {}): RunFault => ({ name: 'tool_error', tool: 'book', signature, ...more });
const idOf = (one: RunFault): string => issueId({ ...one, tenant: noTenant, agent: 'travel-agent' });

/** The run with this number, judged by tool_error. */
function run(number: number, faults: readonly RunFault[], { revision = 1, version = '1' } = {}): StoreItem {
  const given = nth(number, { revision, trace: agentTrace({ agent: 'travel-agent' }), serviceVersion: version });
  return { ...scoredRun({ tool_error: scored(faults.length === 0 ? 1 : 0) }, given), ...(faults.length === 0 ? {} : { faults }) };
}

async function listed(store: Store): Promise<readonly Pick<Issue, 'signature' | 'runs' | 'state'>[]> {
  const issues = await store.issues.list({ limit: 1_000 });
  return issues.map(({ signature, runs, state }) => ({ signature, runs, state }));
}

const decided = { by: 'ann', note: '', changedAt: base + 100 * secondMicros, isTold: true } as const;

async function stored(store: Store, id: string): Promise<Issue> {
  const found = await store.issues.issue(id);
  if (found === undefined) throw new Error('there is no such issue');
  return found;
}

describe.each(members)('%s', (member) => {
  test('issues: failures with one signature are one issue, with its runs, times and versions', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(2, [fault('a'), fault('b')], { version: '2' }), run(3, [])]);
    const [b, a] = (await store.issues.list({ limit: 10 })).toSorted((one, other) => (one.signature < other.signature ? 1 : -1));
    expect(a).toEqual({
      id: idOf(fault('a')),
      tenant: noTenant,
      agent: 'travel-agent',
      name: 'tool_error',
      tool: 'book',
      signature: 'a',
      state: 'open',
      changedAt: base + secondMicros,
      by: '',
      note: '',
      runs: 2,
      dayRuns: 0,
      weekRuns: 0,
      sessions: 0,
      firstAt: base + secondMicros,
      lastAt: base + 2 * secondMicros,
      firstVersion: '1',
      lastVersion: '2',
      isTold: false,
    });
    expect(b).toMatchObject({ signature: 'b', runs: 1 });
    expect((await store.issues.runs(idOf(fault('a')), 10)).map(({ traceId }) => traceId)).toEqual([nth(2).traceId, nth(1).traceId]);
    expect((await store.issues.issuesOf(nth(2))).map(({ signature }) => signature).toSorted()).toEqual(['a', 'b']);
    expect(await store.issues.hours([idOf(fault('a'))], 0)).toEqual([{ id: idOf(fault('a')), at: base - (base % 3_600_000_000), runs: 2 }]);
    expect(await store.issues.versions(idOf(fault('a')))).toEqual([
      { version: '1', runs: 1 },
      { version: '2', runs: 1 },
    ]);
  });

  test('issues: a revision without the failure leaves the issue, and the same failure again counts once', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(2, [fault('a')])]);
    await store.write([run(2, [fault('a')], { revision: 2 })]);
    expect(await listed(store)).toEqual([{ signature: 'a', runs: 2, state: 'open' }]);
    await store.write([run(2, [fault('b')], { revision: 3 })]);
    expect(await listed(store)).toEqual(
      expect.arrayContaining([
        { signature: 'a', runs: 1, state: 'open' },
        { signature: 'b', runs: 1, state: 'open' },
      ]),
    );
    await store.write([run(1, [], { revision: 2 }), run(2, [], { revision: 4 })]);
    expect(await listed(store)).toEqual([]);
    expect(await store.issues.hours([idOf(fault('a')), idOf(fault('b'))], 0)).toEqual([]);
  });

  test('issues: those with the most impact come first: many runs of the last day, and more than in the week before', async () => {
    const store = await open(member);
    const hour = 3_600 * secondMicros;
    const now = base - (base % hour) + 200 * hour;
    const at = (hoursAgo: number): number => Math.floor((now - hoursAgo * hour - base) / secondMicros);
    const order = async (until = now): Promise<readonly string[]> => {
      await store.issues.recount(until);
      const issues = await store.issues.list({ limit: 10 });
      return issues.map(({ signature, dayRuns, weekRuns }) => `${signature} ${dayRuns} ${weekRuns}`);
    };
    let number = 0;
    const write = async (signature: string, hoursAgo: readonly number[]): Promise<void> => {
      await store.write(
        hoursAgo.map((ago) => {
          const start = BigInt(base + at(ago) * secondMicros) * 1_000n;
          const given = nth(++number, { trace: agentTrace({ agent: 'travel-agent' }), startUnixNano: start, endUnixNano: start });
          return { ...scoredRun({ tool_error: scored(0) }, given), faults: [fault(signature)] };
        }),
      );
    };
    await write('steady', [...Array.from({ length: 14 }, (_, day) => 25 + day * 10), 1, 2, 3]);
    await write('rising', [0, 23, 190]);
    await write('over', [192, 193]);
    expect(await order()).toEqual(['rising 2 1', 'steady 3 14', 'over 0 0']);
    await write('rising', [0, 24]);
    await write('over', [0]);
    expect(await order()).toEqual(['rising 3 2', 'steady 3 14', 'over 1 0']);
    expect(await order(now + 20 * hour)).toEqual(['rising 2 2', 'steady 3 14', 'over 1 0']);
    expect((await store.issues.list({ limit: 1, after: 1 })).map(({ signature }) => signature)).toEqual(['steady']);
    await store.issues.merge(idOf(fault('over')), idOf(fault('steady')), decided);
    expect(await order(now + 20 * hour)).toEqual(['steady 4 14', 'rising 2 2', 'over 0 0']);
    expect(await order(now + 400 * hour)).toEqual(['steady 0 0', 'rising 0 0', 'over 0 0']);
  });

  test('issues: those of a version are counted, and those of only earlier versions are left out', async () => {
    const store = await open(member);
    await store.write([
      run(1, [fault('before')]),
      run(2, [fault('new')], { version: '2' }),
      run(3, [fault('late')]),
      run(4, [fault('later')], { version: '3' }),
      run(5, [fault('before')], { version: '2' }),
    ]);
    const query = async (agents: IssuesSince['agents'], states?: readonly IssueState[]): Promise<unknown> => {
      const wanted = { since: { version: '2', agents }, ...(states === undefined ? {} : { states }) };
      const found = await store.issues.list({ ...wanted, limit: 10 });
      return [found.map(({ signature }) => signature).toSorted(), await store.issues.counts(wanted)];
    };
    const agent = { agent: 'travel-agent', at: base + 2 * secondMicros, before: ['1'] };
    expect(await query([agent])).toEqual([['later', 'new'], [{ state: 'open', issues: 2 }]]);
    expect(await query([agent], ['regressed'])).toEqual([[], []]);
    // The first runs of the version are not summed yet.
    expect(await query([])).toEqual([['new'], [{ state: 'open', issues: 1 }]]);
    await store.issues.change(await stored(store, idOf(fault('before'))), { ...decided, state: 'regressed' });
    expect(await query([agent], ['regressed'])).toEqual([['before'], [{ state: 'regressed', issues: 1 }]]);
  });

  test('issues: sessions count once, by the day of their first run, as long as a run of theirs has the failure', async () => {
    const store = await open(member);
    const [day, a] = [86_400 * secondMicros, idOf(fault('a'))];
    const inSession = (number: number, session: string | undefined, faults: readonly RunFault[], revision = 1): StoreItem => {
      const trace = agentTrace({ agent: 'travel-agent', ...(session === undefined ? {} : { sessionId: session }) });
      return { ...scoredRun({ tool_error: scored(faults.length === 0 ? 1 : 0) }, nth(number, { trace, revision })), faults };
    };
    let looks = 0;
    const sessions = async (now = base + ++looks * 3_600 * secondMicros, from?: number): Promise<number | undefined> => {
      await store.issues.recount(now, from);
      return (await store.issues.issue(a))?.sessions;
    };
    await store.write([
      inSession(1, 'one', [fault('a'), fault('b')]),
      inSession(2, 'one', [fault('a')]),
      inSession(3, 'two', [fault('a')]),
      inSession(4, undefined, [fault('a')]),
      inSession(5, 'three', []),
    ]);
    expect(await sessions()).toBe(2);
    await store.write([inSession(6, 'five', [fault('a')]), inSession(7, 'five', [fault('a')])]);
    expect((await stored(store, a)).sessions).toBe(3);
    await store.write([inSession(2, 'one', [], 2), inSession(6, 'five', [], 2), inSession(7, 'five', [], 2)]);
    expect(await sessions()).toBe(2);
    await store.write([inSession(1, 'one', [fault('b')], 2)]);
    expect(await sessions()).toBe(1);
    await store.write([inSession(3, 'four', [fault('a')], 2), inSession(1, 'four', [fault('a'), fault('b')], 3)]);
    expect(await sessions()).toBe(1);
    await store.write([inSession(90_000, 'later', [fault('a')]), inSession(90_001, 'four', [fault('a')])]);
    expect(await sessions()).toBe(2);
    await store.issues.merge(idOf(fault('b')), a, decided);
    expect(await sessions()).toBe(2);
    const tomorrow = base - (base % day) + day;
    expect(await sessions(tomorrow, tomorrow)).toBe(1);
    expect(await sessions(tomorrow + 14 * day)).toBe(0);
    await store.prune(retention({ runsBefore: tomorrow + day, stepRuns: 10 }));
    expect(await sessions()).toBeUndefined();
  });

  test('issues: an older revision that comes late changes nothing', async () => {
    const store = await open(member);
    await store.write([run(1, [], { revision: 2 })]);
    await store.write([run(1, [fault('a')], { revision: 1 })]);
    expect(await listed(store)).toEqual([]);
  });

  test('issues: failures beyond the limit of an agent are one issue of their evaluator', async () => {
    const store = await open(member);
    const items = Array.from({ length: issuesPerAgentMax + 5 }, (_, at) => run(at + 1, [fault(`number ${at}`)]));
    for (let at = 0; at < items.length; at += 100) await store.write(items.slice(at, at + 100));
    const issues = await listed(store);
    expect(issues).toHaveLength(issuesPerAgentMax + 1);
    expect(issues).toContainEqual({ signature: otherIssue, runs: 5, state: 'open' });
  });

  test('issues: a decision holds unless the state has changed meanwhile', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')])]);
    const id = idOf(fault('a'));
    expect(
      await store.issues.change(await stored(store, id), { ...decided, state: 'resolved', fix: { in: 'version', version: '2' } }),
    ).toMatchObject({
      state: 'resolved',
      by: 'ann',
      fix: { in: 'version', version: '2' },
    });
    const before = { id, state: 'resolved', changedAt: decided.changedAt - 1 } as const;
    expect(await store.issues.change(before, { ...decided, state: 'ignored' })).toMatchObject({ state: 'resolved' });
    expect(
      await store.issues.change({ id: '0123456789ab', state: 'open', changedAt: base }, { ...decided, state: 'ignored' }),
    ).toBeUndefined();
  });

  test('issues: runs of a merged issue are those of the other one, also later ones', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(2, [fault('b')]), run(3, [fault('a'), fault('b')])]);
    expect(await store.issues.merge(idOf(fault('a')), idOf(fault('b')), decided)).toMatchObject({ signature: 'b', runs: 3 });
    await store.write([run(4, [fault('a')])]);
    expect(await store.issues.issue(idOf(fault('b')))).toMatchObject({ runs: 4, lastAt: base + 4 * secondMicros });
    expect(await store.issues.issue(idOf(fault('a')))).toMatchObject({ state: 'merged', runs: 0, into: idOf(fault('b')) });
    expect(await store.issues.merge(idOf(fault('b')), idOf(fault('b')), decided)).toBeUndefined();
  });

  test('issues: a merge keeps the sums of runs that the store no longer has', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(2, [fault('a'), fault('b')]), run(3, [fault('b')])]);
    await store.prune(retention({ runsBefore: base + 2 * secondMicros, stepRuns: 10 }));
    expect(await store.issues.merge(idOf(fault('a')), idOf(fault('b')), decided)).toMatchObject({
      runs: 3,
      firstAt: base + secondMicros,
      lastAt: base + 3 * secondMicros,
    });
    expect(await store.issues.hours([idOf(fault('b'))], 0)).toMatchObject([{ runs: 3 }]);
    expect(await store.issues.hours([idOf(fault('a'))], 0)).toEqual([]);
  });

  test('issues: a late span that moves the start or the version of a run moves it in its issue', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(2, [fault('a')])]);
    const earlier = nth(1, { revision: 2, trace: agentTrace({ agent: 'travel-agent' }), serviceVersion: '2', startUnixNano: 5_000n });
    await store.write([{ ...scoredRun({ tool_error: scored(0) }, earlier), faults: [fault('a')] }]);
    const [id] = [idOf(fault('a'))];
    expect(await store.issues.issue(id)).toMatchObject({ runs: 2, firstAt: 5, firstVersion: '2', lastAt: base + 2 * secondMicros });
    expect((await store.issues.runs(id, 10)).map(({ startedAt, version }) => ({ startedAt, version }))).toEqual([
      { startedAt: base + 2 * secondMicros, version: '1' },
      { startedAt: 5, version: '2' },
    ]);
    expect(await store.issues.hours([id], 0)).toMatchObject([{ at: 0, runs: 1 }, { runs: 1 }]);
    expect(await store.issues.versions(id)).toEqual([
      { version: '1', runs: 1 },
      { version: '2', runs: 1 },
    ]);
  });

  test('issues: an issue was seen first when its first run began, also when the store no longer has that run', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(2, [fault('a')]), run(3, [fault('a')])]);
    await store.prune(retention({ runsBefore: base + 2 * secondMicros, stepRuns: 10 }));
    await store.write([run(3, [], { revision: 2 })]);
    expect(await store.issues.issue(idOf(fault('a')))).toMatchObject({ firstAt: base + secondMicros, lastAt: base + 2 * secondMicros });
  });

  test('issues: runs of one issue, newest first, also by the id of an issue that was merged into it', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(2, [fault('b')]), run(3, [fault('a')]), run(4, [])]);
    const found = async (signature: string, more: Partial<RunQuery> = {}): Promise<readonly number[]> =>
      numbers(await store.runs({ issue: idOf(fault(signature)), limit: 10, ...more }));
    expect(await found('a')).toEqual([3, 1]);
    const page = await store.runs({ issue: idOf(fault('a')), limit: 1 });
    expect([
      numbers(page),
      numbers(await store.runs({ issue: idOf(fault('a')), limit: 1, ...(page.next === undefined ? {} : { after: page.next }) })),
    ]).toEqual([[3], [1]]);
    expect(await found('a', { from: base + 2 * secondMicros })).toEqual([3]);
    expect(await found('a', { version: '2' })).toEqual([]);
    expect(await found('a', { traceId: nth(1).traceId })).toEqual([1]);
    expect(await found('c')).toEqual([]);
    await store.issues.merge(idOf(fault('a')), idOf(fault('b')), decided);
    expect(await found('a')).toEqual([3, 2, 1]);
    expect(await found('b')).toEqual([3, 2, 1]);
  });

  test('issues: a message stays until each exporter has taken it or the issue has changed', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')])]);
    const untold = async (): Promise<unknown> => (await store.issues.untold(10)).map(({ kind, at, to }) => ({ kind, at, to }));
    expect(await untold()).toEqual([]);
    const notice = { kind: 'resolved', at: 7 } as const;
    const resolved = await store.issues.change(await stored(store, idOf(fault('a'))), { ...decided, state: 'resolved', notice });
    if (resolved === undefined) throw new Error('there is no issue');
    expect(await untold()).toEqual([{ ...notice, to: undefined }]);
    await store.issues.told(resolved, ['tickets']);
    expect(await untold()).toEqual([{ ...notice, to: ['tickets'] }]);
    const before = { ...resolved, changedAt: 1 };
    await store.issues.told(before, []);
    expect(await untold()).toEqual([{ ...notice, to: ['tickets'] }]);
    await store.issues.told(resolved, []);
    expect(await untold()).toEqual([]);
  });

  test('issues: the target of a merge stays when it has no run, and later failures are still counted', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(2, [fault('b')])]);
    await store.issues.merge(idOf(fault('a')), idOf(fault('b')), decided);
    await store.write([run(1, [], { revision: 2 }), run(2, [], { revision: 2 })]);
    await store.write([run(3, [fault('a')])]);
    expect(await store.issues.issue(idOf(fault('b')))).toMatchObject({ runs: 1 });
    expect(await store.run(nth(3))).toBeDefined();
  });

  test('issues: an issue stays when one batch takes its last run and brings another one', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')])]);
    await store.write([run(1, [], { revision: 2 }), run(2, [fault('a')])]);
    expect(await listed(store)).toEqual([{ signature: 'a', runs: 1, state: 'open' }]);
    expect(await store.run(nth(2))).toBeDefined();
  });

  test('issues: several items of one run in one batch count once', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(1, [fault('a')], { revision: 2 }), run(2, [fault('a')]), run(2, [], { revision: 2 })]);
    expect(await listed(store)).toEqual([{ signature: 'a', runs: 1, state: 'open' }]);
    expect(await store.issues.hours([idOf(fault('a'))], 0)).toMatchObject([{ runs: 1 }]);
  });

  test('issues: those whose state may have to change', async () => {
    const store = await open(member);
    await store.write([run(1, [fault('a')]), run(2, [fault('a')]), run(3, [fault('b')])]);
    const pending = async (now: number): Promise<readonly string[]> =>
      (await store.issues.pending({ runs: 2, now, limit: 10 })).map(({ signature }) => signature);
    expect(await pending(0)).toEqual(['a']);
    await store.issues.change(await stored(store, idOf(fault('a'))), { ...decided, state: 'resolved', fix: { in: 'next' } });
    await store.issues.change(await stored(store, idOf(fault('b'))), { ...decided, state: 'ignored', until: { at: 50 } });
    expect(await pending(49)).toEqual([]);
    expect(await pending(50)).toEqual(['b']);
    await store.write([run(200, [fault('a')], { version: '1' }), run(201, [fault('a')], { version: '2' })]);
    expect(await pending(49)).toEqual(['a']);
    const later = async (...versions: readonly string[]): Promise<string | undefined> =>
      (await store.issues.laterRun(idOf(fault('a')), decided.changedAt, versions))?.version;
    expect([await later(), await later('1'), await later('1', '2')]).toEqual(['1', '2', undefined]);
    expect(await store.issues.counts()).toEqual(
      expect.arrayContaining([
        { state: 'resolved', issues: 1 },
        { state: 'ignored', issues: 1 },
      ]),
    );
  });

  test('issues: runs to compare are those of the issue, and others of its agent that its evaluator judged', async () => {
    const store = await open(member);
    const other = nth(5, { trace: agentTrace({ agent: 'other-agent' }) });
    await store.write([
      { ...forUser(run(1, [fault('a')])), figures: { prompt: 'hash', inputTokens: 12 } },
      run(2, [fault('b')], { version: '2' }),
      ...[3, 4].map((number) => inSession(run(number, []))),
      scoredRun({ tool_error: scored(1) }, other),
      scoredRun({ run_error: scored(1) }, nth(6, { trace: agentTrace({ agent: 'travel-agent' }) })),
      scoredRun({ tool_error: skipped }, nth(7, { trace: agentTrace({ agent: 'travel-agent' }) })),
      run(100, []),
    ]);
    const a = await stored(store, idOf(fault('a')));
    const query = { from: base, to: base + 100 * secondMicros, judged: 4, limit: 100 };
    const { own, others } = await store.issues.compared(a, query);
    const startedAt = (number: number): number => base + number * secondMicros;
    expect(own).toEqual([
      {
        version: '1',
        model: undefined,
        service: 'travel',
        user: 'u1',
        environment: 'production',
        prompt: 'hash',
        inputTokens: 12,
        tools: [],
        earlierRuns: undefined,
        startedAt: startedAt(1),
      },
    ]);
    expect(
      others
        .toSorted((one, next) => one.startedAt - next.startedAt)
        .map(({ version, tools, earlierRuns }) => ({ version, tools, earlierRuns })),
    ).toEqual([
      { version: '2', tools: [], earlierRuns: undefined },
      { version: '1', tools: ['book'], earlierRuns: 0 },
      { version: '1', tools: ['book'], earlierRuns: 1 },
    ]);
  });

  test.each([2, 4, 10])('issues: a side with many runs to compare is drawn evenly, also where every %dth run fails', async (every) => {
    const store = await open(member);
    const items = Array.from({ length: 1_000 }, (_, at) => run(at + 1, at % every === 0 ? [fault('a')] : [], { version: String(at % 3) }));
    for (let at = 0; at < items.length; at += 100) await store.write(items.slice(at, at + 100));
    const a = await stored(store, idOf(fault('a')));
    const [wanted, seconds] = [50, 1_001];
    const { own, others } = await store.issues.compared(a, {
      from: base,
      to: base + seconds * secondMicros,
      judged: items.length,
      limit: wanted,
    });
    for (const side of [own, others]) {
      expect(side.length).toBeGreaterThan(wanted / 2);
      expect(side.length).toBeLessThan(2 * wanted);
      for (const version of ['0', '1', '2']) expect(side.filter((one) => one.version === version).length).toBeGreaterThan(side.length / 6);
      expect(side.filter(({ startedAt }) => startedAt > base + (seconds / 2) * secondMicros).length).toBeGreaterThan(side.length / 4);
    }
  });
});

function forUser({ run: given, ...item }: StoreItem): StoreItem {
  const resourceAttributes = { 'deployment.environment.name': 'production' };
  return { ...item, run: { ...given, trace: { ...given.trace, userId: 'u1' }, resourceAttributes } };
}

/** The run in a session, with a call of a tool. */
function inSession(item: StoreItem): StoreItem {
  const trace = { ...item.run.trace, sessionId: 'session', toolCalls: [call({ name: 'book' }), call({ name: 'book' })] };
  return { ...item, run: { ...item.run, trace } };
}
