/** Sums over time after `replay --write`: those of a store whose runs had the new verdicts from the start. */
import { afterAll, expect, test } from 'vitest';
import type { VersionFigureKind } from '../../../src/model/store/version-store.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { nanos } from '../../builders/spans.ts';
import type { StoredTrace } from '../../builders/stored-runs.ts';
import { config, interrupted, lenient, opened, replay, reported, stored, strict, ended } from './harness.ts';

afterAll(ended);

const minute = 60_000;
const dayMicros = 24 * 60 * minute * 1_000;
/** Some of the runs are in steps of five minutes then, the others in hours. */
const now = Number(nanos(60 * 60 * minute) / 1_000n);
const keepFrom = now - 30 * dayMicros;
const whole = { from: now - 20 * dayMicros, to: now + dayMicros, now };

/** Runs of two agents and two versions, every seven minutes. */
const spread: readonly StoredTrace[] = Array.from({ length: 250 }, (_, at) => {
  const [trace, start] = [at + 1, at * 7 * minute];
  const resource = { 'service.name': 'shop', 'service.version': at % 2 === 0 ? '1' : '2' };
  return {
    spans: [
      agentSpan({
        id: 1,
        trace,
        start,
        end: start + 50,
        agent: `agent ${at % 2}`,
        input: `question ${at}`,
        ...(at % 4 === 0 ? {} : { output: 'there' }),
        resource,
      }),
      toolSpan({ id: 2, trace, parent: 1, start: start + 1, tool: 'search', call: 'c1', result: 'found', resource }),
      toolSpan({
        id: 3,
        trace,
        parent: 1,
        start: start + 3,
        tool: 'fetch',
        call: 'c2',
        ...(at % 3 === 0 ? { status: 'error' as const } : { result: 'page' }),
        resource,
      }),
    ],
  };
});

const before = `${lenient}, loop_detection`;
const after = `${strict}, loop_detection, final_response_present, tool_call_count`;
const kinds: readonly VersionFigureKind[] = ['run', 'pass', 'score', 'duration', 'took'];

/** All sums, brought up to date. */
async function sums(path: string): Promise<object> {
  return await opened(path, async (store) => {
    // Work that is due without a change comes in another round.
    for (let round = 0; round < 2; round++) while (await store.versions.refresh({ now, keepFrom }));
    const rollups = async (kind: 'run' | 'evaluator' | 'tool' | 'model'): Promise<object> =>
      (await store.rollups(kind, { ...whole, byAgent: true, byName: true })).rows;
    const figures = (await store.versions.figures({ kinds })).map((row) => JSON.stringify(row)).toSorted();
    return {
      overview: await rollups('run'),
      evaluators: await rollups('evaluator'),
      tools: await rollups('tool'),
      models: await rollups('model'),
      versions: figures,
      summary: await store.summary({ tenant: noTenant, bucketMicros: dayMicros / 24, from: whole.from, to: whole.to }),
    };
  });
}

test('replay: after --write the sums are those of a store whose runs had the new verdicts from the start', async () => {
  const path = await stored(before, spread);
  const former = await sums(path);
  expect((await reported('-c', config(path, after), '--write')).written).toEqual({ written: 250, changed: 0, gone: 0 });
  const wanted = await sums(await stored(after, spread));
  expect(await sums(path)).toEqual(wanted);
  expect(former).not.toEqual(wanted);
});

test('replay: the sums are right whenever they are made, also between a kill and --resume', async () => {
  const path = await stored(before, spread);
  const named = config(path, after);
  await sums(path);
  await interrupted(path, named, 1);
  const between = await sums(path);
  const wanted = await sums(await stored(after, spread));
  expect(between).not.toEqual(wanted);
  expect(await replay('-c', named, '--write', '--resume')).toMatchObject({ code: 0 });
  expect(await sums(path)).toEqual(wanted);
});
