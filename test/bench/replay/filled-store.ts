/** Fills a store with runs of recordings under new trace ids, scored and archived as a service leaves them. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant, parseTraceId, type TraceId } from '../../../src/model/ids.ts';
import type { NewSpanPiece, Store, StoreItem } from '../../../src/model/store/store.ts';
import { runTargetId } from '../../../src/model/verdict.ts';
import { bundle } from '../../../src/otlp/cut/bundle.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { evaluateRun } from '../../../src/pipeline/evaluation/evaluate.ts';
import { slimItem } from '../../../src/stores/blob-codec.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { contentsOf, ownRecordings, play } from '../../recordings/read.ts';

interface Template {
  readonly traceId: TraceId;
  readonly runs: readonly Run[];
  readonly spans: number;
  readonly bytes: Buffer;
}

/** Recordings of one trace without log records. */
function templates(): readonly Template[] {
  return ownRecordings().flatMap((recording): readonly Template[] => {
    const { spans, records } = contentsOf(recording);
    const [traceId, ...others] = new Set(spans.map((span) => span.traceId));
    if (traceId === undefined || others.length > 0 || records.length > 0) return [];
    const runs = play(recording).runs.filter(({ partOf }) => partOf === undefined);
    return runs.length === 0 ? [] : [{ traceId, runs, spans: spans.length, bytes: writeTraces(spans, 'protobuf') }];
  });
}

const perBatch = 50;
/** Between two traces: a hundred thousand runs are some weeks of traffic. */
const apartMicros = 20_000_000;

/** Resolves with the number of runs. */
export async function filledStore(
  store: Store,
  config: Config,
  { runs: wanted, before }: { readonly runs: number; readonly before: number },
): Promise<number> {
  const all = templates();
  const context = evaluationContext();
  let made = 0;
  let traces = 0;
  let [items, pieces]: [StoreItem[], NewSpanPiece[]] = [[], []];
  const flush = async (): Promise<void> => {
    await store.write(items);
    await store.writeSpans(pieces);
    [items, pieces] = [[], []];
  };
  while (made < wanted) {
    const template = all[traces % all.length];
    if (template === undefined) throw new Error('no recording');
    const traceId = idOf(++traces);
    const startedAt = before - traces * apartMicros;
    for (const run of template.runs.map((one) => renamed(one, traceId, startedAt))) {
      const { evaluations, decisions } = evaluateRun(run, config.evaluators, { context, clock: manualClock(), telemetry: noTelemetry });
      items.push(slimItem({ run, evaluations, decisions }));
      made++;
    }
    pieces.push(pieceOf(template, traceId, startedAt));
    if (pieces.length >= perBatch) await flush();
  }
  await flush();
  return made;
}

/** Spread over the whole range, so that indexes look as those of random ids. */
function idOf(nth: number): TraceId {
  const spread = (BigInt(nth) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
  const id = parseTraceId(`${nth.toString(16).padStart(16, '0')}${spread.toString(16).padStart(16, '0')}`.slice(-32));
  if (id === undefined) throw new Error('not a trace id');
  return id;
}

function renamed(run: Run, traceId: TraceId, startedAt: number): Run {
  const startUnixNano = BigInt(startedAt) * 1_000n;
  return {
    ...run,
    tenant: noTenant,
    traceId,
    startUnixNano,
    endUnixNano: startUnixNano + (run.endUnixNano - run.startUnixNano),
    ...(run.spanTraceId === undefined ? {} : { spanTraceId: traceId }),
    ...(run.parent === undefined ? {} : { parent: { ...run.parent, traceId } }),
    contentHash: runTargetId({ ...run, traceId }),
  };
}

function pieceOf({ traceId: from, bytes, spans }: Template, traceId: TraceId, startedAt: number): NewSpanPiece {
  const own = Buffer.from(bytes);
  const [old, next] = [Buffer.from(from, 'hex'), Buffer.from(traceId, 'hex')];
  for (let at = own.indexOf(old); at !== -1; at = own.indexOf(old, at + next.length)) next.copy(own, at);
  return {
    tenant: noTenant,
    traceId,
    joined: [],
    startedAt,
    storedAt: startedAt,
    spans,
    isWhole: true,
    isRedacted: false,
    digest: 'bench',
    body: bundle([{ signal: 'traces', encoding: 'protobuf', bytes: own }]),
    isPlain: true,
  };
}
