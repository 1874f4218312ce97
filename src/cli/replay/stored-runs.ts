/**
 * Stored runs for a replay, read from the archived spans of their traces a page at a time. A run that cannot be read again is given with the
 * reason, so that no result claims it.
 */
import { readDefinitions } from '../../../collectors/parsing/definitions.ts';
import { gatheredRuns, type Reading } from '../inspect/inspection.ts';
import type { Run } from '../../model/agent-trace.ts';
import { member } from '../../model/json.ts';
import type { ReplayRun } from '../../model/store/replay-store.ts';
import type { ContentGone, KeptSpans, SpanPiece, Store } from '../../model/store/store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { keptSpans } from '../../stores/span-archiver.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

/**
 * Why a run cannot be scored again. `spans_not_kept`: the store has its content and no spans. `not_in_spans`: the spans of its trace make no
 * such run. Words of `ContentGone` say why neither is there.
 */
export type GoneReason = ContentGone | 'spans_not_kept' | 'not_whole' | 'redacted' | 'not_in_spans';

export const goneTexts: { readonly [reason in GoneReason]: string } = {
  expired: 'the retention deleted its spans',
  sampled_out: 'store.content keeps spans of failed and sampled runs only',
  switched_off: 'store.content keeps no spans',
  overload: 'the service kept no spans under load',
  too_large: 'its spans were too large to keep',
  unknown: 'an older release deleted its spans',
  spans_not_kept: 'the store has no spans of its trace',
  not_whole: 'a part of its spans is missing',
  redacted: 'its spans are redacted, and may differ from those that were scored; --redacted scores them',
  not_in_spans: 'its spans make no such run; another configuration of closing or dialects read them',
};

export type ReadRun =
  | { readonly kind: 'read'; readonly row: ReplayRun; readonly run: Run; readonly newestSpansAt: Micros }
  | { readonly kind: 'gone'; readonly row: ReplayRun; readonly reason: GoneReason };

export interface StoredRunsOptions {
  readonly store: Pick<Store, 'spans' | 'run'>;
  readonly reading: Reading;
  /** True when redacted spans count. */
  readonly takesRedacted: boolean;
}

/** Traces that are read ahead of the one that is scored. */
const aheadMax = 4;

/** The runs of a page, trace by trace. */
export async function* readRuns(rows: readonly ReplayRun[], options: StoredRunsOptions): AsyncGenerator<readonly ReadRun[]> {
  const traces = [...Map.groupBy(rows, ({ tenant, traceId }) => `${traceId}${tenant}`).values()];
  const ahead: Promise<readonly ReadRun[]>[] = [];
  let next = 0;
  const readOn = (): void => {
    for (; next < traces.length && ahead.length < aheadMax; next++) {
      const reading = readTrace(traces[next] ?? [], options);
      // The consumer gets the failure; a page that is never taken must not end the process.
      reading.catch(() => undefined);
      ahead.push(reading);
    }
  };
  for (readOn(); ahead.length > 0; readOn()) {
    const [first] = ahead.splice(0, 1);
    if (first !== undefined) yield await first;
  }
}

async function readTrace(rows: readonly ReplayRun[], options: StoredRunsOptions): Promise<readonly ReadRun[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const { store, reading, takesRedacted } = options;
  const pieces = await store.spans(first.tenant, first.traceId);
  const gone = (reason: GoneReason): readonly ReadRun[] => rows.map((row) => ({ kind: 'gone', row, reason }));
  if (pieces.length === 0) return await Promise.all(rows.map(async (row) => ({ kind: 'gone', row, reason: await goneReason(store, row) })));
  if (!takesRedacted && pieces.some(({ isRedacted }) => isRedacted)) return gone('redacted');
  const kept = await keptSpans(pieces);
  if (kept?.isWhole !== true) return gone('not_whole');
  return await assembled(rows, { kept, pieces, store, reading });
}

async function goneReason(store: Pick<Store, 'run'>, row: ReplayRun): Promise<GoneReason> {
  return (await store.run(row))?.contentGone ?? 'spans_not_kept';
}

interface TraceParts extends Pick<StoredRunsOptions, 'store' | 'reading'> {
  readonly kept: KeptSpans;
  readonly pieces: readonly SpanPiece[];
}

async function assembled(rows: readonly ReplayRun[], { kept, pieces, store, reading }: TraceParts): Promise<readonly ReadRun[]> {
  const runs = gatheredRuns(kept, reading, noTelemetry);
  const newestSpansAt = Math.max(...pieces.map(({ storedAt }) => storedAt));
  return await Promise.all(
    rows.map(async (row): Promise<ReadRun> => {
      const run = runs.get(`${row.traceId}/${row.spanId}`);
      if (run === undefined) return { kind: 'gone', row, reason: 'not_in_spans' };
      return { kind: 'read', row, run: await asStored(run, row, store), newestSpansAt };
    }),
  );
}

/** The run with what the store knows better than its spans. */
async function asStored(run: Run, row: ReplayRun, store: Pick<Store, 'run'>): Promise<Run> {
  const { tenant, revision, completeness } = row;
  const parent = run.parent === undefined ? {} : { parent: { ...run.parent, tenant } };
  const stored: Run = { ...run, ...parent, tenant, revision, completeness: completeness as Run['completeness'] };
  if (!lacksDefinitions(run)) return stored;
  // Other turns of its session gave the definitions when it was scored.
  const content = (await store.run(row))?.content;
  const toolDefinitions = readDefinitions(content === undefined ? undefined : member(content, 'tool_definitions'));
  return toolDefinitions.length === 0 ? stored : { ...stored, trace: { ...stored.trace, toolDefinitions } };
}

function lacksDefinitions({ trace: { sessionId, toolCalls, toolDefinitions } }: Run): boolean {
  if (sessionId === undefined) return false;
  const defined = new Set(toolDefinitions.map(({ name }) => name));
  return toolCalls.some(({ name }) => !defined.has(name));
}
