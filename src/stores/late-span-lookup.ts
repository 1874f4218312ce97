/**
 * Looks up traces without a root in the store: they may be late spans of runs that an earlier process scored. It returns the stored spans to the
 * pipeline when they are complete and unchanged. Each round looks up a bounded number of traces.
 */
import type { ClosingTimes } from '../pipeline/gathering/close-policy.ts';
import type { Reopening } from '../pipeline/gathering/late-spans.ts';
import { inTurns } from '../model/shares.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import { keptSpans } from './span-archiver.ts';
import type { KeptSpans, KnownTrace, Store, TraceName } from '../model/store/store.ts';
import type { RestingContext } from '../telemetry/context.ts';

export interface LateSpanLookupOptions extends RestingContext {
  readonly store: Pick<Store, 'known' | 'spans'>;
  readonly flow: Reopening;
  /** How long a closed run takes late spans, and how long a trace may lack a root. Called each time. */
  readonly closing: () => Pick<ClosingTimes, 'lateMs' | 'quietMs'>;
  /** Called after a run was reopened: the next deadline may have changed. */
  readonly wake: () => void;
}

export type LateSpanLookup = Pick<PeriodicTask, 'stop'>;

const turnMsMax = 1_000;
const turnMsMin = 10;
/** Traces of one round; tenants take turns. A service whose agents send roots last looks up every trace once. */
export const tracesPerTurn = 2_000;
const tracesPerQuery = 200;

export function startLateSpanLookup({
  store,
  flow,
  telemetry,
  clock,
  sleep,
  rest,
  closing,
  wake,
  onFault,
}: LateSpanLookupOptions): LateSpanLookup {
  function count(outcome: 'new' | 'reopened' | 'not_kept' | 'not_asked' | 'failed', traces: number): void {
    if (traces > 0) telemetry.add('tracejury.store.lookups', traces, { 'tracejury.outcome': outcome });
  }

  async function lookUpStrays(): Promise<void> {
    const strays = inTurns(flow.takeStrays(), ({ tenant }) => tenant);
    count('not_asked', Math.max(0, strays.length - tracesPerTurn));
    for (let from = 0; from < Math.min(strays.length, tracesPerTurn); from += tracesPerQuery)
      await lookUp(strays.slice(from, Math.min(from + tracesPerQuery, tracesPerTurn)));
  }

  async function lookUp(strays: readonly TraceName[]): Promise<void> {
    try {
      const known = await store.known(strays);
      count('new', strays.length - known.length);
      for (const trace of known) await back(trace);
    } catch (error) {
      count('failed', strays.length);
      onFault(error);
    }
  }

  async function back(trace: KnownTrace): Promise<void> {
    const kept = await usable(trace);
    if (kept === undefined) flow.dismiss(trace);
    else flow.reopen({ ...trace, ...kept });
    count(kept === undefined ? 'not_kept' : 'reopened', 1);
    wake();
  }

  /** `undefined` when spans are missing, redacted or joined, or when the run no longer takes late spans. */
  async function usable({ tenant, traceId, isJoined }: KnownTrace): Promise<KeptSpans | undefined> {
    const pieces = await store.spans(tenant, traceId);
    const newest = Math.max(...pieces.map(({ storedAt }) => storedAt));
    if (
      isJoined ||
      newest < (clock.nowMs() - closing().lateMs) * 1_000 ||
      pieces.some(({ isRedacted, joined }) => isRedacted || joined.length > 0)
    )
      return undefined;
    const kept = await keptSpans(pieces);
    return kept?.isWhole === true ? kept : undefined;
  }

  return periodicTask({
    everyMs: () => Math.max(turnMsMin, Math.min(turnMsMax, closing().quietMs / 8)),
    sleep,
    rest,
    hasWork: flow.mayHaveStrays,
    work: lookUpStrays,
    onFault,
    restsFirst: true,
  });
}
