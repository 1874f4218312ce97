/** Verdicts on sessions on their way out: they are of the session, and stand with its last turn. */
import { expect, test } from 'vitest';
import { evaluationSpanOf } from '../../src/exporters/otlp/evaluation-span.ts';
import { evaluationId, targetKey, type Verdict } from '../../src/model/verdict.ts';
import type { ExportItem } from '../../src/model/scored-run.ts';
import { queueKey } from '../../src/exporters/delivery/per-run-queue.ts';
import { judgeTraceOf } from '../../src/exporters/otlp/item-spans.ts';
import { metricsExporter } from '../../src/exporters/metrics/metrics.ts';
import { scoreApiScores } from '../../src/exporters/scores/score-api-score.ts';
import { wire } from '../../src/model/attributes.ts';
import type { JudgeCall } from '../../src/model/judge-call.ts';
import { exportText, parsedExport } from '../../src/stores/blob-codec.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { evaluation, run, scored, skipped } from '../builders/scored-run.ts';

const call: JudgeCall = {
  judge: 'main',
  operation: 'chat',
  provider: 'openai',
  server: { address: 'judge.test', port: 443 },
  model: 'm',
  startMs: 1,
  endMs: 2,
  retries: [],
};

/** The session's n-th judgement, with the turn of that number as the last. */
function judged(nth: number, verdict: Verdict = scored(1), turn = nth): ExportItem {
  const of = run({
    spanId: spanId(turn),
    trace: agentTrace({ agent: 'desk', sessionId: 'alpha' }),
    session: { revision: nth, turns: turn, leftOut: 0 },
  });
  const item: ExportItem = {
    run: of,
    evaluations: [evaluation('goal', verdict, of, { key: targetKey(of, 'goal'), evaluatorKind: 'judge', revision: nth })],
    decisions: [{ name: 'goal', evaluator: 'goal_reached', evaluatorKind: 'judge', decision: 'scored' }],
    calls: [call],
  };
  const read = parsedExport(exportText(item));
  if (read === undefined) throw new Error('unreadable');
  return read;
}

test('sessions: a backend gets the session under an id that stays when it is judged again', () => {
  const [first, second] = [scoreApiScores(judged(1)), scoreApiScores(judged(2))];
  expect([first, second].map(([score]) => score?.place)).toEqual([1, 2].map(() => ({ kind: 'session', sessionId: 'alpha' })));
  expect(first[0]?.id).toBe(second[0]?.id);
  expect(first[0]?.id).toBe(evaluationId({ tenant: run().tenant, targetKind: 'session', targetId: 'alpha', name: 'goal' }));
  expect(second[0]?.metadata[wire.revision]).toBe(2);
  // An earlier verdict is withdrawn where there is none any more.
  expect([scoreApiScores(judged(1, skipped)), scoreApiScores(judged(2, skipped)).map(({ value }) => value)]).toEqual([
    [],
    [{ kind: 'withdrawn' }],
  ]);
});

test('sessions: each judgement of a session has a separate carrier and trace of its calls, also with the same last turn', () => {
  const items = [judged(1), judged(2), judged(3, scored(0), 2)];
  expect(new Set(items.map((item) => evaluationSpanOf(item)?.spanId)).size).toBe(3);
  expect(new Set(items.map((item) => judgeTraceOf(item)?.traceId)).size).toBe(3);
  expect(evaluationSpanOf(judged(2))).toMatchObject({
    name: 'evaluate desk',
    replaces: undefined,
    attributes: { [wire.revision]: 2, [wire.sessionId]: 'alpha' },
  });
});

test('sessions: the newer of two verdicts on a session with the same last turn is sent, in any order of the rows', async () => {
  const store = await memoryStore();
  const items = [judged(2, scored(0), 1), judged(1, scored(1), 1)];
  for (const item of items)
    await store.write(
      [{ ...item, run: { ...run(), ...item.run, trace: agentTrace({ sessionId: 'alpha' }), contentHash: '' } }],
      [{ exporter: 'x', part: 'goal', item, offeredAt: 1 }],
    );
  const rows = await store.exports.due({ exporter: 'x', now: 1e15, limit: 10, except: [] });
  expect(rows.map(({ item }) => item?.run.session?.revision)).toEqual([2]);
});

test('sessions: verdicts on a session go one after the other, on any turns, and not behind verdicts on these runs', () => {
  const { session: _session, ...alone } = judged(2).run;
  const keys = [judged(1), judged(2)].map(({ run: of }) => queueKey(of));
  expect([new Set(keys).size, keys.includes(queueKey(alone))]).toEqual([1, false]);
});

test('sessions: the first verdict counts among the scores, a later one among the revisions', async () => {
  const telemetry = metricRegistry();
  const exporter = metricsExporter({}, { telemetry });
  for (const item of [judged(1), judged(2, scored(0)), judged(3, scored(0))]) await exporter.send(item);
  const points = (name: string) =>
    telemetry
      .snapshot()
      .find((family) => family.name === name)
      ?.points.map((point) => [
        point.labels['tracejury.change'] ?? point.labels[wire.scoreLabel],
        point.kind === 'number' ? point.value : undefined,
      ]);
  expect([points('tracejury.evaluation.results'), points('tracejury.evaluation.revisions')]).toEqual([
    [['pass', 1]],
    [
      ['changed', 1],
      ['same', 1],
    ],
  ]);
});
