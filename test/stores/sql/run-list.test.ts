/** Filters and pages of the list of runs, in every store. */
import { describe, expect, test } from 'vitest';
import type { RunStatus } from '../../../src/model/agent-trace.ts';
import type { Annotation } from '../../../src/model/store/annotation-store.ts';
import { rowLabelsMax, type RunFilter, type RunQuery, type Store, type StoreItem } from '../../../src/model/store/store.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';
import { retention } from '../../builders/retention.ts';
import { scored, scoredRun } from '../../builders/scored-run.ts';
import { members, open } from '../members.ts';
import { base, nth, numbers, secondMicros } from '../numbered.ts';

interface Given {
  readonly tools?: readonly string[];
  readonly seconds?: number;
  readonly costUsd?: number;
  readonly input?: string;
  readonly status?: RunStatus;
}

/** A run that starts a second after the one before. */
function item(number: number, { tools = [], seconds = 2, costUsd, input, status = 'ok' }: Given = {}): StoreItem {
  const trace = agentTrace({
    agent: 'travel-agent',
    sessionId: 's',
    status,
    toolCalls: tools.map((name) => call({ name })),
    ...(input === undefined ? {} : { input }),
  });
  const { startUnixNano } = nth(number);
  const of = nth(number, { trace, endUnixNano: startUnixNano + BigInt(Math.round(seconds * 1_000)) * 1_000_000n });
  return {
    ...scoredRun({ a: scored(number % 2) }, of),
    figures: costUsd === undefined ? {} : { costUsd, inputTokens: 10, outputTokens: 5 },
  };
}

function annotation(number: number, members: Partial<Annotation>): Annotation {
  const { tenant, traceId, spanId } = nth(number);
  return {
    tenant,
    traceId,
    spanId,
    name: 'quality',
    by: 'ann',
    kind: 'human',
    label: undefined,
    score: undefined,
    passed: undefined,
    explanation: '',
    at: base,
    ...members,
  };
}

/** All pages of a list, and how many there were. */
async function paged(store: Store, query: RunQuery): Promise<{ readonly found: readonly number[]; readonly pages: number }> {
  const found: number[] = [];
  let after: RunQuery['after'];
  for (let pages = 1; ; pages++) {
    const page = await store.runs({ ...query, ...(after === undefined ? {} : { after }) });
    found.push(...numbers(page));
    after = page.next;
    if (after === undefined) return { found, pages };
  }
}

describe.each(members)('%s', (member) => {
  test('list: filters by tool, label, duration and cost', async () => {
    const store = await open(member);
    await store.write([
      item(0, { tools: ['find', 'book'], seconds: 0.5, costUsd: 0.01 }),
      item(1, { tools: ['find"],["book",'], seconds: 1.5, costUsd: 0.2 }),
      item(2, { tools: ['bookshelf'], seconds: 3 }),
      item(3, { seconds: 60, costUsd: 0 }),
    ]);
    await store.annotations.write(
      [
        annotation(0, { label: 'good' }),
        annotation(1, { label: 'good', name: 'tone' }),
        annotation(2, { label: 'tone=good', name: 'other' }),
        annotation(3, { passed: true }),
      ],
      base,
    );
    const found = async (filter: RunFilter): Promise<readonly number[]> => numbers(await store.runs({ limit: 10, ...filter }));
    const wanted: readonly (readonly [RunFilter, readonly number[]])[] = [
      [{ tool: 'book' }, [0]],
      [{ tool: 'find' }, [0]],
      [{ tool: 'find"],["book",' }, [1]],
      [{ tool: 'boo' }, []],
      [{ tool: '%' }, []],
      [{ label: 'good' }, [1, 0]],
      [{ label: 'quality=good' }, [0]],
      [{ label: 'tone=good' }, [2, 1]],
      [{ label: 'bad' }, []],
      [{ label: 'good', agent: 'another' }, []],
      [{ annotated: true }, [3, 2, 1, 0]],
      [{ minDuration: 1.5 * secondMicros }, [3, 2, 1]],
      [{ maxDuration: 1.5 * secondMicros }, [1, 0]],
      [{ minDuration: secondMicros, maxDuration: 3 * secondMicros, agent: 'travel-agent' }, [2, 1]],
      [{ minCost: 0.01 }, [1, 0]],
      [{ maxCost: 0.01 }, [3, 0]],
      [{ minCost: 0, sessionId: 's', verdict: 'fail' }, [0]],
      [{ label: 'good', tool: 'book' }, [0]],
    ];
    for (const [filter, numbersWanted] of wanted) expect([filter, await found(filter)]).toEqual([filter, numbersWanted]);
  });

  test('list: rows have cost, tokens, labels and the beginning of the input', async () => {
    const store = await open(member);
    const long = `  Book\n\ta trip ${'x'.repeat(1_000)}`;
    await store.write([
      item(0, { costUsd: 0.25, input: long }),
      { ...item(1, { input: 'secret' }), withoutContent: 'switched_off' },
      item(2),
    ]);
    const labels = Array.from({ length: rowLabelsMax + 5 }, (_, at) => annotation(0, { label: `l${at}`, name: `n${at}`, at: base + at }));
    await store.annotations.write([...labels, annotation(0, { label: 'l24', name: 'n24', by: 'bob', at: base })], base);
    const { runs } = await store.runs({ limit: 10 });
    expect(runs[2]).toMatchObject({ costUsd: 0.25, inputTokens: 10, outputTokens: 5 });
    expect(runs[2]?.excerpt).toMatch(/^Book a trip x+$/);
    expect(runs[2]?.excerpt?.length).toBeLessThanOrEqual(160);
    expect(runs[2]?.labels).toHaveLength(rowLabelsMax);
    expect(runs[2]?.labels.slice(0, 2)).toEqual([
      { name: 'n24', label: 'l24' },
      { name: 'n23', label: 'l23' },
    ]);
    expect(runs.slice(0, 2).map(({ excerpt, costUsd, labels: own }) => [excerpt, costUsd, own])).toEqual([
      [undefined, undefined, []],
      [undefined, undefined, []],
    ]);
    expect((await store.run(nth(0)))?.labels).toEqual(runs[2]?.labels);
  });

  test('list: the beginning of the input goes with the content', async () => {
    const store = await open(member);
    await store.write([item(0, { input: 'old' }), item(1, { input: 'new' })]);
    await store.prune(retention({ contentBefore: base + secondMicros }));
    expect((await store.runs({ limit: 10 })).runs.map(({ excerpt }) => excerpt)).toEqual(['new', undefined]);
  });

  test.each([
    { filter: { tool: 'book' }, pages: 6 },
    { filter: { agent: 'travel-agent', minCost: 1 }, pages: 6 },
    { filter: { sessionId: 's', verdict: 'pass', tool: 'book' }, pages: 6 },
    { filter: { tool: 'book', from: base + 10 * secondMicros }, pages: 4 },
    { filter: { status: 'ok', tool: 'book' }, pages: 6 },
  ] as const)('list: a page of $filter ends after a number of examined runs and goes on from there', async ({ filter, pages }) => {
    const store = await open(member);
    await store.write(Array.from({ length: 25 }, (_, at) => item(at, at % 10 === 1 ? { tools: ['book'], costUsd: 2 } : {})));
    const wanted = [21, 11, 1].filter((number) => !('from' in filter) || number >= 10);
    expect(await paged(store, { ...filter, limit: 10, examine: 5 })).toEqual({ found: wanted, pages });
    const first = await store.runs({ ...filter, limit: 10, examine: 5 });
    expect([numbers(first), first.searchedTo]).toEqual([[21], base + 20 * secondMicros]);
    const full = await store.runs({ ...filter, limit: 1, examine: 15 });
    expect([numbers(full), full.searchedTo, full.next?.startedAt]).toEqual([[21], undefined, base + 21 * secondMicros]);
  });

  test.each([
    {},
    { agent: 'travel-agent' },
    { sessionId: 's' },
    { label: 'good' },
    { annotated: true },
    { traceId: nth(0).traceId },
    { status: 'error' },
    { status: 'error', from: base },
  ] as const)('list: an index answers %j, with any number of runs', async (filter) => {
    const store = await open(member);
    await store.write(Array.from({ length: 12 }, (_, at) => item(at, { status: at % 6 === 0 ? 'error' : at % 6 === 1 ? 'paused' : 'ok' })));
    await store.annotations.write([annotation(0, { label: 'good' })], base);
    const page = await store.runs({ ...filter, limit: 20, examine: 2 });
    expect(numbers(page)).toContain(0);
    expect([page.next, page.searchedTo]).toEqual([undefined, undefined]);
  });

  test('list: runs that were written last come in the order of their writing, by a filter, and with the number of the others', async () => {
    const store = await open(member);
    await store.write([item(0), item(1)]);
    const begin = await store.recent({ limit: 10 });
    expect([begin.runs, begin.leftOut]).toEqual([[], 0]);
    await store.write([item(3), item(2, { tools: ['book'] })]);
    const first = await store.recent({ limit: 10, after: begin.position });
    expect([numbers(first), first.leftOut]).toEqual([[3, 2], 0]);
    expect(first.runs[1]).toEqual((await store.runs({ limit: 1, traceId: nth(2).traceId })).runs[0]);
    expect(numbers(await store.recent({ limit: 10, after: first.position }))).toEqual([]);
    // A later verdict, a revision, and a run that turns out to be part of another one.
    await store.write([
      { ...item(1), answered: true },
      scoredRun({}, nth(3, { revision: 2, trace: agentTrace({ toolCalls: [call({ name: 'book' })] }) })),
      scoredRun({}, nth(2, { revision: 2, partOf: nth(3) })),
    ]);
    expect(numbers(await store.recent({ limit: 10, after: first.position })).toSorted((one, other) => one - other)).toEqual([1, 3]);
    expect(numbers(await store.recent({ limit: 10, after: begin.position, tool: 'book' }))).toEqual([3]);
    await store.write([4, 5, 6, 7].map((number) => item(number)));
    const last = await store.recent({ limit: 2, after: begin.position, agent: 'travel-agent' });
    expect([numbers(last), last.leftOut]).toEqual([[6, 7], 3]);
  });
});
