/**
 * Late spans continue runs that an earlier process scored: a trace that shows no root for a while may be the rest of one that is stored. The host of
 * the gathering asks the store about such traces and gives back what is there; until then this process knows nothing of them.
 */
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { expectedOf, type ContentHash } from './revisions.ts';
import type { Draft } from '../assembly/assemble.ts';
import type { JournalReference } from './journal-references.ts';
import { traceIdOf, type Trace, type TraceTable } from './trace-table.ts';

export interface TraceName {
  readonly tenant: Tenant;
  readonly traceId: TraceId;
}

/** A run that was scored and stored. */
interface StoredKey {
  readonly spanId: SpanId;
  readonly revision: number;
  /** The run that it turned out to be a part of, as `trace/span`. */
  readonly partOf: string | undefined;
}

/** A whole trace, in its state when its runs closed. */
export interface StoredTrace extends TraceName {
  readonly runs: readonly StoredKey[];
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
}

export interface Reopening {
  /** Traces that opened long enough ago, have no root and no closed run; each is returned once. */
  takeStrays(): readonly TraceName[];
  /** `true` while `takeStrays` may give a trace later, as some opened a short time ago. */
  mayHaveStrays(): boolean;
  /** The held part of the trace came late: it is put after the stored part, and makes a new revision of the runs that it changes. */
  reopen(stored: StoredTrace): void;
  /** The held part of the trace came late, for runs that cannot be scored again: it is counted and founds no new run. */
  dismiss(trace: TraceName): void;
}

/** Parts of the gathering. */
interface LateSpansDeps {
  readonly traces: TraceTable;
  readonly references: Pick<JournalReference, 'finish'>;
  readonly telemetry: Telemetry;
  readonly contentHash: ContentHash;
  /** A trace that opened until then has had its time to show a root. */
  readonly openedUntilMs: () => number;
  readonly takeSpans: (tenant: Tenant, spans: readonly Span[]) => void;
  readonly takeRecords: (tenant: Tenant, records: readonly LogRecord[]) => void;
  readonly draftsOf: (trace: Trace) => readonly Draft[];
  /** Nothing of it is held any more. */
  readonly emptied: (trace: Trace) => void;
  readonly guarded: (trace: Trace, step: (trace: Trace) => void) => void;
  readonly drop: (trace: Trace, over: 'over') => void;
  readonly relieve: () => void;
}

export function reopening({
  traces,
  references,
  telemetry,
  contentHash,
  openedUntilMs,
  takeSpans,
  takeRecords,
  draftsOf,
  emptied,
  guarded,
  drop,
  relieve,
}: LateSpansDeps): Reopening {
  function stray({ tenant, traceId }: TraceName): Trace | undefined {
    const trace = traces.find(tenant, traceId);
    return trace === undefined || trace.closed !== undefined ? undefined : trace;
  }

  return {
    takeStrays() {
      const strays = traces.takeOpened(openedUntilMs()).filter((trace) => trace.closed === undefined && !trace.isRooted);
      return strays.map(({ key, tenant }) => ({ tenant, traceId: traceIdOf(key) }));
    },
    mayHaveStrays: traces.hasOpened,
    reopen(stored) {
      const trace = stray(stored);
      if (trace === undefined) return;
      guarded(trace, () => {
        const late = takenLate(trace);
        emptied(trace);
        takeSpans(stored.tenant, stored.spans);
        takeRecords(stored.tenant, stored.records);
        noteClosed(trace, stored, draftsOf(trace), contentHash);
        takeSpans(stored.tenant, late.spans);
        takeRecords(stored.tenant, late.records);
      });
      relieve();
    },
    dismiss(name) {
      const trace = stray(name);
      if (trace === undefined) return;
      telemetry.add('tracejury.spans.late', trace.held.size, { 'tracejury.reason': 'not_kept' });
      references.finish(trace);
      drop(trace, 'over');
    },
  };
}

/** Takes the late spans out of a trace so that the stored ones can be put before them. */
function takenLate(trace: Trace): Pick<StoredTrace, 'spans' | 'records'> {
  const late = { spans: [...trace.held.values()].map(({ span }) => span), records: trace.records.take() };
  trace.held.clear();
  trace.reading = undefined;
  trace.parts = undefined;
  return late;
}

/**
 * Notes the stored runs as closed, with the content that the stored spans give here and now: a revision is made for what late spans change, not
 * because a collector reads more today than it did then.
 */
function noteClosed(trace: Trace, { traceId, runs }: StoredTrace, drafts: readonly Draft[], contentHash: ContentHash): void {
  const known = new Map(drafts.map((draft) => [draft.key.spanId, draft]));
  for (const { spanId, revision, partOf } of runs) {
    const draft = known.get(spanId);
    const hash = partOf !== undefined ? `part of ${partOf}` : draft === undefined ? '' : contentHash(draft, expectedOf(draft));
    (trace.closed ??= new Map()).set(spanId, {
      traceId: draft?.key.traceId ?? traceId,
      spanTraceId: draft?.spanTraceId ?? traceId,
      revision,
      contentHash: hash,
    });
  }
}
