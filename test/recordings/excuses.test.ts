/**
 * A value that a recording excuses as not carried is not in its bytes: a false excuse hides a failure. Texts are looked for; numbers and
 * single words are in bytes for other reasons too.
 */
import { expect, test } from 'vitest';
import { isJsonArray, isJsonObject, jsonText, type JsonValue } from '../../src/model/json.ts';
import type { Attributed } from '../../src/model/span.ts';
import { jsonOf, parseContainer } from '../../collectors/parsing/parsing.ts';
import { openRecordings, type Absent } from './data/open.ts';
import type { ExpectedTrace } from './expected.ts';
import { contentsOf, ownRecordings, type Recording } from './read.ts';

const texts: readonly (readonly [path: string, of: (trace: ExpectedTrace) => readonly (JsonValue | undefined)[]])[] = [
  ['agent_name', (trace) => [trace.agent_name]],
  ['session_id', (trace) => [trace.session_id]],
  ['input', (trace) => [trace.input]],
  ['system_prompt', (trace) => [trace.system_prompt]],
  ['final_response', (trace) => [trace.final_response]],
  ['model', (trace) => [trace.model]],
  ['tool_calls[].id', (trace) => trace.tool_calls.map(({ id }) => id)],
  ['tool_calls[].error.message', (trace) => trace.tool_calls.map(({ error }) => error?.message)],
  ['tools[].description', (trace) => trace.tools.map(({ description }) => description)],
];

const recordings = ownRecordings();

/** Names of agents are words with other meanings too. */
const charsMin = 6;

function excusedInBytes(recording: Recording): readonly string[] {
  const excuses = new Set(recording.expected.not_carried);
  const asked = texts.filter(([path]) => excuses.has(path));
  if (asked.length === 0) return [];
  const bytes = textOf(recording);
  return asked.flatMap(([path, of]) =>
    recording.expected.traces.flatMap((trace) =>
      of(trace)
        .filter((value) => typeof value === 'string' && value.length >= charsMin)
        // Agents report failures in their answers too.
        .filter((value) => path === 'final_response' || !String(trace.final_response).includes(String(value)))
        .flatMap((value) => (bytes.includes(String(value)) ? [`${path}: ${String(value)}`] : [])),
    ),
  );
}

/** All values as texts, those of JSON within JSON included. */
function textOf(recording: Recording): string {
  return placesOf(recording)
    .map(({ value }) => jsonText(value))
    .join('\n')
    .replaceAll(/\\+(?=["\\])/g, '')
    .replaceAll(/\\+n/g, '\n');
}

/** One value that a recording carries. */
interface Place {
  readonly traceId: string;
  /** The name of the span that has it. */
  readonly span: string | undefined;
  readonly key: string;
  readonly value: JsonValue;
}

function placesOf(recording: Recording): readonly Place[] {
  const { spans, records } = contentsOf(recording);
  const of = (from: Attributed, traceId: string, span?: string): readonly Place[] =>
    from.attributeKeys().map((key) => ({ traceId, span, key, value: jsonOf(from.attribute(key) ?? null) }));
  return [
    ...spans.flatMap((one) => [
      { traceId: one.traceId, span: one.name, key: 'span.name', value: one.name },
      ...[one, ...one.events].flatMap((from) => of(from, one.traceId, one.name)),
    ]),
    ...records.flatMap((record) => [
      ...of(record, record.traceId),
      { traceId: record.traceId, span: undefined, key: 'body', value: jsonOf(record.body() ?? null) },
    ]),
  ];
}

test('excuses: a value that a recording excuses as carried nowhere is not in its bytes', () => {
  expect(recordings.flatMap((recording) => excusedInBytes(recording).map((found) => `${recording.name} ${found}`))).toEqual([]);
});

const claims = openRecordings.filter(({ because }) => because.startsWith('absent in the bytes'));

test('excuses: an open recording that is absent in the bytes lists the absent texts, and no other does', () => {
  expect(openRecordings.filter(({ absent }) => absent !== undefined)).toEqual(claims);
  expect(claims.length).toBeGreaterThan(0);
});

test.each(claims.map(({ recording, absent = [] }) => [recording, absent] as const))('excuses: %s has no byte with it', (name, absent) => {
  const recording = recordings.find((one) => one.name === name);
  const places = recording === undefined ? [] : placesOf(recording);
  for (const one of absent) {
    const asked = (recording?.expected.traces ?? []).filter((trace) => JSON.stringify(trace).includes(one.text));
    const telling = asked.map(({ otlp_trace_id: id }) => places.filter((place) => place.traceId === id && tells(place, one)));
    expect(asked.length, `the agent had ${one.text}`).toBeGreaterThan(0);
    // The dump of the trace with the least of it.
    expect(telling.toSorted((a, b) => a.length - b.length)[0]).toEqual([]);
  }
});

function tells({ key, span, value }: Place, { text, at, span: only, besides }: Absent): boolean {
  if (key === besides || (only !== undefined && span !== only)) return false;
  return [...textsIn(value)].some((one) => (at === 'start' ? one.startsWith(text) : one.includes(text)));
}

/** The texts of a value, its keys, and those of JSON within them. */
function* textsIn(value: JsonValue): Generator<string> {
  if (typeof value === 'string') {
    yield value;
    const inner = parseContainer(value);
    if (inner !== undefined) yield* textsIn(inner);
  } else if (isJsonArray(value)) for (const item of value) yield* textsIn(item);
  else if (isJsonObject(value))
    for (const [key, item] of Object.entries(value)) {
      yield key;
      yield* textsIn(item);
    }
}
