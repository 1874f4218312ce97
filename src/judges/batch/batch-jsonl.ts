/** The lines of the files of a batch: a question a line, and an answer a line in whatever order. */
import type { JsonObject } from '../../model/json.ts';
import { isJsonObject, jsonText, member, parseJson } from '../../model/json.ts';
import { completionOf, type Completion } from '../client/completion.ts';

/** `custom` tells answers apart. */
export function batchLine(custom: string, body: JsonObject): string {
  return jsonText({ custom_id: custom, method: 'POST', url: '/v1/chat/completions', body });
}

export type LineFault = 'malformed' | 'unknown' | 'duplicated';

/** What became of a question: what the model said, or that it was refused, or not reached in time. */
export type LineResult = { readonly kind: 'completion'; readonly completion: Completion } | { readonly kind: 'refused' | 'expired' };

/** A line is one answer. */
const lineCharsMax = 2 * 1024 * 1024;

/** Beside two for each question. */
const moreLines = 1_000;

export interface ReadLines {
  readonly results: ReadonlyMap<string, LineResult>;
  /** How many lines were passed over. What is beyond the lines that are looked at counts as one. */
  readonly faults: ReadonlyMap<LineFault, number>;
}

/** Of two answers to one question the first counts: which of them is the better one nobody knows. */
export function readLines(texts: readonly string[], asked: ReadonlySet<string>): ReadLines {
  const results = new Map<string, LineResult>();
  const faults = new Map<LineFault, number>();
  const passOver = (fault: LineFault): void => void faults.set(fault, (faults.get(fault) ?? 0) + 1);
  let left = asked.size * 2 + moreLines;
  for (const line of texts.flatMap((text) => [...linesOf(text, left)])) {
    if (left-- <= 0) {
      passOver('malformed');
      break;
    }
    const value = line.length > lineCharsMax ? undefined : parseJson(line);
    const custom = isJsonObject(value) ? member(value, 'custom_id') : undefined;
    if (!isJsonObject(value) || typeof custom !== 'string') passOver('malformed');
    else if (!asked.has(custom)) passOver('unknown');
    else if (results.has(custom)) passOver('duplicated');
    else {
      const result = resultOf(value);
      if (result === undefined) passOver('malformed');
      else results.set(custom, result);
    }
  }
  return { results, faults };
}

/** Those with something in them, and one more than so many. */
function* linesOf(text: string, most: number): Generator<string> {
  let found = 0;
  for (let at = 0; at < text.length && found <= most;) {
    const next = text.indexOf('\n', at);
    const end = next === -1 ? text.length : next;
    const line = text.slice(at, end);
    at = end + 1;
    if (line.trim() === '') continue;
    found++;
    yield line;
  }
}

function resultOf(line: JsonObject): LineResult | undefined {
  const [response, error] = [member(line, 'response'), member(line, 'error')];
  if (isJsonObject(error)) return { kind: member(error, 'code') === 'batch_expired' ? 'expired' : 'refused' };
  if (!isJsonObject(response)) return undefined;
  const [status, body] = [member(response, 'status_code'), member(response, 'body')];
  if (typeof status !== 'number') return undefined;
  return status === 200 ? { kind: 'completion', completion: completionOf(body) } : { kind: 'refused' };
}
