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
}

interface Body {
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
  /** Log records that belong to no trace. */
  readonly ignored: number;
}

/** The bodies of a recording, decoded, in the order in which they were sent. */
function bodiesOf(recording: Recording): readonly Body[] {
  return recording.expected.files.map((file) => {
    const raw = readFileSync(join(recording.folder, file.file));
    const body = file.file.endsWith('.gz') ? gunzipSync(raw) : raw;
    const encoding = file.content_type.includes('json') ? 'json' : 'protobuf';
    if (file.kind === 'traces') return { spans: readTraces(body, encoding).spans, records: [], ignored: 0 };
    if (file.kind === 'logs') return { spans: [], ...readLogs(body, encoding) };
    return { spans: [], records: [], ignored: 0 };
  });
}

/** All spans and log records of a recording. */
export function contentsOf(recording: Recording): { readonly spans: readonly Span[]; readonly records: readonly LogRecord[] } {
  const bodies = bodiesOf(recording);
  return { spans: bodies.flatMap((body) => body.spans), records: bodies.flatMap((body) => body.records) };
}

/** Sends the bodies in their order and lets all closing times pass. */
export function play(recording: Recording, readers: readonly Collector[] = collectors): Replayed {
  const clock = manualClock();
  const gather = gathering({ collectors: readers, clock, telemetry: noTelemetry });
  const last = new Map<string, Run>();
  const keep = (runs: readonly Run[]): void => {
    for (const run of runs) last.set(`${run.traceId}/${run.spanId}`, run);
  };
  let spans = 0;
  let records = 0;
  for (const body of bodiesOf(recording)) {
    spans += body.spans.length;
    records += body.records.length + body.ignored;
    gather.addSpans(noTenant, body.spans);
    gather.addRecords(noTenant, body.records);
    clock.advance(20);
    keep(gather.due());
  }
  for (let step = 0; step < 10_000 && gather.nextDueMs() !== undefined; step++) {
    clock.advance(Math.max(1, (gather.nextDueMs() ?? 0) - clock.nowMs()));
    keep(gather.due());
  }
  return { runs: [...last.values()], spans, records };
}

/** All recordings of the repository. */
export function ownRecordings(): readonly Recording[] {
  return ['../fixtures/recordings', 'data'].flatMap((folder) => recordingsIn(fileURLToPath(new URL(folder, import.meta.url))));
}
