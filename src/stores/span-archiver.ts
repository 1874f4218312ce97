/**
 * Reads the spans of finished traces back from the journal, compresses them and stores them in batches, beside other work. The journal keeps the
 * requests until then. Limits bound the archiver: beyond them the oldest traces lose their spans, which are counted.
 */
import { crc32, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import type { ScoredRun } from '../model/scored-run.ts';
import type { FinishedTrace } from '../pipeline/gathering/journal-references.ts';
import { tenantOf, traceIdOf, traceKey } from '../pipeline/gathering/trace-table.ts';
import { compressedBeside } from './compression.ts';
import { microsOf } from './row-mapping.ts';
import type { KeptSpans, NewSpanPiece, SpanPiece, Store } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';
import { recentNumbers } from '../model/recent-numbers.ts';
import { oldestOfLargest } from '../model/shares.ts';
import { sharedLru } from '../runtime/lru.ts';
import { backoffMs } from '../runtime/retry.ts';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unbundled } from '../otlp/cut/bundle.ts';
import { runInTurns } from '../runtime/cooperative.ts';
import type { TaskContext } from '../telemetry/context.ts';

/** Spans of one trace, read back from the journal. */
export interface TraceSpans {
  /** `undefined` when the spans are too large. */
  readonly bundle: Buffer | undefined;
  readonly spans: number;
  readonly isWhole: boolean;
  readonly isRedacted: boolean;
  /** True when the batch had no room left, so the trace is read again. The first trace always finds room. */
  readonly isLater: boolean;
}

export interface SpanArchiverOptions extends TaskContext {
  readonly store: Pick<Store, 'writeSpans'>;
  /** In the order of the traces. */
  readonly read: (traces: readonly FinishedTrace[]) => Promise<readonly TraceSpans[]>;
  readonly tracesMax?: number;
  readonly wantedMax?: number;
}

export interface SpanArchiver {
  /** Marks the trace of this run for archiving. */
  want(item: ScoredRun): void;
  /** Archives a finished trace. Resolves when its spans are stored or given up; never rejects. `undefined` when the trace is not marked. */
  keep(trace: FinishedTrace): Promise<void> | undefined;
  /** Gives up unstored traces. May be called twice. */
  stop(): Promise<void>;
}

/** Finished traces whose spans wait for the store, and traces whose spans will be stored; both are shared by the tenants. */
export const tracesMaxDefault = 10_000;
export const wantedMaxDefault = 100_000;
/** Time for which traces gather for one batch: traces of one request are read together. */
const gatherMs = 100;
const batchTraces = 128;
/** The store's thread compresses a smaller bundle. Each await costs a turn, and the journal holds all requests until the last one. */
const plainBytesMax = 128 * 1024;
const firstRestMs = 500;
const longestRestMs = 30_000;
/** Retries of the first batch while the store fails: a minute and a half. Later batches get one. */
const attemptsUsual = 8;
/** Late spans mostly come soon. The archiver knows at least the newest half of this many traces. */
export const knownMax = 40_000;
const notKept = Number.NaN;

interface Waiting {
  readonly trace: FinishedTrace;
  readonly startedAt: Micros;
  readonly isRest: boolean;
  readonly done: () => void;
}

export function spanArchiver(options: SpanArchiverOptions): SpanArchiver {
  const { store, telemetry, clock, sleep, onFault, tracesMax = tracesMaxDefault, wantedMax = wantedMaxDefault } = options;
  /** Start of the first run, by trace, until the trace is done. */
  const wanted = sharedLru<Micros>(wantedMax);
  const waiting: Waiting[] = [];
  /** Traces that were done, by key: the start of the first run of those whose spans are kept, NaN for the others. */
  const known = recentNumbers(knownMax);
  const ended = new AbortController();
  let working: Promise<void> | undefined;
  let attemptsMax = attemptsUsual;

  function count(outcome: 'written' | 'retried' | 'dropped' | 'too_large' | 'incomplete', traces: number): void {
    if (traces > 0) telemetry.add('tracejury.store.traces', traces, { 'tracejury.outcome': outcome });
    telemetry.set('tracejury.store.traces.queue', waiting.length);
  }

  /** The journal may release their requests. */
  function givenUp(all: readonly Waiting[]): void {
    for (const { done } of all) done();
    count('dropped', all.length);
  }

  /** The tenant with the most waiting traces loses the spans of its oldest. */
  function giveUpOne(): void {
    const one = oldestOfLargest(waiting, ({ trace: { keys } }) => tenantOf(keys[0] ?? ''));
    if (one !== undefined) givenUp(waiting.splice(waiting.indexOf(one), 1));
  }

  /** The journal keeps their requests for the next process. */
  function left(traces: number): void {
    waiting.length = 0;
    count('dropped', traces);
  }

  async function work(): Promise<void> {
    await sleep(gatherMs, ended.signal);
    while (waiting.length > 0 && !ended.signal.aborted) {
      const asked = waiting.splice(0, batchTraces);
      const prepared = await preparedOf(asked);
      if (prepared === undefined) {
        givenUp(asked);
        continue;
      }
      const { batch, pieces } = prepared;
      const isStored = await stored(pieces);
      if (ended.signal.aborted && !isStored) return left(batch.length + waiting.length);
      attemptsMax = isStored ? attemptsUsual : 1;
      if (!isStored) {
        givenUp(batch);
        continue;
      }
      for (const { done } of batch) done();
      count('written', pieces.length);
    }
  }

  /** False when given up: a failing store must not fill the journal. */
  async function stored(pieces: readonly NewSpanPiece[]): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      if (await isWritten(pieces)) return true;
      if (attempt >= attemptsMax || (ended.signal.aborted && attempt > 0)) return false;
      count('retried', pieces.length);
      await sleep(backoffMs(attempt + 1, { firstRestMs, longestRestMs }), ended.signal);
    }
  }

  async function isWritten(pieces: readonly NewSpanPiece[]): Promise<boolean> {
    try {
      await store.writeSpans(pieces);
      return true;
    } catch (error) {
      onFault(error);
      return false;
    }
  }

  /** `undefined` when the spans cannot be read or compressed; another attempt would fail as well. */
  async function preparedOf(
    asked: readonly Waiting[],
  ): Promise<{ readonly batch: readonly Waiting[]; readonly pieces: readonly NewSpanPiece[] } | undefined> {
    try {
      const read = await options.read(asked.map(({ trace }) => trace));
      const isRead = (_one: Waiting, at: number): boolean => read[at]?.isLater !== true;
      const batch = asked.filter(isRead);
      const pieces = await piecesOf(
        batch,
        read.filter(({ isLater }) => !isLater),
      );
      waiting.unshift(...asked.filter((one, at) => !isRead(one, at)));
      return { batch, pieces };
    } catch (error) {
      onFault(error);
      return undefined;
    }
  }

  async function piecesOf(batch: readonly Waiting[], read: readonly TraceSpans[]): Promise<readonly NewSpanPiece[]> {
    const pieces: NewSpanPiece[] = [];
    for (const [at, one] of batch.entries()) {
      const piece = pieceOf(one, read[at]);
      if (piece === undefined) continue;
      const isSmall = piece.body.length <= plainBytesMax;
      pieces.push(isSmall ? { ...piece, isPlain: true } : { ...piece, body: await compressedBeside(piece.body) });
    }
    return pieces;
  }

  /** A row with a plain body. */
  function pieceOf({ trace, startedAt, isRest }: Waiting, read: TraceSpans | undefined): SpanPiece | undefined {
    const [whole = '', ...joined] = trace.keys;
    if (read?.isWhole === false) count('incomplete', 1);
    if (read?.bundle === undefined) {
      count('too_large', 1);
      return undefined;
    }
    if (read.bundle.length === 0) return undefined;
    return {
      tenant: tenantOf(whole),
      traceId: traceIdOf(whole),
      joined: joined.map(traceIdOf),
      startedAt,
      storedAt: Math.floor(clock.nowMs() * 1_000),
      spans: read.spans,
      isWhole: read.isWhole && !isRest,
      isRedacted: read.isRedacted,
      digest: `${read.bundle.length}-${crc32(read.bundle).toString(16)}`,
      body: read.bundle,
    };
  }

  function remember({ keys }: FinishedTrace, startedAt: Micros | undefined): void {
    for (const key of keys) {
      wanted.delete(tenantOf(key), key);
      known.set(key, startedAt ?? notKept);
    }
  }

  function keptFrom(key: string): Micros | undefined {
    const startedAt = known.get(key);
    return Number.isNaN(startedAt) ? undefined : startedAt;
  }

  /** `undefined` when the trace is not marked. Late spans of an archived trace are archived too. */
  function startOf({ keys }: FinishedTrace): Micros | undefined {
    const starts = keys.flatMap((key) => wanted.get(tenantOf(key), key) ?? keptFrom(key) ?? []);
    return starts.length === 0 ? undefined : Math.min(...starts);
  }

  function pump(): void {
    working ??= work()
      .catch(onFault)
      .finally(() => {
        working = undefined;
        if (waiting.length > 0 && !ended.signal.aborted) pump();
      });
  }

  return {
    want({ run: { tenant, traceId, startUnixNano }, evaluations }) {
      // A judge's verdict comes later: the content was wanted when the run closed, and by now the trace may be done.
      if (evaluations.some(({ evaluatorKind }) => evaluatorKind !== 'rule')) return;
      const key = traceKey(tenant, traceId);
      wanted.set(tenant, key, Math.min(wanted.get(tenant, key) ?? Infinity, microsOf(startUnixNano)));
    },
    keep(trace) {
      // Nothing was read since it was last done: only the journal needs to know.
      if (trace.positions.length === 0 || ended.signal.aborted) return undefined;
      const startedAt = startOf(trace);
      // Late spans of a trace whose other spans were let go are not the whole of it.
      const isRest = trace.keys.some((key) => Number.isNaN(known.get(key)));
      remember(trace, startedAt);
      if (startedAt === undefined) return undefined;
      return new Promise((resolve) => {
        waiting.push({ trace, startedAt, isRest, done: resolve });
        if (waiting.length > tracesMax) giveUpOne();
        count('written', 0);
        pump();
      });
    },
    async stop() {
      ended.abort();
      await working;
      left(waiting.length);
    },
  };
}

/** Size of all pieces of a trace, decompressed. */
const bytesMax = 256 * 1024 * 1024;

const decompressed = promisify(zstdDecompress);
/** Handing a smaller body to another thread takes longer than decompressing it. */
const besideBytesMin = 16 * 1024;

/** `undefined` when the body is broken or too large. */
async function decompressedBeside(body: Uint8Array, maxOutputLength: number): Promise<Buffer | undefined> {
  try {
    return body.length < besideBytesMin ? zstdDecompressSync(body, { maxOutputLength }) : await decompressed(body, { maxOutputLength });
  } catch {
    return undefined;
  }
}

/** Other work goes on in between. Undefined: there are no pieces. */
export async function keptSpans(pieces: readonly SpanPiece[]): Promise<KeptSpans | undefined> {
  if (pieces.length === 0) return undefined;
  const bundles: Buffer[] = [];
  let left = bytesMax;
  for (const { body } of pieces) {
    if (left <= 0) break;
    const bytes = await decompressedBeside(body, left);
    left -= bytes?.length ?? left;
    if (bytes !== undefined) bundles.push(bytes);
  }
  const found = await runInTurns(unbundled(bundles), turn);
  return { ...found, isWhole: bundles.length === pieces.length && pieces.every(({ isWhole }) => isWhole) };
}
