/** Pieces of the one sentence in which a verdict explains itself. */
import type { PlacedCall } from '../evidence/calls.ts';

/** Foreign text in a sentence is cut here. */
const quotedMax = 80;
/** The explanation of a judge is cut here. */
const explanationMax = 300;
/** Culprits named in a sentence; the details name more. */
export const listedMax = 3;

/** A call as a person counts it: the first is call 1. */
export function callName({ index, call }: PlacedCall): string {
  return `${toolName(call)} (call ${index + 1})`;
}

/** As a piece of a sentence. */
export function toolName({ name }: PlacedCall['call']): string {
  return name.trim() === '' ? 'a call without a name' : cut(singleSpaced(name));
}

export function quoted(text: string): string {
  return `"${cut(singleSpaced(text))}"`;
}

/** The explanation of a judge as the rest of a sentence: without line breaks and the full stop at its end. */
export function briefExplanation(text: string): string {
  return cut(singleSpaced(text.trim()).replace(/[.!;:,\s]+$/, ''), explanationMax);
}

/** The first few items, and how many more there are of `total`. */
export function listed(items: readonly string[], separator = ', ', total = items.length): string {
  const rest = total - listedMax;
  return items.slice(0, listedMax).join(separator) + (rest > 0 ? `${separator}and ${rest} more` : '');
}

/** As `listed`; only the first few are put into words. */
export function listedOf<Item>(items: readonly Item[], inWords: (item: Item) => string, separator = '; '): string {
  return listed(items.slice(0, listedMax).map(inWords), separator, items.length);
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

/** The first few calls, and how many more there are. */
export function listedCalls(calls: readonly PlacedCall[]): string {
  return listedOf(calls, callName, ', ');
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Half a character beyond 16 bits: a text without one has as many characters as code units. */
const SURROGATE = /[\ud800-\udfff]/;

function cut(text: string, max = quotedMax): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max * 2);
  if (!SURROGATE.test(head)) return `${text.slice(0, max - 1)}…`;
  const points = Array.from(head);
  return points.length > max ? `${points.slice(0, max - 1).join('')}…` : points.join('');
}

/** What is not single-spaced. Most texts are, and looking costs less than replacing. */
const LOOSE = /\s\s|[^\S ]/;

/** Every run of white space is one space. */
export function singleSpaced(text: string): string {
  return LOOSE.test(text) ? text.replaceAll(/\s+/g, ' ') : text;
}
