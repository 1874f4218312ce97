/** The runner's report on recordings: each with its fields that differ, and at the end every field over all of them. */
import { collectors } from '../../collectors/index.ts';
import type { SpanId } from '../../src/model/ids.ts';
import type { LogRecord } from '../../src/model/span.ts';
import { spanReadingOf } from '../../src/pipeline/assembly/span-facts.ts';
import { isClaimed } from './claimed.ts';
import { differences } from './compare.ts';
import type { ExpectedRecording } from './expected.ts';
import { isOpen } from './data/open.ts';
import { fieldOf, fields, type Field } from './fields.ts';
import { contentsOf, play, type Recording } from './read.ts';

export interface Report {
  readonly lines: readonly string[];
  readonly passed: number;
  readonly failed: number;
}

export interface ReportOptions {
  /** Dialects that we have recordings of: one of another name is read as far as some collector recognises its spans. */
  readonly knownDialects: ReadonlySet<string>;
  /** Shows for recordings that are not claimed how each field differs, too. */
  readonly isDetailed: boolean;
}

interface Replayed {
  readonly recording: Recording;
  readonly kind: 'claimed' | 'not claimed' | 'open' | 'unknown dialect';
  readonly found: readonly string[];
  /** Collectors that recognised some of its spans. */
  readonly readBy: readonly string[];
}

export function reportOf(recordings: readonly Recording[], options: ReportOptions): Report {
  const all = recordings.map((recording) => replayed(recording, options));
  const counted = all.filter(({ kind }) => kind === 'claimed');
  const passed = counted.filter(({ found }) => found.length === 0).length;
  return {
    lines: [...all.flatMap((one) => linesOf(one, options)), '', ...fieldTable(all), '', ...othersOf(all)],
    passed,
    failed: counted.length - passed,
  };
}

/** An unreadable recording differs as a whole; the others are read. */
function replayed(recording: Recording, { knownDialects }: ReportOptions): Replayed {
  const { expected } = recording;
  const kind = isOpen(recording.name)
    ? 'open'
    : !knownDialects.has(expected.dialect)
      ? 'unknown dialect'
      : isClaimed(expected)
        ? 'claimed'
        : 'not claimed';
  try {
    const { runs, spans } = play(recording);
    const found = [...differences(expected, runs)];
    if (spans !== expected.decoded.spans) found.unshift(`runs: decoded ${spans} spans instead of ${expected.decoded.spans}`);
    const records = new Map<SpanId, readonly LogRecord[]>();
    const dialects = new Set(contentsOf(recording).spans.flatMap((span) => spanReadingOf({ collectors, records }, span).dialects));
    return {
      recording,
      kind,
      found,
      readBy: collectors.map(({ id }) => id).filter((id) => dialects.has(id)),
    };
  } catch (error) {
    return {
      recording,
      kind,
      found: [`runs: broke off with ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`],
      readBy: [],
    };
  }
}

function linesOf({ recording, kind, found, readBy }: Replayed, { isDetailed }: ReportOptions): readonly string[] {
  const { name, expected } = recording;
  const isEqual = found.length === 0;
  const state =
    kind === 'claimed'
      ? isEqual
        ? 'passed'
        : 'FAILED'
      : `${isEqual ? 'equal, ' : ''}${kind}${kind === 'unknown dialect' ? `, read by ${readBy.join(', ') || 'nobody'}` : ''}`;
  const differing = [...Map.groupBy(found, fieldOf)].map(([field, own]) => `${field} ${own.length}`);
  return [
    `${name.padEnd(56)} ${expected.dialect.padEnd(24)} ${state}${isEqual ? '' : `: ${differing.join(', ')}`}`,
    ...(kind === 'claimed' || isDetailed ? found.map((one) => `    ${one}`) : []),
  ];
}

function fieldTable(all: readonly Replayed[]): readonly string[] {
  const rows = fields.map((field) => {
    const states = all.map(({ recording, found }) =>
      found.some((one) => fieldOf(one) === field) ? 'differs' : isExcused(recording.expected, field) ? 'not carried' : 'equal',
    );
    return [field, ...(['equal', 'not carried', 'differs'] as const).map((state) => String(states.filter((one) => one === state).length))];
  });
  return [['field', 'equal', 'not carried', 'differs'], ...rows].map(
    ([field = '', ...counts]) => `${field.padEnd(16)}${counts.map((count) => count.padStart(13)).join('')}`,
  );
}

function isExcused({ not_carried }: ExpectedRecording, field: Field): boolean {
  return (
    not_carried.includes(field) ||
    (field.startsWith('tokens.') && not_carried.includes('tokens')) ||
    (field === 'tools' && not_carried.includes('tools[].description') && not_carried.includes('tools[].input_schema'))
  );
}

function othersOf(all: readonly Replayed[]): readonly string[] {
  return (['not claimed', 'open', 'unknown dialect'] as const).flatMap((kind) => {
    const own = all.filter((one) => one.kind === kind);
    return own.length === 0
      ? []
      : [
          `${own.length} recordings are not counted, ${kind}; ${own.filter(({ found }) => found.length === 0).length} of them are equal all the same`,
        ];
  });
}
