/** Compares runs with expected runs. Only members of the expected runs count. */
import { unreadable } from '../../model/errors.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { isJsonArray, isJsonObject, jsonText, member, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { Run } from '../../model/agent-trace.ts';
import { runJson } from '../../model/run-json.ts';
import { type Body } from './recording.ts';

const runMembers = ['agent', 'input', 'final_response', 'tool_calls'] as const;
const callMembers = ['name', 'arguments', 'result'] as const;

/** Further differences are counted. */
const differencesMax = 200;
const quotedMax = 200;

/** Reads runs in order of start: `{"runs": […]}`, a list, or one run. Throws INPUT_UNREADABLE. */
export function readExpected({ name, bytes }: Body): readonly JsonObject[] {
  const value = parseJson(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  if (value === undefined) throw unreadable(name, 'it is not JSON.');
  const list = isJsonObject(value) && Object.hasOwn(value, 'runs') ? member(value, 'runs') : isJsonArray(value) ? value : [value];
  if (!isJsonArray(list)) throw unreadable(name, 'runs is not a list.');
  return list.map((run, at) => checked(name, `runs[${at}]`, run));
}

function checked(file: string, place: string, run: JsonValue): JsonObject {
  const known = knownMembers(file, place, run, runMembers);
  const calls = member(known, 'tool_calls');
  if (calls === undefined) return known;
  if (!isJsonArray(calls)) throw unreadable(file, `${place}.tool_calls is not a list.`);
  for (const [at, call] of calls.entries()) knownMembers(file, `${place}.tool_calls[${at}]`, call, callMembers);
  return known;
}

function knownMembers(file: string, place: string, value: JsonValue, names: readonly string[]): JsonObject {
  if (!isJsonObject(value)) throw unreadable(file, `${place} is not an object with ${names.join(', ')}.`);
  const unknown = Object.keys(value).find((key) => !names.includes(key));
  if (unknown === undefined) return value;
  const meant = didYouMean(unknown, names);
  throw unreadable(
    file,
    `${place} has the member ${JSON.stringify(unknown)}. ${meant === undefined ? `Known are ${names.join(', ')}.` : `Did you mean ${meant}?`}`,
  );
}

/** One line for each difference. */
export function differences(expected: readonly JsonObject[], runs: readonly Run[]): readonly string[] {
  const found: string[] = [];
  if (expected.length !== runs.length) found.push(`runs: expected ${expected.length}, read ${runs.length}`);
  for (const [at, want] of expected.entries()) {
    const run = runs[at];
    if (run === undefined) continue;
    const read = runJson(run.trace, run);
    for (const key of runMembers) {
      const wanted = member(want, key);
      if (wanted === undefined) continue;
      if (key === 'tool_calls' && isJsonArray(wanted)) compareCalls(`runs[${at}].tool_calls`, wanted, member(read, key) ?? [], found);
      else compare(`runs[${at}].${key}`, wanted, member(read, key) ?? null, found);
    }
  }
  return found.length <= differencesMax
    ? found
    : [...found.slice(0, differencesMax), `and ${found.length - differencesMax} more differences`];
}

function compareCalls(place: string, wanted: readonly JsonValue[], read: JsonValue, found: string[]): void {
  const calls = isJsonArray(read) ? read : [];
  if (wanted.length !== calls.length) found.push(`${place}: expected ${wanted.length} calls, read ${calls.length}`);
  for (const [at, want] of wanted.entries()) {
    const call = calls[at];
    if (!isJsonObject(want)) continue;
    if (!isJsonObject(call)) {
      found.push(`${place}[${at}]: expected ${shown(want)}, read no call`);
      continue;
    }
    for (const key of callMembers) {
      const value = member(want, key);
      if (value === undefined) continue;
      if (key === 'result' && member(call, 'result_carried') === false)
        found.push(`${place}[${at}].result: expected ${shown(value)}, but the spans carry none`);
      else compare(`${place}[${at}].${key}`, value, member(call, key) ?? null, found);
    }
  }
}

/** Reports the innermost place of a difference. */
function compare(place: string, want: JsonValue, read: JsonValue, found: string[]): void {
  if (isJsonObject(want) && isJsonObject(read)) {
    for (const key of new Set([...Object.keys(want), ...Object.keys(read)])) {
      const [one, other] = [member(want, key), member(read, key)];
      if (one === undefined) found.push(`${place}.${key}: expected nothing, read ${shown(other ?? null)}`);
      else if (other === undefined) found.push(`${place}.${key}: expected ${shown(one)}, read nothing`);
      else compare(`${place}.${key}`, one, other, found);
    }
  } else if (isJsonArray(want) && isJsonArray(read) && want.length === read.length) {
    for (const [at, one] of want.entries()) compare(`${place}[${at}]`, one, read[at] ?? null, found);
  } else if (jsonText(want, { sortKeys: true }) !== jsonText(read, { sortKeys: true })) {
    found.push(`${place}: expected ${shown(want)}, read ${shown(read)}`);
  }
}

function shown(value: JsonValue): string {
  const text = jsonText(value);
  return text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text;
}
