/** The list of sessions, in every store. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Tenant } from '../../../src/model/ids.ts';
import { sessionRunsMax, type SessionRow } from '../../../src/model/store/session-list.ts';
import type { SessionQuery, Store, StoreItem } from '../../../src/model/store/store.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { scored, scoredRun, skipped } from '../../builders/scored-run.ts';
import { members, open } from '../members.ts';
import { base, nth, secondMicros } from '../numbered.ts';

interface Turn {
  readonly session?: string;
  readonly agent?: string;
  readonly tenant?: string;
  readonly score?: number | 'none';
  readonly costUsd?: number;
}

function turn(number: number, { session, agent = 'a', tenant = '', score = 1, costUsd }: Turn): StoreItem {
  const trace = agentTrace({ agent, ...(session === undefined ? {} : { sessionId: session }) });
  const of = nth(number, { trace, tenant: tenant as Tenant });
  return {
    ...scoredRun({ a: score === 'none' ? skipped : scored(score), b: scored(1) }, of),
    ...(costUsd === undefined ? {} : { figures: { costUsd, inputTokens: 10, outputTokens: 1 } }),
  };
}

async function all(store: Store, query: Partial<SessionQuery> = {}): Promise<readonly SessionRow[]> {
  const found: SessionRow[] = [];
  let after: SessionQuery['after'];
  do {
    const page = await store.sessions({ limit: 2, ...query, ...(after === undefined ? {} : { after }) });
    found.push(...page.sessions);
    after = page.next;
  } while (after !== undefined);
  return found;
}

const ids = (rows: readonly SessionRow[]): readonly string[] => rows.map(({ id, tenant }) => `${tenant}${id}`);

describe.each(members)('%s', (member) => {
  test('sessions: come by their newest run, with figures over all their runs', async () => {
    const store = await open(member);
    await store.write([
      turn(0, { session: 'x', agent: 'z', score: 0.25, costUsd: 0.5 }),
      turn(1, { session: 'y', costUsd: 1 }),
      turn(2, {}),
      turn(3, { session: 'x', score: 0, costUsd: 0.25 }),
      turn(4, { session: 'y', score: 0.75 }),
      turn(5, { session: 'x', score: 'none', costUsd: 0 }),
      turn(6, { session: 'x', tenant: 'team', score: 'none' }),
    ]);
    const found = await all(store);
    expect(ids(found)).toEqual(['teamx', 'x', 'y']);
    expect(found[1]).toEqual({
      id: 'x',
      tenant: '',
      agents: ['a', 'z'],
      turns: 3,
      isWhole: true,
      startedAt: base,
      endedAt: base + 7 * secondMicros,
      runMicros: 6 * secondMicros,
      inputTokens: 30,
      outputTokens: 3,
      costUsd: 0.75,
      worst: { name: 'a', verdict: 'fail', score: 0 },
    });
    expect(found[2]).toMatchObject({ inputTokens: undefined, costUsd: undefined, worst: { name: 'a', verdict: 'pass', score: 0.75 } });
    expect(found[0]?.worst).toEqual({ name: 'b', verdict: 'pass', score: 1 });
  });

  test('sessions: a filter finds sessions with a run that matches, by the newest such run', async () => {
    const store = await open(member);
    await store.write([
      turn(0, { session: 'x', agent: 'z' }),
      turn(1, { session: 'y', agent: 'z', score: 0 }),
      turn(2, { session: 'x', score: 0 }),
      turn(3, { session: 'y' }),
      turn(4, { session: 'w' }),
    ]);
    const wanted: readonly (readonly [Partial<SessionQuery>, readonly string[]])[] = [
      [{ agent: 'z' }, ['y', 'x']],
      [{ verdict: 'fail' }, ['x', 'y']],
      [{ verdict: 'fail', evaluator: 'b' }, []],
      [{ agent: 'a', verdict: 'fail' }, ['x']],
      [{ service: 'travel' }, ['w', 'y', 'x']],
      [{ tenant: 'team' as Tenant }, []],
      [{ to: base + 2 * secondMicros }, ['y', 'x']],
      [{ from: base + 3 * secondMicros }, ['w', 'y']],
    ];
    for (const [filter, sessions] of wanted) expect([filter, ids(await all(store, filter))]).toEqual([filter, sessions]);
  });

  test('sessions: a page ends after a number of examined runs and goes on from there', async () => {
    const store = await open(member);
    await store.write([turn(0, { session: 'x' }), ...Array.from({ length: 9 }, (_, at) => turn(at + 1, {}))]);
    const first = await store.sessions({ limit: 10, examine: 4 });
    expect([first.sessions, first.searchedTo]).toEqual([[], base + 6 * secondMicros]);
    expect(ids(await all(store, { examine: 4 }))).toEqual(['x']);
  });

  test('sessions: figures of a very long one are those of its newest runs, and say so', async () => {
    const store = await open(member);
    const runs = sessionRunsMax + 3;
    for (let at = 0; at < runs; at += 200)
      await store.write(
        Array.from({ length: Math.min(200, runs - at) }, (_, next) => turn(at + next, { session: 'x', agent: `a${at + next}` })),
      );
    const [found] = await all(store);
    expect(found).toMatchObject({ turns: sessionRunsMax, isWhole: false, startedAt: base + 3 * secondMicros });
    expect(found?.agents).toHaveLength(20);
  });

  test('sessions: pages hold each session once, in the order of a list in memory', async () => {
    const one = fc.record({
      session: fc.constantFrom('x', 'y', 'z', undefined),
      agent: fc.constantFrom('a', 'b'),
      score: fc.constantFrom(0, 1),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (turns, examine) => {
        const store = await open(member);
        await store.write(turns.map((given, at) => turn(at, given as Turn)));
        for (const filter of [{}, { agent: 'a' }, { verdict: 'fail' as const, agent: 'b' }]) {
          const matching = turns.filter(
            (given) =>
              given.session !== undefined &&
              (!('agent' in filter) || given.agent === filter.agent) &&
              (!('verdict' in filter) || given.score === 0),
          );
          const wanted = [...new Set(matching.toReversed().map(({ session }) => String(session)))];
          expect(ids(await all(store, { ...filter, limit: 1, examine }))).toEqual(wanted);
        }
      }),
      // Each example opens a new store.
      { numRuns: propertyRuns({ short: 10, long: 40 }) },
    );
  });
});
