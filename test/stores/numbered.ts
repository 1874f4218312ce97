/** Runs by number, for suites of stores: each starts a second after the one before. */
import type { Run } from '../../src/model/agent-trace.ts';
import { noTenant, parseTraceId, type TraceId } from '../../src/model/ids.ts';
import type { SpanPiece } from '../../src/model/store/store.ts';
import { run } from '../builders/scored-run.ts';

export const secondMicros = 1_000_000;
export const base = 1_700_000_000 * secondMicros;

export function traceId(number: number): TraceId {
  const id = parseTraceId(number.toString(16).padStart(32, '0'));
  if (id === undefined) throw new Error('no trace id');
  return id;
}

/** The run of that number, which starts that many seconds after the first. */
export function nth(number: number, given: Partial<Run> = {}): Run {
  const start = BigInt(base + number * secondMicros) * 1_000n;
  return run({ traceId: traceId(number + 1), startUnixNano: start, endUnixNano: start + 2_000_000_000n, ...given });
}

export function piece(number: number, given: Partial<SpanPiece> = {}): SpanPiece {
  return {
    tenant: noTenant,
    traceId: traceId(number + 1),
    joined: [],
    startedAt: base + number * secondMicros,
    storedAt: base,
    spans: 3,
    isWhole: true,
    isRedacted: false,
    digest: 'first',
    body: new Uint8Array([1, 2, number]),
    ...given,
  };
}

/** The numbers of the runs of a page. */
export const numbers = (page: { readonly runs: readonly { readonly traceId: TraceId }[] }): readonly number[] =>
  page.runs.map((one) => Number.parseInt(one.traceId, 16) - 1);
