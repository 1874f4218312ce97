/**
 * A recording with every scripted word replaced: tool names, arguments, questions, answers, results, descriptions and prompts, in the
 * bodies and in the expectations, by random words of other lengths. A reader of the renamed copy reads dialects, not this script.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { seeded } from '../builders/seeded.ts';
import { logsRequest, traceRequest } from '../otlp/descriptors.ts';
import type { ExpectedRecording, ExpectedTrace } from './expected.ts';
import type { Recording } from './read.ts';

/** Words that belong to protocols and frameworks, although scripts use them as well. */
const protocolWords: ReadonlySet<string> = new Set(
  (
    'role type user tool tools assistant system text agent agents function name content arguments args kwargs string object integer number boolean array properties required items title description ' +
    'input output error message messages result results response status data value parameters call calls model null none true false ' +
    // Google ADK’s own preamble, and the pseudo tools of hand-overs.
    'you are handoff transfer'
  ).split(' '),
);

export interface RenamedFile {
  readonly file: string;
  readonly bytes: Buffer;
}

export function renamed(
  recording: Recording,
  seed: number,
): { readonly files: readonly RenamedFile[]; readonly expected: ExpectedRecording } {
  const { expected } = recording;
  const kept = expected.files.filter((file) => file.kind !== 'metrics');
  const words = vocabulary(expected.traces, seed);
  const files = kept.map(({ file, kind, content_type }) => {
    const raw = readFileSync(join(recording.folder, file));
    const body = file.endsWith('.gz') ? gunzipSync(raw) : raw;
    const message = kind === 'logs' ? logsRequest : traceRequest;
    const written = content_type.includes('json')
      ? Buffer.from(JSON.stringify(renamedRequest(JSON.parse(body.toString('utf8')), words)))
      : message.encode(renamedRequest(message.decode(body), words) as object);
    return { file, bytes: file.endsWith('.gz') ? gzipSync(written) : written };
  });
  return {
    files,
    expected: {
      ...expected,
      files: kept,
      traces: expected.traces.map((trace) => renamedValue(trace, words, { isFree: false }) as ExpectedTrace),
    },
  };
}

type Words = ReadonlyMap<string, string>;

/** Members of a recording that name no word of its script. */
const outsideScript: ReadonlySet<string> = new Set([
  'otlp_trace_id',
  'split_over_otlp_traces',
  'status',
  'via',
  'id',
  'session_id',
  'model',
  'input_schema',
]);
/** Members under which names are the script's own. */
const freeMembers: ReadonlySet<string> = new Set(['arguments', 'result', 'result_as_the_model_saw_it', 'input_schema']);

/** A new word for each of the script's. */
function vocabulary(traces: readonly ExpectedTrace[], seed: number): Words {
  const found = new Set<string>();
  const collect = (value: unknown, isFree: boolean): void => {
    if (typeof value === 'string') for (const [word] of wordsIn(value)) found.add(word.toLowerCase());
    else if (Array.isArray(value)) for (const item of value as readonly unknown[]) collect(item, isFree);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (isFree) collect(key, true);
        if (isFree || !outsideScript.has(key)) collect(inner, isFree || freeMembers.has(key));
      }
    }
  };
  collect(traces, false);
  const chance = seeded(seed);
  const words = new Map<string, string>();
  const taken = new Set<string>(found);
  for (const word of found) {
    if (word.length < 3 || protocolWords.has(word)) continue;
    let made = '';
    while (made === '' || made.length === word.length || taken.has(made))
      made = Array.from({ length: 4 + chance.below(9) }, () => chance.pick([...'bcdfghjklmpqrstvwxz'])).join('');
    taken.add(made);
    words.set(word, made);
  }
  return words;
}

/** A letter, an escaped character, or an escape such as \n, whose letter is none. */
const UNIT = /\\+u(?<hex>[0-9a-fA-F]{4})|\\+(?:x[0-9a-fA-F]{2}|[bfnrt])|\p{L}/gu;

/** Runs of letters, some of them perhaps escaped. */
function wordsIn(text: string): readonly (readonly [word: string, start: number, end: number])[] {
  const found: [word: string, start: number, end: number][] = [];
  for (const match of text.matchAll(UNIT)) {
    const hex = match.groups?.['hex'];
    const char = hex === undefined ? match[0] : String.fromCharCode(Number.parseInt(hex, 16));
    if (!/^\p{L}$/u.test(char)) continue;
    const last = found.at(-1);
    const end = match.index + match[0].length;
    if (last?.[2] === match.index) [last[0], last[2]] = [last[0] + char, end];
    else found.push([char, match.index, end]);
  }
  return found;
}

function renamedText(text: string, words: Words): string {
  let written = '';
  let at = 0;
  for (const [word, start, end] of wordsIn(text)) {
    const made = words.get(word.toLowerCase());
    if (made === undefined) continue;
    written += text.slice(at, start) + inCaseOf(word, made);
    at = end;
  }
  return written + text.slice(at);
}

function inCaseOf(word: string, made: string): string {
  if (word === word.toUpperCase() && word !== word.toLowerCase()) return made.toUpperCase();
  return word.charAt(0) === word.charAt(0).toLowerCase() ? made : made.charAt(0).toUpperCase() + made.slice(1);
}

function renamedValue(value: unknown, words: Words, { isFree }: { readonly isFree: boolean }): unknown {
  if (typeof value === 'string') return renamedText(value, words);
  if (Array.isArray(value)) return value.map((item: unknown) => renamedValue(item, words, { isFree }));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const unchanged = !isFree && (key === 'otlp_trace_id' || key === 'status' || key === 'via');
      return [
        isFree ? renamedText(key, words) : key,
        unchanged ? inner : renamedValue(inner, words, { isFree: isFree || freeMembers.has(key) }),
      ];
    }),
  );
}

/** Every text value, the names and status messages of spans, and the keys inside map values; no attribute key and no name of a scope or event. */
function renamedRequest(value: unknown, words: Words, place: 'request' | 'span' | 'status' | 'map' = 'request'): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => renamedRequest(item, words, place));
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isWord =
        key === 'stringValue' ||
        (key === 'name' && place === 'span') ||
        (key === 'message' && place === 'status') ||
        (key === 'key' && place === 'map');
      if (typeof inner === 'string') return [key, isWord ? renamedText(inner, words) : inner];
      return [key, renamedRequest(inner, words, placeUnder(key, place))];
    }),
  );
}

function placeUnder(key: string, place: 'request' | 'span' | 'status' | 'map'): 'request' | 'span' | 'status' | 'map' {
  if (key === 'spans') return 'span';
  if (key === 'status') return 'status';
  if (key === 'kvlistValue') return 'map';
  return key === 'values' && place === 'map' ? 'map' : 'request';
}
