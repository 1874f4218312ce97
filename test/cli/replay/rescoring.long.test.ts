/** Every recording, scored unchanged and stored, then replayed from its archived spans. */
import { expect, test } from 'vitest';
import { replayJudges } from '../../../src/cli/replay/judge-modes.ts';
import { changedItem, rescoring } from '../../../src/cli/replay/rescoring.ts';
import { readRuns } from '../../../src/cli/replay/stored-runs.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import type { ReplayableStore, ReplayedVerdict, ReplayRun } from '../../../src/model/store/replay-store.ts';
import { memoryStore } from '../../builders/memory-store.ts';
import { configFrom, storeTraces } from '../../builders/stored-runs.ts';
import { contentsOf, ownRecordings, play, type Recording } from '../../recordings/read.ts';

const rules = 'defaults, tool_efficiency, final_response_present, json_parseable, argument_provenance';
const before = configFrom(`evaluators: [ ${rules}, { use: tool_error, name: changing, threshold: 1 } ]`);
const after = configFrom(`evaluators: [ ${rules}, { use: tool_error, name: changing, threshold: 0.1 }, { use: tool_error, name: added } ]`);

async function storeOf(recording: Recording): Promise<ReplayableStore> {
  const store = await memoryStore();
  const { runs } = play(recording);
  const whole = runs.filter(({ partOf }) => partOf === undefined);
  await storeTraces(store, before, [{ ...contentsOf(recording), runs: whole }]);
  return store;
}

async function rescored(store: ReplayableStore, config: Config, isAnew: boolean) {
  const judges = await replayJudges({
    mode: 'skip',
    config,
    store: undefined,
    budgetUsd: undefined,
    id: '',
    day: '2026-01-01',
    mayStore: () => true,
    onFault: () => undefined,
  });
  const scoring = rescoring({ config, judges, isAnew });
  const { runs } = await store.replays.page({ filter: {}, limit: 200 });
  const all: { readonly row: ReplayRun; readonly run: Run; readonly scored: Awaited<ReturnType<typeof scoring.score>> }[] = [];
  const gone: string[] = [];
  for await (const trace of readRuns(runs, { store, reading: config, takesRedacted: false }))
    for (const one of trace) {
      if (one.kind === 'gone') gone.push(one.reason);
      else
        all.push({
          row: one.row,
          run: one.run,
          scored: await scoring.score({ ...one.run, revision: one.row.revision + 1 }, one.row.verdicts),
        });
    }
  return { all, gone };
}

/** As the store writes it, but for the revision of the run. */
const bytes = ({ revision: _revision, ...verdict }: ReplayedVerdict): string => JSON.stringify(verdict, Object.keys(verdict).sort());

test.each(ownRecordings())('replay of $name: verdicts are the stored ones, byte for byte, and a write changes none', async (recording) => {
  const store = await storeOf(recording);
  const { all, gone } = await rescored(store, before, true);
  expect(gone).toEqual([]);
  for (const { row, scored } of all) {
    expect([...scored.after.keys()].sort()).toEqual(row.verdicts.map(({ name }) => name));
    for (const stored of row.verdicts) {
      const one = scored.after.get(stored.name);
      expect(one?.kind === 'verdict' ? bytes(one.verdict) : one).toEqual(bytes(stored));
    }
    expect(changedItem(scored, row.verdicts)).toBeUndefined();
  }
  await writeLeavesAlone(store);
});

const isChanging = ({ name }: { readonly name: string }): boolean => name === 'added' || name === 'changing';

/** One evaluator has another threshold, and one is new. */
async function writeLeavesAlone(store: ReplayableStore): Promise<void> {
  const { all } = await rescored(store, after, false);
  const revisions = all.flatMap(({ row, scored }) => {
    const item = changedItem(scored, row.verdicts);
    expect(item?.evaluations.filter(({ key }) => !isChanging(key))).toEqual([]);
    return item === undefined ? [] : [{ item, before: row.revision, exports: [] }];
  });
  const fates = await store.replays.revise(revisions, { id: 'r', state: null, to: 0, after: { startedAt: 0, id: 0 }, at: 0 });
  expect(fates).toEqual(revisions.map(() => 'written'));
  const rows = (await store.replays.page({ filter: {}, limit: 200 })).runs;
  const kept = (verdicts: readonly ReplayedVerdict[] = []): string => JSON.stringify(verdicts.filter((one) => !isChanging(one)));
  for (const { row } of all) {
    const now = rows.find(({ place }) => place.id === row.place.id);
    expect(kept(now?.verdicts)).toBe(kept(row.verdicts));
    expect(now?.verdicts.find(({ name }) => name === 'added')?.revision).toBe(row.revision + 1);
  }
}
