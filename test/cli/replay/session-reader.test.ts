/** Sessions of the runs of files. */
import { expect, test } from 'vitest';
import type { SessionOfRun } from '../../../src/cli/replay/joined-session.ts';
import { givenSessions } from '../../../src/cli/replay/session-reader.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { agentTrace, spanId } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';

const settings = { sessions: { quietMs: 1_000, keepMs: 60_000 }, leaving: (one: Run) => one };

function turn(nth: number, members: Partial<Run> = {}): Run {
  const start = BigInt(nth) * 1_000_000_000n;
  const trace = agentTrace({ agent: 'desk', sessionId: 'alpha', input: `question ${nth}` });
  return run({ spanId: spanId(nth), startUnixNano: start, endUnixNano: start + 1_000_000n, trace, ...members });
}

/** The finding about each run, in words. */
async function found(runs: readonly Run[], reader = givenSessions(runs, settings)): Promise<readonly string[]> {
  const word = async (session: SessionOfRun): Promise<string> =>
    session.kind === 'session' ? `${session.run.session?.turns} turns` : session.kind === 'goes_on' ? 'goes on' : session.reason;
  return await Promise.all(runs.map((one) => reader.withSession(one, word)));
}

test('session reader: the last turn represents the session, and runs of sub-agents are not turns', async () => {
  const { tenant, traceId } = run();
  const helper = turn(4, { parent: { tenant, traceId, spanId: spanId(3) } });
  const runs = [turn(1), turn(2), turn(3), helper];
  const turns = runs.slice(0, 3);
  expect(await found(turns, givenSessions(runs, settings))).toEqual(['goes on', 'goes on', '3 turns']);
});

test('session reader: a pause and another tenant begin another session', async () => {
  const other = turn(2, { tenant: 'other' as Run['tenant'] });
  expect(await found([turn(1), other, turn(3), turn(100)])).toEqual(['goes on', '1 turns', '2 turns', '1 turns']);
});

test('session reader: an id that the redaction changes represents no session', async () => {
  const leaving = (one: Run): Run => ({ ...one, trace: { ...one.trace, sessionId: '[mail]' } });
  const runs = [turn(1)];
  expect(await found(runs, givenSessions(runs, { ...settings, leaving }))).toEqual(['session_id_redacted']);
});

test('session reader: a session of too many runs is said once', async () => {
  const runs = Array.from({ length: 2_001 }, (_, at) => turn(at + 1));
  const words = await found(runs);
  expect([words.at(-1), new Set(words.slice(0, -1))]).toEqual(['session_too_long', new Set(['goes on'])]);
});
