/** Takes runs through a replay: reads, scores beside what is stored or under another configuration, counts, and writes when it may. */
import type { Pace } from './pace.ts';
import type { AfterByName, Rescoring } from './rescoring.ts';
import type { SessionReader } from './session-reader.ts';
import { readRuns, type ReadRun, type StoredRunsOptions } from './stored-runs.ts';
import type { Before, ReplayTally, ReplayTallyData } from './tally.ts';
import type { ReplayWriter } from './writing.ts';
import { matchesRun } from '../run-filter.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { JsonValue } from '../../model/json.ts';
import type { ReplayableStore, ReplayedVerdict, RevisionFate, StoredCheckpoint } from '../../model/store/replay-store.ts';
import type { RunFilter, RunPlace } from '../../model/store/store.ts';
import type { Micros } from '../../model/timestamp.ts';

/** Runs of one page, and of one transaction: some milliseconds during which no other process writes. */
const pageRuns = 100;

interface Replaying {
  readonly rescoring: Rescoring;
  /** Scores the side before the change; absent: the stored verdicts are that side. */
  readonly against: Rescoring | undefined;
  /** Source of the turns for evaluators of whole sessions. */
  readonly sessions: SessionReader;
  readonly tally: ReplayTally;
  readonly pace: Pace;
  readonly onDone: (runs: number) => void;
}

export interface StoreReplaying extends Replaying {
  readonly store: Pick<ReplayableStore, 'replays' | 'spans' | 'run'>;
  readonly reading: Omit<StoredRunsOptions, 'store'>;
  readonly filter: RunFilter & { readonly to: Micros };
  readonly limit: number;
  /** Runs that are scored at the same time: more than one when judges are asked. */
  readonly concurrency: number;
  readonly write: StoreWriting | undefined;
}

export interface StoreWriting {
  readonly writer: ReplayWriter;
  readonly checkpoint: StoredCheckpoint | undefined;
  /** A run with newer spans may still change, and is left to a later replay. */
  readonly spansBefore: Micros;
  readonly onFate: (fate: RevisionFate) => void;
}

/** Resolves with the number of runs that this process has gone through. */
export async function replayStored(options: StoreReplaying): Promise<number> {
  const { store, filter, limit, tally, onDone, write } = options;
  const begun = write?.checkpoint === undefined ? 0 : runsIn(tally.data());
  let done = begun;
  for (let after: RunPlace | undefined = write?.checkpoint?.after; done < limit;) {
    const page = await store.replays.page({ filter, limit: Math.min(pageRuns, limit - done), after });
    const working = new Set<Promise<void>>();
    const ended = (): void => onDone(++done);
    for await (const trace of readRuns(page.runs, { ...options.reading, store })) {
      await options.pace.runs(trace.length);
      for (const one of trace) {
        const work: Promise<void> = replayOne(one, options)
          .then(ended)
          .finally(() => working.delete(work));
        // When another one fails first, nothing waits for this one.
        work.catch(() => undefined);
        working.add(work);
        if (working.size >= options.concurrency) await Promise.race(working);
      }
    }
    await Promise.all(working);
    const last = page.runs.at(-1)?.place;
    if (write !== undefined && last !== undefined)
      for (const fate of await write.writer.flush(tally.data() as unknown as JsonValue, { to: filter.to, after: last })) write.onFate(fate);
    if (page.next === undefined) break;
    after = page.next;
  }
  return done - begun;
}

/** Runs that the tally has seen, whether it could score them or not. */
export function runsIn({ looked, gone }: ReplayTallyData): number {
  return Object.values(gone).reduce((sum, { runs }) => sum + runs, looked);
}

async function replayOne(one: ReadRun, { rescoring, against, sessions, tally, write }: StoreReplaying): Promise<void> {
  const { row } = one;
  if (one.kind === 'gone') return tally.gone(row, one.reason);
  if (write !== undefined && one.newestSpansAt >= write.spansBefore) return tally.gone(row, 'may_still_change');
  // Verdicts are of the revision that a write would make.
  const run: Run = { ...one.run, revision: row.revision + 1 };
  const rescored = await rescoring.score(run, row.verdicts, sessions);
  const before = against === undefined ? ofStored(row.verdicts) : ofOther((await against.score(run, row.verdicts, sessions)).after);
  tally.add({ key: row, before, after: rescored.after });
  if (write?.writer.add(row, rescored) === true) tally.revised();
}

function ofStored(verdicts: readonly ReplayedVerdict[]): ReadonlyMap<string, Before> {
  return new Map(verdicts.map((verdict) => [verdict.name, { verdict, probability: verdict.sampleProbability }]));
}

function ofOther(after: AfterByName): ReadonlyMap<string, Before> {
  return new Map(
    [...after].flatMap(([name, one]) =>
      one.kind === 'verdict' ? [[name, { verdict: one.verdict, probability: one.probability }] as const] : [],
    ),
  );
}

export interface FileReplaying extends Replaying {
  /** Newest first. */
  readonly runs: readonly Run[];
  readonly filter: RunFilter;
  readonly limit: number;
}

/** Resolves with the number of runs. */
export async function replayFiles({
  runs,
  filter,
  limit,
  rescoring,
  against,
  sessions,
  tally,
  pace,
  onDone,
}: FileReplaying): Promise<number> {
  let done = 0;
  for (const run of runs) {
    if (done >= limit) break;
    const before = against === undefined ? new Map<string, Before>() : ofOther((await against.score(run, [], sessions)).after);
    const verdicts = [...before.values()].map(({ verdict }) => verdict);
    if (!matchesRun(run, verdicts, filter)) continue;
    await pace.runs(1);
    const { agent, sessionId } = run.trace;
    tally.add({ key: { ...run, agent, sessionId }, before, after: (await rescoring.score(run, [], sessions)).after });
    onDone(++done);
  }
  return done;
}
