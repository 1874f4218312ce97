/** A store as a service leaves it: runs that were scored under a configuration, beside the archived spans of their traces. */
import { zstdCompressSync } from 'node:zlib';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import { gatheredRuns } from '../../src/cli/inspect/inspection.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant, type TraceId } from '../../src/model/ids.ts';
import type { LogRecord, Span } from '../../src/model/span.ts';
import type { SpanPiece, Store, StoreItem } from '../../src/model/store/store.ts';
import { bundle } from '../../src/otlp/cut/bundle.ts';
import { writeLogsJson, writeTraces } from '../../src/otlp/write/write.ts';
import { evaluateRun } from '../../src/pipeline/evaluation/evaluate.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { validators } from './validators.ts';

export interface StoredTrace {
  readonly spans: readonly Span[];
  readonly records?: readonly LogRecord[];
  /** Default: the runs that the spans make. */
  readonly runs?: readonly Run[];
  /** `false`: the spans are not archived. */
  readonly piece?: Partial<SpanPiece> | false;
  readonly item?: Partial<StoreItem>;
}

export function configFrom(text: string): Config {
  return loadConfig({ validators, file: 'test.yaml', text, env: {}, evaluators }).config;
}

/** The first trace id of the spans names the trace. */
export async function storeTraces(store: Store, config: Config, traces: readonly StoredTrace[]): Promise<readonly Run[]> {
  const made = traces.map(({ spans, records = [], runs, ...rest }) => ({
    ...rest,
    spans,
    records,
    runs: runs ?? [...gatheredRuns({ spans, records }, config, noTelemetry).values()],
  }));
  await store.write(made.flatMap(({ runs, item = {} }) => runs.map((run) => ({ ...scoredUnder(run, config), ...item }))));
  await store.writeSpans(made.flatMap(({ piece = {}, ...trace }) => (piece === false ? [] : [pieceOf(trace, piece)])));
  return made.flatMap(({ runs }) => runs);
}

export function scoredUnder(run: Run, { evaluators: plan }: Config): StoreItem {
  const { evaluations, decisions } = evaluateRun(run, plan, {
    context: evaluationContext(),
    clock: manualClock(),
    telemetry: noTelemetry,
  });
  return { run, evaluations, decisions };
}

function pieceOf({ spans, records = [] }: Pick<StoredTrace, 'spans' | 'records'>, members: Partial<SpanPiece>): SpanPiece {
  const traceIds = [...new Set([...spans, ...records].map(({ traceId }) => traceId))];
  const [traceId = '' as TraceId, ...joined] = traceIds;
  const parts = [
    ...(spans.length === 0 ? [] : [{ signal: 'traces', encoding: 'protobuf', bytes: writeTraces(spans, 'protobuf') } as const]),
    ...(records.length === 0 ? [] : [{ signal: 'logs', encoding: 'json', bytes: writeLogsJson(records) } as const]),
  ];
  return {
    tenant: noTenant,
    traceId,
    joined,
    startedAt: Number((spans[0]?.startUnixNano ?? 0n) / 1_000n),
    storedAt: 0,
    spans: spans.length,
    isWhole: true,
    isRedacted: false,
    digest: `${traceId}`,
    body: zstdCompressSync(bundle(parts)),
    ...members,
  };
}
