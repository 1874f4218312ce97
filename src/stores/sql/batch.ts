/** Content of one transaction, made where the runs are and cheap to send to the thread that has the file: texts, and few objects. */
import { setImmediate } from 'node:timers/promises';
import { itemRevision, type RunFault, type ScoredRun } from '../../model/scored-run.ts';
import type { Run, RunKey } from '../../model/agent-trace.ts';
import { jsonText } from '../../model/json.ts';
import type { NewExport } from '../../model/store/export-store.ts';
import type { ReplayCheckpoint, Revision } from '../../model/store/replay-store.ts';
import { brief } from '../compression.ts';
import { runColumns } from '../row-mapping.ts';
import { contentOf, exportText, jobBody } from '../blob-codec.ts';
import { modelsText } from '../run-counts.ts';
import { runRecord } from '../run-record.ts';
import type { RunContent, RunRecord, StoreItem } from '../../model/store/store.ts';

export interface Batch {
  readonly items: readonly BatchItem[];
  readonly exports: readonly BatchExport[];
}

export interface BatchItem extends Pick<ScoredRun, 'jobs' | 'turn' | 'answered' | 'faults'>, Pick<StoreItem, 'matches' | 'fence'> {
  readonly run: BatchRun;
  readonly record: RunRecord;
}

export interface BatchRun extends RunKey {
  readonly revision: number;
  /** Verdicts on a whole session have its revision. */
  readonly session?: NonNullable<Run['session']>;
  readonly columns: ReturnType<typeof runColumns> & { readonly models: string | null };
  readonly content: RunContent;
  /** Defined while it waits for judges. */
  readonly waiting: Uint8Array | undefined;
}

export interface BatchExport extends Omit<NewExport, 'item'> {
  readonly run: RunKey;
  readonly revision: number;
  readonly item: Uint8Array;
}

/** Rows at once: a few milliseconds in which no request is answered. A turn may take longer than a slice, and all who wait for the store wait for these. */
const sliceItems = 50;

/** Others have their turn in between. */
export async function batchOf(items: readonly StoreItem[], exports: readonly NewExport[]): Promise<Batch> {
  return { items: await inSlices(items, batchItem), exports: await inSlices(exports, batchExport) };
}

/** The part of a replay that one transaction writes. */
export interface RevisionBatch {
  readonly revisions: readonly {
    readonly key: RunKey;
    readonly before: number;
    readonly revision: number;
    readonly record: RunRecord;
    readonly faults: readonly RunFault[];
    readonly exports: readonly BatchExport[];
  }[];
  readonly checkpoint: Omit<ReplayCheckpoint, 'state'> & { readonly state: string };
}

export async function revisionBatch(revisions: readonly Revision[], { state, ...checkpoint }: ReplayCheckpoint): Promise<RevisionBatch> {
  return {
    revisions: await inSlices(revisions, ({ item, before, exports }) => ({
      key: keyOf(item.run),
      before,
      revision: item.run.revision,
      record: runRecord(item),
      faults: item.faults ?? [],
      exports: exports.map(batchExport),
    })),
    checkpoint: { ...checkpoint, state: jsonText(state) },
  };
}

async function inSlices<From, To>(all: readonly From[], of: (one: From) => To): Promise<readonly To[]> {
  const made: To[] = [];
  for (const [at, one] of all.entries()) {
    if (at > 0 && at % sliceItems === 0) await setImmediate();
    made.push(of(one));
  }
  return made;
}

function batchExport({ item, ...rest }: NewExport): BatchExport {
  return { ...rest, run: keyOf(item.run), revision: itemRevision(item), item: brief(exportText(item)) };
}

function batchItem(item: StoreItem): BatchItem {
  const {
    run,
    withoutContent,
    content = contentOf(run, withoutContent),
    record = runRecord(item),
    jobs = [],
    turn,
    answered,
    matches,
    fence,
    faults,
  } = item;
  const waiting = jobs.length === 0 && turn?.choices.some(({ mayBeChosen }) => mayBeChosen) !== true ? undefined : jobBody(run);
  return {
    run: {
      ...keyOf(run),
      revision: run.revision,
      ...(run.session === undefined ? {} : { session: run.session }),
      columns: { ...runColumns(run, item.figures), models: modelsText(item.figures?.models) },
      content,
      waiting,
    },
    record,
    ...(jobs.length === 0 ? {} : { jobs }),
    ...(turn === undefined ? {} : { turn }),
    ...(answered === undefined ? {} : { answered }),
    ...(matches === undefined ? {} : { matches }),
    ...(fence === undefined ? {} : { fence }),
    ...(faults === undefined ? {} : { faults }),
  };
}

function keyOf({ tenant, traceId, spanId }: RunKey): RunKey {
  return { tenant, traceId, spanId };
}
