/**
 * `npm run bench -- journal`: CPU time of the whole process and bytes a second for making request bodies durable, beside plain loops on the same
 * disk that do no more than write and sync. Rows take turns within each pass; the table shows medians.
 *
 *   --requests N  of one pass (400)   --bytes N  a body (316000: 100 spans)   --together N  requests in flight (8)   --passes N  (5)
 *   --folder DIR  on the disk to measure (the system's folder for temporary files)
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Journal } from '../../src/journals/journal.ts';
import { journals } from '../../src/journals/index.ts';
import { noTenant } from '../../src/model/ids.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { runnerArguments } from '../runner-arguments.ts';

const { values } = runnerArguments({
  options: {
    requests: { type: 'string', default: '400' },
    bytes: { type: 'string', default: '316000' },
    together: { type: 'string', default: '8' },
    passes: { type: 'string', default: '5' },
    folder: { type: 'string', default: tmpdir() },
  },
});
const requests = Number(values.requests);
const together = Number(values.together);
const passes = Number(values.passes);
const body = randomBytes(Number(values.bytes));
const mebibyte = 1024 * 1024;
const segmentBytes = 64 * mebibyte;
const folder = mkdtempSync(join(values.folder, 'tracejury-bench-'));
const clock = { nowMs: () => performance.timeOrigin + performance.now() };

interface Row {
  readonly name: string;
  /** Makes this many bodies durable, `together` at a time. */
  readonly run: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly micros: number[];
  readonly megabytesPerSecond: number[];
}

const rows: readonly Row[] = [await growing(), await recycled(), await journalRow('journal, segments recycled', 8 * segmentBytes)];
try {
  // Long enough that every segment has been written once.
  for (const row of rows) await row.run(Math.ceil((3 * segmentBytes) / body.length));
  for (let pass = 1; pass <= passes; pass++) {
    for (const row of rows) await measure(row);
    process.stderr.write(`pass ${pass} of ${passes}\n`);
  }
  report();
} finally {
  for (const row of rows) await row.stop();
  rmSync(folder, { recursive: true });
}

/** The usual way: a file that grows. */
async function growing(): Promise<Row> {
  const file = await open(join(folder, 'growing'), 'a');
  return plain('append to a growing file, fdatasync', file, () => undefined);
}

/** The least that recycling can cost: one pre-written file, written from its beginning again and again. */
async function recycled(): Promise<Row> {
  const file = await open(join(folder, 'recycled'), 'w+');
  for (let at = 0; at < segmentBytes; at += mebibyte) await file.write(Buffer.alloc(mebibyte), 0, mebibyte, at);
  await file.datasync();
  let next = 0;
  return plain('write over a pre-written file, fdatasync', file, (bytes) => {
    const at = next + bytes > segmentBytes ? 0 : next;
    next = at + bytes;
    return at;
  });
}

function plain(name: string, file: FileHandle, placeOf: (bytes: number) => number | undefined): Row {
  const group = Array.from({ length: together }, () => body);
  return {
    name,
    async run(count) {
      for (let done = 0; done < count; done += together) {
        await file.writev(group, placeOf(together * body.length));
        await file.datasync();
      }
    },
    stop: () => file.close(),
    micros: [],
    megabytesPerSecond: [],
  };
}

async function journalRow(name: string, bytesMax: number): Promise<Row> {
  const journal = await journals.disk(
    { folder: join(folder, 'journal'), bytesMax, segmentBytes },
    {
      telemetry: metricRegistry(),
      clock,
      sleep: async () => undefined,
      logger: { warn: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`) },
      randomBytes,
    },
  );
  return {
    name,
    async run(count) {
      for (let done = 0; done < count; done += together) {
        await Promise.all(Array.from({ length: together }, () => appended(journal)));
        // Once a segment, as an idle pipeline would: so it is recycled.
        if (done % 160 === 0) journal.commit(journal.end());
      }
    },
    stop: () => journal.stop(),
    micros: [],
    megabytesPerSecond: [],
  };
}

async function appended(journal: Journal): Promise<void> {
  const outcome = await journal.append({
    kind: 'traces',
    tenant: noTenant,
    contentType: 'application/x-protobuf',
    contentEncoding: '',
    receivedMs: clock.nowMs(),
    body,
  });
  if (outcome.kind === 'refused') throw new Error(`refused: ${outcome.reason}`);
}

async function measure(row: Row): Promise<void> {
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await row.run(requests);
  const { user, system } = process.cpuUsage(cpu);
  row.micros.push((user + system) / requests);
  row.megabytesPerSecond.push((requests * body.length) / 1e6 / ((performance.now() - startMs) / 1000));
}

function report(): void {
  const [floor] = rows;
  const floorMicros = median(floor?.micros ?? []);
  const cells = rows.map(({ name, micros, megabytesPerSecond }) => [
    name,
    median(micros).toFixed(0),
    `${Math.min(...micros).toFixed(0)} to ${Math.max(...micros).toFixed(0)}`,
    (median(micros) / floorMicros).toFixed(2),
    median(megabytesPerSecond).toFixed(0),
    (median(megabytesPerSecond) / median(floor?.megabytesPerSecond ?? [])).toFixed(2),
  ]);
  const head = ['way', 'CPU µs/request', 'range', 'x growing', 'MB/s', 'x growing'];
  const lines = [head, head.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`);
  process.stdout.write(
    `${lines.join('\n')}\n\n${requests} bodies of ${body.length} bytes a pass, ${together} at a time, ${passes} passes, medians. Node ${process.versions.node}.\n`,
  );
}

function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
