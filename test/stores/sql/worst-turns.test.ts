/** The worst turns of a session, in every store. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { worstTurns } from '../../../src/analytics/worst-turns.ts';
import { noTenant, type Tenant } from '../../../src/model/ids.ts';
import { sessionRunsMax } from '../../../src/model/store/session-list.ts';
import type { StoreItem } from '../../../src/model/store/store.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { openedInMemory } from '../../builders/memory-store.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { scored, scoredRun, skipped } from '../../builders/scored-run.ts';
import { members, open } from '../members.ts';
import { nth } from '../numbered.ts';

function turn(number: number, verdicts: { readonly [name: string]: Verdict }, tenant = ''): StoreItem {
  return scoredRun(verdicts, nth(number, { trace: agentTrace({ agent: 'a', sessionId: 's' }), tenant: tenant as Tenant }));
}

const ofSession = { details: { session: { turns: 3, left_out: 0 } } };
const session = { tenant: noTenant, id: 's' };

describe.each(members)('%s', (member) => {
  test('the worst turn of each evaluator is the first with the lowest score, without verdicts on the session', async () => {
    const store = await open(member);
    const turns = [
      turn(0, { tool_error: scored(1), relevance: skipped }),
      turn(1, { tool_error: scored(0.25), relevance: skipped, text: scored(1, { explanation: 'It says "session" only.' }) }),
      turn(2, { tool_error: scored(0.25), goal: scored(0, ofSession) }),
      turn(3, { tool_error: scored(0) }, 'team'),
    ];
    await store.write(turns);
    const [, second] = turns;
    expect(await store.worstTurns(session)).toEqual({
      turns: 3,
      isWhole: true,
      worst: [
        { name: 'relevance', scored: 0, turn: undefined, score: undefined, verdict: undefined, traceId: undefined, spanId: undefined },
        {
          name: 'tool_error',
          scored: 3,
          turn: 1,
          score: 0.25,
          verdict: 'fail',
          traceId: second?.run.traceId,
          spanId: second?.run.spanId,
        },
        { name: 'text', scored: 1, turn: 1, score: 1, verdict: 'pass', traceId: second?.run.traceId, spanId: second?.run.spanId },
      ],
    });
    expect(await store.worstTurns({ ...session, id: 'none' })).toEqual({ turns: 0, isWhole: true, worst: [] });
    expect(await store.worstTurns({ ...session, tenant: 'other' as Tenant })).toEqual({ turns: 0, isWhole: true, worst: [] });
  });

  test('of a longer session the newest turns count', async () => {
    const store = await open(member);
    const at = (number: number): number => (number < 2 ? 0 : number === 700 ? 0.1 : 0.9);
    await store.write(Array.from({ length: sessionRunsMax + 2 }, (_, number) => turn(number, { a: scored(at(number)) })));
    const { turns, isWhole, worst } = await store.worstTurns(session);
    expect({ turns, isWhole }).toEqual({ turns: sessionRunsMax, isWhole: false });
    expect(worst).toMatchObject([{ name: 'a', scored: sessionRunsMax, turn: 698, score: 0.1 }]);
  });
});

test('the store finds what the turns read one by one say', async () => {
  const verdict = fc.oneof(
    fc.constant(undefined),
    fc.constant(skipped),
    fc.integer({ min: 0, max: 4 }).map((quarters) => scored(quarters / 4)),
    fc.integer({ min: 0, max: 4 }).map((quarters) => scored(quarters / 4, ofSession)),
  );
  const turns = fc.array(fc.record({ a: verdict, b: verdict }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(turns, async (rows) => {
      const store = await openedInMemory();
      const verdicts = rows.map((row) =>
        Object.fromEntries(Object.entries(row).flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as const]))),
      );
      await store.write(verdicts.map((one, number) => turn(number, one)));
      const wanted = worstTurns(
        rows.map((row) =>
          Object.entries(row).flatMap(([name, one]) =>
            one === undefined || 'session' in one.details ? [] : [{ name, score: one.kind === 'scored' ? one.score : undefined }],
          ),
        ),
      );
      const { worst } = await store.worstTurns(session);
      expect(worst.map(({ name, scored: count, turn: at, score }) => ({ name, scored: count, worst: at, score }))).toEqual(wanted);
      await store.stop();
    }),
    { numRuns: propertyRuns({ short: 10, long: 40 }) },
  );
});
