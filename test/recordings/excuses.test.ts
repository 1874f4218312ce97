/**
 * What a recording excuses as not carried is not in its bytes: an excuse that is not true hides a failure. Texts are looked for; numbers and
 * single words stand in bytes for other reasons too.
 */
import { expect, test } from 'vitest';
import { jsonText, type JsonValue } from '../../src/model/json.ts';
import type { Attributed } from '../../src/model/span.ts';
import { jsonOf } from '../../collectors/parsing/parsing.ts';
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

/** Names of agents are words that stand for other things too. */
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
        // Agents tell what went wrong in their answers too.
        .filter((value) => path === 'final_response' || !String(trace.final_response).includes(String(value)))
        .flatMap((value) => (bytes.includes(String(value)) ? [`${path}: ${String(value)}`] : [])),
    ),
  );
}

/** All values as texts, those of JSON within JSON included. */
function textOf(recording: Recording): string {
  const { spans, records } = contentsOf(recording);
  const parts: string[] = [];
  const add = (from: Attributed): void => {
    for (const key of from.attributeKeys()) parts.push(jsonText(jsonOf(from.attribute(key) ?? null)));
  };
  for (const span of spans) {
    add(span);
    for (const event of span.events) add(event);
  }
  for (const record of records) {
    add(record);
    parts.push(jsonText(jsonOf(record.body() ?? null)));
  }
  return parts
    .join('\n')
    .replaceAll(/\\+(?=["\\])/g, '')
    .replaceAll(/\\+n/g, '\n');
}

test('excuses: what a recording says to be carried nowhere is not in its bytes', () => {
  expect(ownRecordings().flatMap((recording) => excusedInBytes(recording).map((found) => `${recording.name} ${found}`))).toEqual([]);
});
