/** Reads a recording and plays it, body by body, through the real decoder and the real gathering. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { collectors } from '../../collectors/index.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant } from '../../src/model/ids.ts';
import { readLogs, readTraces } from '../../src/otlp/read.ts';
import { gathering } from '../../src/pipeline/group.ts';
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
      if (one.isDirectory()) found.push({ name: `${group.name}/${one.name}`, folder: path, expected: JSON.parse(readFileSync(join(path, 'expected.json'), 'utf8')) as ExpectedRecording });
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export interface Played {
  /** The last revision of every run. */
  readonly runs: readonly Run[];
  readonly spans: number;
  readonly records: number;
}

/** Sends the bodies in their order and lets all closing times pass. */
export function play(recording: Recording): Played {
  const clock = manualClock();
  const gather = gathering({ collectors, clock, telemetry: noTelemetry });
  const last = new Map<string, Run>();
  const keep = (runs: readonly Run[]): void => {
    for (const run of runs) last.set(`${run.traceId}/${run.spanId}`, run);
  };
  let spans = 0;
  let records = 0;
  for (const file of recording.expected.files) {
    const raw = readFileSync(join(recording.folder, file.file));
    const body = file.file.endsWith('.gz') ? gunzipSync(raw) : raw;
    const encoding = file.content_type.includes('json') ? 'json' : 'protobuf';
    if (file.kind === 'traces') {
      const read = readTraces(body, encoding);
      spans += read.spans.length;
      gather.addSpans(noTenant, read.spans);
    } else if (file.kind === 'logs') {
      const read = readLogs(body, encoding);
      records += read.records.length + read.ignored;
      gather.addRecords(noTenant, read.records);
    }
    clock.advance(20);
    keep(gather.due());
  }
  for (let step = 0; step < 10_000 && gather.nextDueMs() !== undefined; step++) {
    clock.advance(Math.max(1, (gather.nextDueMs() ?? 0) - clock.nowMs()));
    keep(gather.due());
  }
  return { runs: [...last.values()], spans, records };
}
