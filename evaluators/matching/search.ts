/** Which of several texts stand in a text. */
import type { JsonObject } from '../../src/model/json.ts';
import { rational } from './rational.ts';
import type { Rational } from './rational.ts';
import { listed, quoted } from '../explain/explanation.ts';
import { lowered } from './texts.ts';

export type SearchMode = 'all' | 'any' | 'none';

export interface SearchRule {
  readonly match: SearchMode;
  readonly caseSensitive: boolean;
}

export interface SearchOutcome {
  readonly score: Rational;
  readonly passed: boolean;
  /** What the text does, as the rest of a sentence. */
  readonly says: string;
  readonly details: JsonObject;
}

/** At least one text is searched for. */
export function searchOutcome(text: string, texts: readonly string[], { match, caseSensitive }: SearchRule): SearchOutcome {
  const whole = lowered(text, caseSensitive);
  return tallied(texts, (one) => whole.includes(lowered(one, caseSensitive)), match);
}

/** The same for any way to find a text. all: the share that is found. none: the share that is not. any: one is enough. */
export function tallied(texts: readonly string[], isFound: (text: string) => boolean, match: SearchMode): SearchOutcome {
  const found = texts.filter(isFound);
  const absent = texts.filter((one) => !found.includes(one));
  const score =
    match === 'any' ? rational(found.length > 0 ? 1 : 0) : rational(match === 'all' ? found.length : absent.length, texts.length);
  const passed = match === 'all' ? absent.length === 0 : match === 'any' ? found.length > 0 : found.length === 0;
  return { score, passed, says: inWords(found, absent, match), details: { found, absent } };
}

function inWords(found: readonly string[], absent: readonly string[], match: SearchMode): string {
  const texts = (list: readonly string[]): string => listed(list.map(quoted));
  switch (match) {
    case 'all':
      return absent.length === 0 ? `contains ${texts(found)}` : `lacks ${texts(absent)}`;
    case 'any':
      return found.length > 0 ? `contains ${texts(found)}` : `contains none of ${texts(absent)}`;
    case 'none':
      return found.length === 0 ? `contains none of ${texts(absent)}` : `contains ${texts(found)}, which it must not`;
  }
}
