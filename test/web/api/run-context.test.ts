/** The run that goes on where a paused one stopped, over real requests. */
import { expect, onTestFinished, test } from 'vitest';
import { agentTrace, spanId } from '../../builders/agent-trace.ts';
import { emptyApi, openConsole } from '../../builders/console-listener.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';

interface Turn {
  readonly status?: 'paused' | 'error';
  readonly agent?: string;
  readonly sessionId?: string;
}

/** Runs that follow one another, each in a separate trace. */
async function host(turns: readonly Turn[]) {
  const api = await emptyApi();
  await api.store.write(
    turns.map(({ status, agent = 'support', sessionId = 's' }, at) =>
      scoredRun(
        { e: scored(1) },
        run({
          traceId: traceId(at + 1),
          spanId: spanId(at + 1),
          trace: agentTrace({ agent, sessionId, ...(status === undefined ? {} : { status }) }),
          startUnixNano: BigInt(at + 1) * 1_000_000_000n,
          endUnixNano: BigInt(at + 1) * 1_000_000_000n + 1_000_000n,
        }),
      ),
    ),
  );
  const { url, listener } = await openConsole({ api });
  onTestFinished(() => listener.stop());
  return async (turn: number): Promise<readonly unknown[]> => {
    const answer = await fetch(`${url}/api/v1/runs/${traceId(turn)}/${spanId(turn)}/related`);
    const body = (await answer.json()) as {
      readonly resumed_by: { trace_id: string } | null;
      readonly resumes: { trace_id: string } | null;
    };
    return [body.resumed_by?.trace_id ?? null, body.resumes?.trace_id ?? null];
  };
}

test('run context: a paused run has the next run of its agent in the session, and that one has it', async () => {
  const of = await host([{}, { status: 'paused' }, { agent: 'other' }, { sessionId: 'another' }, {}, {}]);
  expect(await of(2)).toEqual([traceId(5), null]);
  expect(await of(5)).toEqual([null, traceId(2)]);
  for (const turn of [1, 3, 4, 6]) expect([turn, ...(await of(turn))]).toEqual([turn, null, null]);
});

test('run context: a run that pauses again is in the middle of the chain, and one that still waits has no next run', async () => {
  const of = await host([{ status: 'paused' }, { status: 'paused' }]);
  expect([await of(1), await of(2)]).toEqual([
    [traceId(2), null],
    [null, traceId(1)],
  ]);
});
