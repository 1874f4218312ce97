/** Journals for tests: their parts, recognisable records, and the records that are read back. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Journal, JournalEntry, JournalRecord, Position, JournalDeps, JournalSettings } from '../../src/journals/journal.ts';
import { manualClock, type ManualClock } from '../../src/model/clock.ts';
import { tenant } from '../../src/model/ids.ts';
import { metricRegistry, type MetricRegistry } from '../../src/telemetry/registry.ts';
import type { MetricName } from '../../src/telemetry/metrics.ts';
import { seeded } from '../builders/seeded.ts';

export interface TestParts extends JournalDeps {
  readonly clock: ManualClock;
  readonly telemetry: MetricRegistry;
  readonly told: string[];
  /** Fields of the reported events. */
  readonly lines: object[];
  /** A counter or gauge, over all its label sets or one of them. */
  count(metric: MetricName, label?: string): number;
}

export function testParts(seed = 1): TestParts {
  const telemetry = metricRegistry();
  const chance = seeded(seed);
  const told: string[] = [];
  const lines: object[] = [];
  return {
    telemetry,
    clock: manualClock(),
    // Rests are over at the next turn: no test waits for one.
    sleep: () => turn(),
    logger: {
      warn(fields, message) {
        told.push(message);
        lines.push(fields);
      },
    },
    randomBytes: (count) => Buffer.from(Array.from({ length: count }, () => chance.below(256))),
    told,
    lines,
    count(metric, label) {
      const points = telemetry.snapshot().find(({ name }) => name === metric)?.points ?? [];
      return points.reduce(
        (sum, point) =>
          sum + (point.kind === 'number' && (label === undefined || Object.values(point.labels).includes(label)) ? point.value : 0),
        0,
      );
    },
  };
}

export const folder = '/journal';

/** Segments that some ten records fill. */
export const smallSettings: JournalSettings = { folder, segmentBytes: 16 * 1024, bytesMax: 8 * 16 * 1024, quarantineBytesMax: 4096 };

/** Record `id`; its body holds the id and has this length. */
export function recordOf(id: number, bodyBytes = 200): JournalRecord {
  const body = Buffer.alloc(Math.max(bodyBytes, 8), id % 251);
  body.writeUInt32LE(id, 0);
  return {
    kind: id % 2 === 0 ? 'traces' : 'logs',
    tenant: tenant(id % 3 === 0 ? '' : `tenant-${id % 3}`),
    contentType: 'application/x-protobuf',
    contentEncoding: id % 5 === 0 ? 'gzip' : '',
    receivedMs: 1_700_000_000_000 + id,
    body,
  };
}

export function idOf({ body }: JournalRecord): number {
  return body.readUInt32LE(0);
}

export async function entriesOf(entries: AsyncIterable<JournalEntry>): Promise<readonly JournalEntry[]> {
  const all: JournalEntry[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

/** Everything that is not committed. */
export function entriesIn(journal: Journal): Promise<readonly JournalEntry[]> {
  return entriesOf(journal.read(journal.oldest()));
}

export async function idsIn(journal: Journal): Promise<readonly number[]> {
  return (await entriesIn(journal)).map(({ record }) => idOf(record));
}

/** The position of a record that must be taken. */
export async function appended(journal: Journal, record: JournalRecord): Promise<Position> {
  const outcome = await journal.append(record);
  if (outcome.kind === 'refused') throw new Error(`refused: ${outcome.reason}`);
  return outcome.position;
}
