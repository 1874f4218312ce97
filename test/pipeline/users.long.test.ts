/** Users who ask the same at the same time: what joins the traces of one run never joins those of two. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/model/agent-trace.ts';
import type { AttributeValue, Span } from '../../src/model/span.ts';
import { gathered } from '../builders/gathered.ts';
import { assistant, modelSpan, toolMessage, toolSpan } from '../builders/gen-ai-spans.ts';
import { replaced } from '../builders/replaced.ts';
import { seeded } from '../builders/seeded.ts';

type Ids = 'unique' | 'counted' | 'none';

interface User {
  /** When the first request begins; each step takes 10 ms. */
  readonly startMs: number;
  readonly pauseMs: number;
  readonly calls: number;
  /** Tools are spans in separate traces. */
  readonly hasToolSpans: boolean;
  /** Stops before the answer. */
  readonly isAbandoned: boolean;
}

const user = fc.record<User>({
  startMs: fc.nat(120),
  pauseMs: fc.nat(30),
  calls: fc.integer({ min: 1, max: 3 }),
  hasToolSpans: fc.boolean(),
  isAbandoned: fc.boolean(),
});
const someUsers = fc.array(user, { minLength: 2, maxLength: 4 });

/** The requests and tools of one user's run, each in a separate trace. All users send and do the same. */
function spansOf({ startMs, pauseMs, calls, hasToolSpans, isAbandoned }: User, number: number, ids: Ids): readonly Span[] {
  const found: Span[] = [];
  const idOf = (call: number): { readonly id?: string } =>
    ids === 'none' ? {} : { id: ids === 'unique' ? `call of ${number}, ${call}` : `call_${call}` };
  const next = (): { readonly id: number; readonly trace: number; readonly start: number; readonly end: number } => {
    const id = 100 * (number + 1) + found.length;
    const start = startMs + found.length * (10 + pauseMs);
    return { id, trace: id, start, end: start + 10 };
  };
  const history: AttributeValue[] = [];
  for (let call = 0; call <= calls; call++) {
    const isLast = call === calls;
    if (isLast && isAbandoned) break;
    const asks = [{ ...idOf(call), name: 'find', arguments: { step: call } }];
    found.push(modelSpan({ ...next(), user: 'Where is A-1?', history: [...history], ...(isLast ? { says: 'Here.' } : { asks }) }));
    if (isLast) break;
    if (hasToolSpans)
      found.push(
        toolSpan({
          ...next(),
          tool: 'find',
          ...(ids === 'none' ? {} : { call: idOf(call).id ?? '' }),
          arguments: { step: call },
          result: 'found',
        }),
      );
    history.push(assistant({ asks }), toolMessage([{ ...idOf(call), response: 'found' }]));
  }
  return found;
}

/** The last revision of every run, when each trace comes when it likes. */
function lastRuns(spans: readonly Span[], seed: number): readonly Run[] {
  const chance = seeded(seed);
  const to = gathered();
  for (const span of chance.shuffled(spans)) {
    to.spans(span);
    if (chance.share() < 0.3) to.pass(chance.pick([100, 1_000, 8_000]));
  }
  to.pass(60_000);
  const last = new Map(to.runs().map((run) => [`${run.traceId}/${run.spanId}`, run]));
  return [...last.values()].filter((run) => run.partOf === undefined);
}

function usersIn(run: Run): ReadonlySet<number> {
  const ids = [run.spanId, ...run.trace.modelCalls.map((call) => call.spanId), ...run.trace.toolCalls.map((call) => call.spanId)];
  return new Set(ids.flatMap((id) => (id === undefined ? [] : [Math.floor(Number.parseInt(id, 16) / 100) - 1])));
}

describe('users', () => {
  for (const ids of ['unique', 'counted', 'none'] as const) {
    test(`users: runs of several users are never one run, call ids ${ids}`, () => {
      fc.assert(
        fc.property(someUsers, fc.nat(), (users, seed) => {
          const spans = users.flatMap((one, number) => spansOf(one, number, ids));
          for (const run of lastRuns(spans, seed)) expect([...usersIn(run)]).toHaveLength(1);
        }),
        { numRuns: 300 },
      );
    });
  }

  test('users: with distinct ids each has one run, on its first request when all comes in time', () => {
    fc.assert(
      fc.property(someUsers, fc.nat(), (users, seed) => {
        const runs = lastRuns(
          users.flatMap((one, number) => spansOf(one, number, 'unique')),
          seed,
        );
        expect(
          runs
            .map((run) => [...usersIn(run)])
            .flat()
            .toSorted((a, b) => a - b),
        ).toEqual(users.map((_, number) => number));
        for (const run of runs)
          expect(run.trace.toolCalls.map((call) => call.name)).toEqual(Array(users[[...usersIn(run)][0] ?? 0]?.calls).fill('find'));
      }),
      { numRuns: 300 },
    );
  });

  test('users: without ids a single user has one run all the same, tied by its history', () => {
    fc.assert(
      fc.property(user, fc.nat(), (one, seed) => {
        const runs = lastRuns(spansOf({ ...one, hasToolSpans: false }, 0, 'none'), seed);
        expect(runs.map((run) => run.trace.modelCalls.length)).toEqual([one.calls + (one.isAbandoned ? 0 : 1)]);
      }),
    );
  });

  test('users: those with different sessions share no run, at any ids', () => {
    const of = (session: string, spans: readonly Span[]): readonly Span[] =>
      spans.map((span) => replaced(span, { attribute: (key) => (key === 'session.id' ? session : span.attribute(key)) }));
    const one: User = { startMs: 0, pauseMs: 5, calls: 2, hasToolSpans: true, isAbandoned: false };
    const runs = lastRuns([...of('a', spansOf(one, 0, 'counted')), ...of('b', spansOf({ ...one, startMs: 3 }, 1, 'counted'))], 7);
    expect(runs.map((run) => [run.trace.sessionId, run.trace.modelCalls.length, run.trace.toolCalls.length])).toEqual([
      ['a', 3, 2],
      ['b', 3, 2],
    ]);
  });
});
