/** Parts of the sentence that explains a verdict. */
import type { PlacedCall } from '../evidence/calls.ts';

/** Limit of quoted foreign text. */
const quotedMax = 80;
/** Limit of a judge's explanation. */
const explanationMax = 300;
/** Limit of items in a sentence; details list more. */
export const listedMax = 3;

/** The name of a call with its number, from 1. */
export function callName({ index, call }: PlacedCall): string {
  return `${toolName(call)} (call ${index + 1})`;
}

/** The name of a tool, quoted for a sentence. */
export function toolName({ name }: PlacedCall['call']): string {
  return name.trim() === '' ? 'a call without a name' : cut(singleSpaced(name));
}

export function quoted(text: string): string {
  return `"${cut(singleSpaced(text))}"`;
}

/** A judge's explanation as the rest of a sentence, without line breaks and final full stop. */
export function briefExplanation(text: string): string {
  return cut(singleSpaced(text.trim()).replace(/[.!;:,\s]+$/, ''), explanationMax);
}

/** The first items, and the number of further ones out of `total`. */
export function listed(items: readonly string[], separator = ', ', total = items.length): string {
  const rest = total - listedMax;
  return items.slice(0, listedMax).join(separator) + (rest > 0 ? `${separator}and ${rest} more` : '');
}

/** The same as `listed`, but formats only the listed items. */
export function listedOf<Item>(items: readonly Item[], inWords: (item: Item) => string, separator = '; '): string {
  return listed(items.slice(0, listedMax).map(inWords), separator, items.length);
}

/** `missing: a, b` as a list, to be joined with others; empty without items. */
export function headed<Item>(
  heading: string,
  items: readonly Item[],
  inWords: (item: Item) => string,
  separator = ', ',
): readonly string[] {
  return items.length === 0 ? [] : [`${heading}: ${listedOf(items, inWords, separator)}`];
}

/** `2 of 5 steps were needless: a; b`. The verb agrees with the first number. */
export function someOf<Item>(
  items: readonly Item[],
  total: string,
  [one, many]: readonly [one: string, many: string],
  inWords: (item: Item) => string,
  separator?: string,
): string {
  return `${items.length} of ${total} ${items.length === 1 ? one : many}: ${listedOf(items, inWords, separator)}`;
}

/** The first calls, and the number of further ones. */
export function listedCalls(calls: readonly PlacedCall[]): string {
  return listedOf(calls, callName, ', ');
}

/** The sentence about a run whose expectation has no calls. */
export function noneExpected(calls: readonly PlacedCall[]): string {
  return calls.length === 0
    ? 'No tool call was expected and none was made.'
    : `No tool call was expected, yet ${count(calls.length, 'call')} ${calls.length === 1 ? 'was' : 'were'} made: ${listedCalls(calls)}.`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** A surrogate: a text without one has as many characters as UTF-16 units. */
const SURROGATE = /[\ud800-\udfff]/;

function cut(text: string, max = quotedMax): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max * 2);
  if (!SURROGATE.test(head)) return `${text.slice(0, max - 1)}…`;
  const points = Array.from(head);
  return points.length > max ? `${points.slice(0, max - 1).join('')}…` : points.join('');
}

/** Matches texts that are not single-spaced. The test is cheaper than a replacement, and most texts fail it. */
const LOOSE = /\s\s|[^\S ]/;

/** Replaces every sequence of white space by one space. */
export function singleSpaced(text: string): string {
  return LOOSE.test(text) ? text.replaceAll(/\s+/g, ' ') : text;
}
