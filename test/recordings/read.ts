/** Reads a recording and plays it, body by body, through the real decoder and the real gathering. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { Collector } from '../../collectors/collector.ts';
import { collectors } from '../../collectors/index.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { LogRecord, Span } from '../../src/model/span.ts';
import { bufferPool, type BufferPool, type PooledBuffer } from '../../src/runtime/buffer-pool.ts';
import { readLogs, readTraces } from '../../src/otlp/read/read.ts';
import { gathering } from '../../src/pipeline/gathering/gatherer.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import type { ExpectedRecording } from './expected.ts';

export interface Recording {
  readonly name: string;
  readonly folder: string;
  readonly expected: ExpectedRecording;
}

export function recordingsIn(folder: string): readonly Recording[] {
  const found: Recording[] = [];
  for (const group of readdirSync(folder, { withFileTypes: true })) {
    if (!group.isDirectory()) continue;
    for (const one of readdirSync(join(folder, group.name), { withFileTypes: true })) {
      const path = join(folder, group.name, one.name);
      if (one.isDirectory() && existsSync(join(path, 'expected.json')))
        found.push({
          name: `${group.name}/${one.name}`,
          folder: path,
          expected: JSON.parse(readFileSync(join(path, 'expected.json'), 'utf8')) as ExpectedRecording,
        });
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export interface Replayed {
  /** The last revision of every run. */
  readonly runs: readonly Run[];
  readonly spans: number;
  readonly records: number;
  /** Ids of the traces that its spans and log records belong to. */
  readonly traceIds: ReadonlySet<string>;
}

interface Body {
  readonly memory: PooledBuffer;
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
  /** Log records that belong to no trace. */
  readonly ignored: number;
}

/** The bodies of a recording, decoded, in the order in which they were sent. Each is in memory of the pool. */
function* bodiesOf(recording: Recording, buffers: BufferPool): Generator<Body> {
  for (const file of recording.expected.files) {
    const raw = readFileSync(join(recording.folder, file.file));
    const plain = file.file.endsWith('.gz') ? gunzipSync(raw) : raw;
    const memory = buffers.take(plain.length);
    plain.copy(memory.bytes);
    const encoding = file.content_type.includes('json') ? 'json' : 'protobuf';
    if (file.kind === 'traces') yield { memory, spans: readTraces(memory.bytes, encoding).spans, records: [], ignored: 0 };
    else if (file.kind === 'logs') yield { memory, spans: [], ...readLogs(memory.bytes, encoding) };
    else yield { memory, spans: [], records: [], ignored: 0 };
  }
}

/** All spans and log records of a recording. */
export function contentsOf(recording: Recording): { readonly spans: readonly Span[]; readonly records: readonly LogRecord[] } {
  const bodies = [...bodiesOf(recording, bufferPool({ freeBytesMax: 0 }))];
  return { spans: bodies.flatMap((body) => body.spans), records: bodies.flatMap((body) => body.records) };
}

/** Sends the bodies in their order and lets all closing times pass. As in the service, memory of a body is overwritten once no trace needs it. */
export function play(recording: Recording, readers: readonly Collector[] = collectors): Replayed {
  const clock = manualClock();
  const buffers = bufferPool({ freeBytesMax: 1024 * 1024, poisons: true });
  const gather = gathering({ collectors: readers, clock, telemetry: noTelemetry, bodies: buffers });
  const last = new Map<string, Run>();
  const keep = (runs: readonly Run[]): void => {
    for (const run of runs) last.set(`${run.traceId}/${run.spanId}`, run);
  };
  let spans = 0;
  let records = 0;
  const traceIds = new Set<string>();
  for (const body of bodiesOf(recording, buffers)) {
    spans += body.spans.length;
    records += body.records.length + body.ignored;
    for (const { traceId } of [...body.spans, ...body.records]) traceIds.add(traceId);
    gather.addSpans(noTenant, body.spans, undefined, undefined, body.memory);
    gather.addRecords(noTenant, body.records);
    // Traces hold log records until they end.
    if (body.records.length > 0) body.memory.keep();
    body.memory.release();
    clock.advance(20);
    keep(gather.due());
  }
  for (let step = 0; step < 10_000 && gather.nextDueMs() !== undefined; step++) {
    clock.advance(Math.max(1, (gather.nextDueMs() ?? 0) - clock.nowMs()));
    keep(gather.due());
  }
  return { runs: [...last.values()], spans, records, traceIds };
}

/** All recordings of the repository. */
export function ownRecordings(): readonly Recording[] {
  return ['../fixtures/recordings', 'data'].flatMap((folder) => recordingsIn(fileURLToPath(new URL(folder, import.meta.url))));
}
