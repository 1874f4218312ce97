/** Writes new verdicts of a replay as revisions of the stored ones, a page in one transaction with the checkpoint. */
import { changedItem, type Rescored } from './rescoring.ts';
import type { Pace } from './pace.ts';
import { verdictOfStored } from '../stored-verdict.ts';
import type { Config } from '../../config/config.ts';
import { partOf } from '../../exporters/delivery/per-run-queue.ts';
import type { JsonValue } from '../../model/json.ts';
import type { ScoredRun } from '../../model/scored-run.ts';
import type { NewExport } from '../../model/store/export-store.ts';
import type { ReplayableStore, ReplayCheckpoint, ReplayRun, Revision, RevisionFate } from '../../model/store/replay-store.ts';
import type { Context } from '../../telemetry/context.ts';

interface ReplayWriterOptions extends Pick<Context, 'clock' | 'sleep'> {
  readonly store: Pick<ReplayableStore, 'replays' | 'exports'>;
  readonly config: Config;
  readonly id: string;
  readonly exports: boolean;
  readonly pace: Pace;
  /** Called when the outbox is full and the replay waits. */
  readonly onWait: () => void;
  /** Called before each page; throws ReplayStopped when this process must not write it. */
  readonly check: () => void;
}

export interface ReplayWriter {
  /** Returns true when the run gets a revision with the page. */
  add(row: ReplayRun, rescored: Rescored): boolean;
  /** Writes the page and the checkpoint. Rejects with `ReplayStopped` when no process sends the rows that wait for backends, or the store fails. */
  flush(state: JsonValue, at: Pick<ReplayCheckpoint, 'to' | 'after'>): Promise<readonly RevisionFate[]>;
}

/** Rows that may wait for one backend. The store drops the oldest rows beyond its own limit, and those may be of live runs. */
const waitingMax = 10_000;
const waitEveryMs = 1_000;
/** Longer than a service at rest needs to notice the rows: a minute until it looks, and ten seconds until it counts. */
const stuckMs = 180_000;

/** The replay cannot go on. Written revisions stay, with their checkpoint. */
export class ReplayStopped extends Error {}

/** Attempts of one page while the store fails, as when another process holds the file for long. */
const attemptsMax = 5;

export function replayWriter({ store, config, id, exports, pace, clock, sleep, onWait, check }: ReplayWriterOptions): ReplayWriter {
  const exporters = exports ? config.exporters.filter(({ to }) => to !== 'metrics').map(({ name }) => name) : [];
  const thresholds = new Map(config.evaluators.map(({ configured }) => [configured.name, configured.threshold]));
  const roomMax = Math.min(waitingMax, config.store.keep.exports / 2);
  let page: Revision[] = [];

  /** Rules are one part of a run, so their item also holds the stored verdicts that did not change. */
  function exported({ after, items }: Rescored, changed: ScoredRun): readonly ScoredRun[] {
    const names = new Set(changed.evaluations.map(({ key }) => key.name));
    return items
      .filter(({ evaluations }) => evaluations.some(({ key }) => names.has(key.name)))
      .map((item) => ({
        ...item,
        evaluations: item.evaluations.map((evaluation) => {
          const own = after.get(evaluation.key.name);
          if (own?.kind !== 'verdict' || !own.isStored) return evaluation;
          return { ...evaluation, verdict: verdictOfStored(own.verdict, thresholds.get(evaluation.key.name) ?? null) };
        }),
      }));
  }

  function rowsOf(items: readonly ScoredRun[]): readonly NewExport[] {
    const offeredAt = Math.floor(clock.nowMs() * 1_000);
    return exporters.flatMap((exporter) => items.map((item) => ({ exporter, part: partOf(item), item, offeredAt })));
  }

  async function mostWaiting(): Promise<number> {
    const counts = await store.exports.counts();
    return Math.max(0, ...counts.filter(({ exporter }) => exporters.includes(exporter)).map(({ waiting }) => waiting));
  }

  async function room(): Promise<void> {
    let least = await mostWaiting();
    for (let sinceMs = clock.nowMs(); least > roomMax;) {
      onWait();
      await sleep(waitEveryMs);
      const now = await mostWaiting();
      if (now < least) [least, sinceMs] = [now, clock.nowMs()];
      else if (clock.nowMs() - sinceMs > stuckMs)
        throw new ReplayStopped(
          `${now} scores wait for a backend and none was sent for ${stuckMs / 1_000} s. Start the service with these exporters, or use --no-export.`,
        );
    }
  }

  return {
    add(row, rescored) {
      const item = changedItem(rescored, row.verdicts);
      if (item === undefined) return false;
      page.push({ item, before: row.revision, exports: rowsOf(exported(rescored, item)) });
      return true;
    },
    async flush(state, { to, after }) {
      if (exporters.length > 0 && page.length > 0) await room();
      const revisions = page;
      page = [];
      for (let attempt = 1; ; attempt++) {
        check();
        try {
          const at = Math.floor(clock.nowMs() * 1_000);
          return await pace.write(() => store.replays.revise(revisions, { id, state, to, after, at }));
        } catch (error) {
          const why = error instanceof Error ? error.message : 'unknown error';
          if (attempt === attemptsMax) throw new ReplayStopped(`The store could not be written: ${why}.`);
          await sleep(waitEveryMs * attempt);
        }
      }
    },
  };
}
