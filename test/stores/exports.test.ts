/** Rows that wait for backends, in every store. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { parseTraceId, tenant } from '../../src/model/ids.ts';
import { exportItem } from '../../src/stores/blob-codec.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { NewExport } from '../../src/model/store/export-store.ts';
import type { Store } from '../../src/model/store/store.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { openedInMemory } from '../builders/memory-store.ts';
import { retention } from '../builders/retention.ts';
import { evaluation, failed, run, scored, scoredRun, skipped } from '../builders/scored-run.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { folder, members, open, openFile } from './members.ts';

/** The run of that number. */
function nth(number: number, given: Partial<Run> = {}): Run {
  const traceId = parseTraceId((number + 1).toString(16).padStart(32, '0'));
  if (traceId === undefined) throw new Error('no trace id');
  return run({ traceId, ...given });
}

function waiting(item: ScoredRun, members_: Partial<NewExport> = {}): NewExport {
  return { exporter: 'x', part: 'rules', item, offeredAt: 1_000, ...members_ };
}

const numbers = (rows: readonly { readonly item: { readonly run: Pick<Run, 'traceId'> } | undefined }[]): readonly number[] =>
  rows.map(({ item }) => Number.parseInt(item?.run.traceId ?? '', 16) - 1);
const anyTime = { now: 1e15, limit: 100, except: [] } as const;

describe.each(members)('%s', (member) => {
  /** Runs from 0 on, each with a row. */
  async function filled(count: number): Promise<{ readonly store: Store; readonly ids: readonly number[] }> {
    const store = await open(member);
    const items = Array.from({ length: count }, (_, number) => scoredRun({ a: scored(1) }, nth(number)));
    const rows = await store.write(
      items,
      items.map((item, number) => waiting(item, { offeredAt: (number + 1) * 1_000 })),
    );
    return { store, ids: rows.map((id) => id ?? 0) };
  }

  test('stores: rows may be added after their runs, but for what a newer revision has replaced and runs that are gone', async () => {
    const { store } = await filled(0);
    const items = [1, 2].map((revision) => scoredRun({ a: scored(1) }, nth(1, { revision })));
    const other = scoredRun({ a: scored(1) }, nth(2));
    await store.write([...items, other], [waiting(items[1] ?? other)]);
    expect(await store.exports.add([])).toEqual([]);
    const dead = waiting(other, { already: { attempts: 3, reason: 'no' } });
    const added = await store.exports.add([waiting(items[0] ?? other), dead, waiting(scoredRun({ a: scored(1) }, nth(3)))]);
    expect(added).toEqual([undefined, expect.any(Number), 'gone']);
    expect(
      (await store.exports.list({ limit: 10 })).exports.map(({ traceId, revision, state }) => [Number(`0x${traceId}`), revision, state]),
    ).toEqual([
      [2, 2, 'waiting'],
      [3, 1, 'dead'],
    ]);
    expect((await store.runs({ limit: 10 })).runs).toHaveLength(2);
  });

  test('stores: a row that a process holds is due for no other one, until its lease is over', async () => {
    const { store, ids } = await filled(3);
    const due = async (owner: string, now: number) =>
      (await store.exports.due({ exporter: 'x', now, limit: 2, except: [], lease: { owner, now, until: now + 30 } })).map(({ id }) => id);
    expect(await due('a', 5_000)).toEqual(ids.slice(0, 2));
    expect(await due('b', 5_010)).toEqual(ids.slice(2));
    expect(await due('a', 5_020)).toEqual(ids.slice(0, 2));
    expect(await store.exports.renew(ids, { owner: 'b', now: 5_020, until: 5_100 })).toEqual(ids.slice(2));
    expect(await due('c', 5_049)).toEqual([]);
    expect(await due('c', 5_050)).toEqual(ids.slice(0, 2));
    expect(await store.exports.renew(ids.slice(0, 2), { owner: 'a', now: 5_050, until: 5_200 })).toEqual([]);
    const held = scoredRun({ a: scored(1) }, nth(9));
    await store.write([held], [waiting(held, { lease: { owner: 'd', now: 8_000, until: 9_000 } })]);
    expect(await due('c', 8_999)).not.toContain((await store.exports.list({ limit: 10 })).exports.at(-1)?.id);
    expect(await due('e', 9_000)).toHaveLength(2);
  });

  test('stores: what is sent later is what was written, and no text of the run', async () => {
    const store = await open(member);
    const of = nth(1, {
      tenant: tenant('team'),
      spanTraceId: nth(2).traceId,
      parent: nth(3),
      serviceVersion: '2',
      traceState: 'a=b',
      startUnixNano: 7n,
      endUnixNano: 1_700_000_001_123_456_789n,
      resourceAttributes: { 'service.name': 'travel', big: 1234567890123456789n, list: ['a', 'b'], __proto__x: true },
      trace: agentTrace({
        agent: 'ü "x"',
        sessionId: 's',
        input: 'a secret question',
        finalResponse: 'a secret answer',
        toolCalls: [call({ name: 'find', arguments: { secret: true } })],
      }),
    });
    const part = { index: 0, tool: 'find', callId: 'c1', spanId: spanId(7), score: 0, passed: false, explanation: 'It failed.' };
    const item: ScoredRun = {
      ...scoredRun(
        {
          a: scored(0.1, {
            parts: [part, { ...part, of: 'model_call', index: 1, tool: 'gpt' }],
            evidence: [spanId(7)],
            details: { id: 1234567890123456789n },
          }),
          b: skipped,
          c: failed(),
        },
        of,
      ),
      decisions: [{ name: 'a', evaluator: 'a', evaluatorKind: 'rule', decision: 'scored' }],
    };
    await store.write([item], [waiting(item)]);
    const [row] = await store.exports.due({ exporter: 'x', ...anyTime });
    expect(row).toEqual({ id: row?.id, part: 'rules', attempts: 0, offeredAt: 1_000, item: exportItem(item) });
    const { trace: _trace, expected: _expected, contentHash: _hash, ...told } = of;
    expect(row?.item?.run).toEqual({ ...told, trace: { status: 'ok', agent: 'ü "x"', sessionId: 's' } });
    expect(row?.item).toMatchObject({ evaluations: item.evaluations, decisions: item.decisions });
  });

  test('stores: a run that is taken back is sent as such', async () => {
    const store = await open(member);
    const item = scoredRun({ a: skipped }, nth(1, { revision: 2, partOf: nth(2) }));
    await store.write([item], [waiting(item)]);
    expect((await store.exports.due({ exporter: 'x', ...anyTime }))[0]?.item?.run.partOf).toEqual(nth(2));
  });

  test('stores: rows come oldest first, each exporter its own, without those that are held', async () => {
    const { store, ids } = await filled(5);
    const item = scoredRun({ a: scored(1) }, nth(1));
    await store.write([item], [waiting(item, { exporter: 'y' })]);
    expect(numbers(await store.exports.due({ exporter: 'x', ...anyTime }))).toEqual([0, 1, 2, 3, 4]);
    expect(numbers(await store.exports.due({ exporter: 'x', ...anyTime, limit: 2, except: [ids[0] ?? 0, ids[2] ?? 0] }))).toEqual([1, 3]);
    expect(numbers(await store.exports.due({ exporter: 'y', ...anyTime }))).toEqual([1]);
    expect(await store.exports.due({ exporter: 'z', ...anyTime })).toEqual([]);
  });

  test('stores: a sent row goes, one that is put back waits for its time, and a dead one waits for a person', async () => {
    const { store, ids } = await filled(4);
    const [first = 0, second = 0, third = 0] = ids;
    await store.exports.note({
      sent: [first, 99_999],
      putBack: [{ id: second, attempts: 3, dueAt: 5_000 }],
      dead: [{ id: third, attempts: 7, reason: 'status 400' }],
    });
    expect(numbers(await store.exports.due({ exporter: 'x', ...anyTime, now: 4_999 }))).toEqual([3]);
    expect((await store.exports.due({ exporter: 'x', ...anyTime, now: 5_000 })).map(({ attempts }) => attempts)).toEqual([3, 0]);
    expect(await store.exports.counts()).toEqual([{ exporter: 'x', waiting: 2, dead: 1, oldestAt: 2_000 }]);
    const { exports: dead } = await store.exports.list({ state: 'dead', limit: 10 });
    expect(dead).toEqual([
      {
        id: third,
        exporter: 'x',
        part: 'rules',
        revision: 1,
        state: 'dead',
        attempts: 7,
        offeredAt: 3_000,
        dueAt: 0,
        reason: 'status 400',
        tenant: '',
        traceId: nth(2).traceId,
        spanId: nth(2).spanId,
      },
    ]);
  });

  test('stores: dead letters wait again when they are retried, all, those of one exporter, or single ones', async () => {
    const { store, ids } = await filled(4);
    await store.exports.note({ sent: [], putBack: [], dead: ids.map((id) => ({ id, attempts: 1, reason: 'no' })) });
    expect(await store.exports.retry({ exporter: 'y', now: 0, limit: 100 })).toBe(0);
    expect(await store.exports.retry({ ids: [], now: 0, limit: 100 })).toBe(0);
    expect(await store.exports.retry({ ids: ids.slice(0, 1), now: 9_000, limit: 100 })).toBe(1);
    expect(await store.exports.due({ exporter: 'x', ...anyTime })).toMatchObject([{ id: ids[0], attempts: 0, offeredAt: 9_000 }]);
    expect(await store.exports.retry({ exporter: 'x', now: 9_000, limit: 2 })).toBe(2);
    expect(await store.exports.due({ exporter: 'x', ...anyTime })).toHaveLength(3);
    expect(await store.exports.retry({ exporter: 'x', now: 9_000, limit: 100 })).toBe(1);
    expect(await store.exports.retry({ now: 9_000, limit: 100 })).toBe(0);
    expect(numbers(await store.exports.due({ exporter: 'x', ...anyTime }))).toEqual([0, 1, 2, 3]);
  });

  test('stores: pages of rows hold together with their filters', async () => {
    const { store, ids } = await filled(5);
    await store.exports.note({ sent: [], putBack: [], dead: [{ id: ids[1] ?? 0, attempts: 1, reason: 'no' }] });
    const found: number[] = [];
    let after: number | undefined;
    for (let pages = 0; pages < 10; pages++) {
      const page = await store.exports.list({ exporter: 'x', state: 'waiting', limit: 2, ...(after === undefined ? {} : { after }) });
      found.push(...page.exports.map(({ id }) => id));
      after = page.next;
      if (after === undefined) break;
    }
    expect(found).toEqual([ids[0], ids[2], ids[3], ids[4]]);
    expect((await store.exports.list({ exporter: 'y', limit: 2 })).exports).toEqual([]);
  });

  test('stores: of a run and part the newest revision has the row, under another id', async () => {
    const store = await open(member);
    const [first, second] = [scoredRun({ a: scored(0) }, nth(1)), scoredRun({ a: scored(1) }, nth(1, { revision: 2 }))];
    const judged = { ...scoredRun({}, nth(1)), evaluations: [evaluation('j', scored(1), nth(1), { evaluatorKind: 'judge' })] };
    const [old] = await store.write([first, judged], [waiting(first), waiting(judged, { part: 'j' })]);
    const [newer] = await store.write([second], [waiting(second)]);
    expect(newer).not.toBe(old);
    expect((await store.exports.due({ exporter: 'x', ...anyTime })).map(({ part, item }) => `${part} ${item?.run.revision}`)).toEqual([
      'j 1',
      'rules 2',
    ]);
    // Notes about the older one do not touch the newer one; an older one has no place any more.
    await store.exports.note({ sent: [old ?? 0], putBack: [], dead: [] });
    expect(await store.write([first], [waiting(first)])).toEqual([undefined]);
    expect(await store.write([first, second], [waiting(first), waiting(second)])).toMatchObject([undefined, expect.any(Number)]);
    expect((await store.exports.due({ exporter: 'x', ...anyTime })).map(({ item }) => item?.run.revision)).toEqual([1, 2]);
  });

  test('stores: a revision that is sent already takes the row of the older one away, and a dead letter has its own', async () => {
    const { store } = await filled(2);
    const [sent, dead] = [scoredRun({ a: scored(1) }, nth(0, { revision: 2 })), scoredRun({ a: scored(1) }, nth(1, { revision: 2 }))];
    expect(
      await store.write(
        [sent, dead],
        [waiting(sent, { already: 'sent' }), waiting(dead, { already: { attempts: 2, reason: 'status 413' } })],
      ),
    ).toMatchObject([undefined, expect.any(Number)]);
    expect((await store.exports.list({ limit: 10 })).exports).toMatchObject([
      { traceId: nth(1).traceId, revision: 2, state: 'dead', attempts: 2, reason: 'status 413' },
    ]);
  });

  test('stores: rows go with their run, when they are too old, and when they are too many, dead letters first; all are counted', async () => {
    const { store, ids } = await filled(6);
    await store.exports.note({ sent: [], putBack: [], dead: [{ id: ids[4] ?? 0, attempts: 1, reason: 'no' }] });
    const limits = retention({ stepRuns: 10 });
    const left = async (): Promise<readonly number[]> =>
      (await store.exports.list({ limit: 100 })).exports.map(({ id }) => ids.indexOf(id));
    expect((await store.prune(limits)).exports).toEqual({});
    expect(await store.prune({ ...limits, exportsBefore: 2_000 })).toMatchObject({ runs: 0, exports: { x: 1 }, more: false });
    expect(await left()).toEqual([1, 2, 3, 4, 5]);
    expect((await store.prune({ ...limits, exportsMax: 3 })).exports).toEqual({ x: 2 });
    expect(await left()).toEqual([2, 3, 5]);
    expect(await store.prune({ ...limits, exportsMax: 0, stepRuns: 2 })).toMatchObject({ exports: { x: 2 }, more: true });
    expect(await left()).toEqual([5]);
    await store.exports.note({ sent: [], putBack: [], dead: [{ id: ids[5] ?? 0, attempts: 1, reason: 'no' }] });
    expect(await store.prune({ ...limits, runsBefore: 1e18 })).toMatchObject({ runs: 6, exports: { x: 1 } });
    expect(await left()).toEqual([]);
  });

  test('stores: what waits for a backend keeps its run, however old that is, until it is sent or too old itself', async () => {
    const { store, ids } = await filled(5);
    const limits = retention({ runsBefore: 1e18, stepRuns: 2 });
    await store.exports.note({ sent: [ids[3] ?? 0], putBack: [], dead: [{ id: ids[4] ?? 0, attempts: 1, reason: 'no' }] });
    // Those that must stay are older than the others, and no step stops at them.
    expect(await store.prune(limits)).toMatchObject({ runs: 2, exports: { x: 1 } });
    expect((await store.exports.list({ limit: 10 })).exports.map(({ id }) => id)).toEqual([ids[0], ids[1], ids[2]]);
    await store.exports.note({ sent: [ids[0] ?? 0], putBack: [], dead: [] });
    expect(await store.prune(limits)).toMatchObject({ runs: 1, exports: {} });
    expect(await store.prune({ ...limits, exportsBefore: 1e18 })).toMatchObject({ runs: 0, exports: { x: 2 } });
    expect(await store.prune(limits)).toMatchObject({ runs: 2, exports: {} });
  });
});

test('sqlite: rows outlive the process, and an unreadable one is reported as such', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await openFile(file);
  const [one, other] = [scoredRun({ a: scored(1) }, nth(1)), scoredRun({ a: scored(0) }, nth(2))];
  await first.write([one, other], [waiting(one), waiting(other)]);
  await first.stop();
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(file);
  db.exec("update exports set item = x'00' where id = 1");
  db.close();
  const second = await openFile(file);
  expect((await second.exports.due({ exporter: 'x', ...anyTime })).map(({ item }) => item)).toEqual([undefined, exportItem(other)]);
});

/** Small numbers, so that rows meet. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    at: fc.nat(2),
    revision: fc.integer({ min: 1, max: 3 }),
    part: fc.constantFrom('rules', 'j'),
    exporter: fc.constantFrom('x', 'y'),
    already: fc.constantFrom(undefined, undefined, 'sent' as const, { attempts: 1, reason: 'no' }),
  }),
  fc.record({ kind: fc.constantFrom('sent' as const, 'dead' as const, 'put_back' as const), row: fc.nat(5) }),
  fc.record({ kind: fc.constant('retry' as const) }),
  fc.record({ kind: fc.constant('prune' as const), max: fc.nat(4) }),
);

test('stores: a store with a thread and one without have the same exports after the same steps', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const told = await Promise.all(
        [await openedInMemory(), await sqliteStore(':memory:')].map(async (store) => {
          const seen: unknown[] = [];
          for (const [at, one] of steps.entries()) {
            const rows = (await store.exports.list({ limit: 100 })).exports;
            if (one.kind === 'write') {
              const item = scoredRun({ a: scored(1) }, nth(one.at, { revision: one.revision }));
              await store.write(
                [item],
                [
                  waiting(item, {
                    part: one.part,
                    exporter: one.exporter,
                    offeredAt: at,
                    ...(one.already === undefined ? {} : { already: one.already }),
                  }),
                ],
              );
            } else if (one.kind === 'retry') seen.push(await store.exports.retry({ now: 50, limit: 100 }));
            else if (one.kind === 'prune') seen.push((await store.prune(retention({ exportsMax: one.max, stepRuns: 100 }))).exports);
            else {
              const ids = rows[one.row] === undefined ? [] : [rows[one.row]?.id ?? 0];
              await store.exports.note({
                sent: one.kind === 'sent' ? ids : [],
                dead: one.kind === 'dead' ? ids.map((id) => ({ id, attempts: 2, reason: 'dead' })) : [],
                putBack: one.kind === 'put_back' ? ids.map((id) => ({ id, attempts: 1, dueAt: 70 })) : [],
              });
            }
            const due = await store.exports.due({ exporter: 'x', now: 60, limit: 10, except: [] });
            seen.push(
              (await store.exports.list({ limit: 100 })).exports.map(({ id: _id, ...row }) => row),
              due.map(({ id: _id, ...row }) => row),
              await store.exports.counts(),
            );
          }
          await store.stop();
          return seen;
        }),
      );
      expect(told[1]).toEqual(told[0]);
    }),
    { numRuns: propertyRuns({ short: 1, long: 30 }) },
  );
});
