/** `--write` and `--resume`. */
import { afterAll, expect, test } from 'vitest';
import type { Revision } from '../../../src/model/store/replay-store.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { run as exampleRun, scored, scoredRun } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';
import {
  replay,
  reported,
  agentRun,
  interrupted,
  lenient,
  strict,
  traces,
  stored,
  config,
  opened,
  allVerdicts,
  type Report,
  ended,
} from './harness.ts';

afterAll(ended);

const entriesOf = async (path: string): Promise<ReadonlyMap<string, readonly [revision: number, verdicts: ReadonlyMap<string, string>]>> =>
  new Map(
    (await allVerdicts(path)).map(({ traceId: id, revision, verdicts }) => [
      id,
      [revision, new Map(verdicts.map((verdict) => [verdict.name, JSON.stringify(verdict)]))],
    ]),
  );

test('replay: --write makes changed and new verdicts revisions, leaves the others unchanged, and a second one has nothing to do', async () => {
  const path = await stored(`${lenient}, loop_detection`, traces(6));
  const before = await entriesOf(path);
  const named = config(path, `${strict}, loop_detection, final_response_present`);
  const report = await reported('-c', named, '--write');
  expect(report.written).toEqual({ written: 6, changed: 0, gone: 0 });
  const after = await allVerdicts(path);
  for (const { traceId: id, revision, verdicts } of after) {
    const nth = Number.parseInt(id, 16);
    expect(revision).toBe(2);
    expect(verdicts.map(({ name, verdict, revision: own }) => [name, verdict, own])).toEqual([
      ['final_response_present', nth % 4 === 0 ? 'fail' : 'pass', 2],
      ['loop_detection', 'pass', 1],
      ['tool_error', nth % 3 === 0 ? 'fail' : 'pass', 2],
    ]);
    const unchanged = verdicts.find(({ name }) => name === 'loop_detection');
    expect(JSON.stringify(unchanged)).toBe(before.get(id)?.[1].get('loop_detection'));
  }
  const decisions = await opened(path, (store) => store.decisions(traceId(3)));
  expect(decisions.map(({ name, decision, revision }) => [name, decision, revision])).toEqual([
    ['final_response_present', 'scored', 2],
    ['loop_detection', 'scored', 1],
    ['tool_error', 'scored', 2],
  ]);
  const again = await reported('-c', named, '--write');
  expect(again.written).toEqual({ written: 0, changed: 0, gone: 0 });
  expect(await allVerdicts(path)).toEqual(after);
});

test('replay: --write sends every rule of a revised run again through the outbox, with those that did not change', async () => {
  const path = await stored(`${lenient}, loop_detection`, traces(3));
  const exports = 'export: [ { to: span_events, endpoint: "http://127.0.0.1:1" }, { to: metrics } ]';
  await reported('-c', config(path, `${strict}, loop_detection`, exports), '--write', '--where', `trace=${traceId(3)}`);
  const waiting = await opened(path, (store) =>
    store.exports.due({ exporter: 'span_events', now: Number.MAX_SAFE_INTEGER, limit: 10, except: [] }),
  );
  expect(
    waiting.map(({ part, item }) => [
      part,
      item?.run.traceId,
      item?.run.revision,
      item?.evaluations.map(({ key, revision }) => [key.name, revision]),
    ]),
  ).toEqual([
    [
      'rules',
      traceId(3),
      2,
      [
        ['tool_error', 2],
        ['loop_detection', 2],
      ],
    ],
  ]);
  const others = await stored(lenient, traces(3));
  await reported('-c', config(others, strict, exports), '--write', '--no-export');
  expect(await opened(others, (store) => store.exports.counts())).toEqual([]);
});

test('replay: --write skips a run that the service may still revise, or has revised or deleted meanwhile', async () => {
  const path = await stored(lenient, [...traces(3), { spans: agentRun(4), piece: { storedAt: Date.now() * 1_000 } }]);
  const report = await reported('-c', config(path, strict), '--write');
  expect(report).toMatchObject({
    runs: 3,
    left_out: { reasons: { may_still_change: { runs: 1, examples: [`${traceId(4)}/${spanId(1)}`] } } },
    written: { written: 3 },
  });
  const late = await opened(path, async (store) => {
    const [first] = (await store.replays.page({ filter: {}, limit: 1 })).runs;
    if (first === undefined) throw new Error('no run');
    const run = { ...exampleRun(), traceId: first.traceId, spanId: first.spanId, revision: first.revision + 1 };
    const revision = (before: number, of = run): Revision => ({ before, item: scoredRun({ late: scored(1) }, of), exports: [] });
    const gone = { ...run, traceId: traceId(99) };
    const checkpoint = { id: 'c', state: null, to: 1, after: first.place, at: 1 };
    const fates = await store.replays.revise([revision(first.revision - 1), revision(1, gone), revision(first.revision)], checkpoint);
    return [fates, await store.replays.checkpoint('c'), (await store.runs({ traceId: traceId(99), limit: 1 })).runs];
  });
  expect(late).toEqual([['changed', 'gone', 'written'], expect.objectContaining({ fates: { written: 1, changed: 1, gone: 1 } }), []]);
});

test('replay: --resume continues an interrupted one, with its results, and reports when there is none', async () => {
  const path = await stored(lenient, traces(250));
  const named = config(path, `${strict}, final_response_present`);
  expect(await replay('-c', named, '--write', '--resume')).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is no interrupted replay'),
  });
  const whole = await stored(lenient, traces(250));
  const expected = await reported('-c', config(whole, `${strict}, final_response_present`), '--write');
  await interrupted(path, named, 1);
  await interrupted(path, named, 101, '--resume');
  const resumed = await reported('-c', named, '--write', '--resume');
  const told = ({ runs, evaluators, written }: Report) => ({ runs, evaluators, written });
  expect(told(resumed)).toEqual(told(expected));
  expect((await allVerdicts(path)).every(({ revision }) => revision === 2)).toBe(true);
  expect((await replay('-c', named, '--write', '--resume')).code).toBe(2);
});
