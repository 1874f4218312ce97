/** Rules as the configuration gives them. */
import { creditCardParts } from './credit-card.ts';
import { decoded, type Decoded } from './decoded.ts';
import { emailParts } from './email.ts';
import type { Part, RedactionRule, Spend } from './rule.ts';
import { RE2JS } from 're2js';

export type RedactionSettings =
  | { readonly match: ReadyPattern; readonly replace: string }
  /** `place` is its number in the list, from 0. */
  | { readonly pattern: string; readonly replace: string; readonly place: number };

export const readyPatterns = ['email', 'credit_card'] as const;
export type ReadyPattern = (typeof readyPatterns)[number];

export const replacementDefault = '[redacted]';

const ready: { readonly [name in ReadyPattern]: (text: string) => readonly Part[] } = { email: emailParts, credit_card: creditCardParts };

/** Compiles what is to be compiled, once. */
export function redactionRules(settings: readonly RedactionSettings[]): readonly RedactionRule[] {
  // Several ready patterns look at each text in turn.
  let last: { readonly text: string; readonly decoded: Decoded | undefined } = { text: '', decoded: undefined };
  const decodedOnce = (text: string): Decoded | undefined => (last = last.text === text ? last : { text, decoded: decoded(text) }).decoded;
  return settings.map((one) => {
    if ('pattern' in one) return { name: `redact[${one.place}]`, replacement: one.replace, parts: patternParts(one.pattern) };
    return {
      name: one.match,
      replacement: one.replace,
      parts: (text, spend) => readyParts(ready[one.match], text, { spend, decoded: decodedOnce(text) }),
    };
  });
}

/** In the text as it stands, and as it reads once decoded; where both find something, what is decoded says how far it goes. */
function readyParts(
  parts: (text: string) => readonly Part[],
  text: string,
  { spend, decoded: read }: { readonly spend: Spend; readonly decoded: Decoded | undefined },
): readonly Part[] | undefined {
  if (!spend(text.length + (read?.text.length ?? 0))) return undefined;
  const plain = parts(text);
  if (read === undefined) return plain;
  const hidden = parts(read.text).map((part) => read.original(part));
  if (hidden.length === 0) return plain;
  let at = 0;
  const alone = plain.filter(({ start, end }) => {
    while ((hidden[at]?.end ?? Infinity) <= start) at++;
    return (hidden[at]?.start ?? Infinity) >= end;
  });
  return [...alone, ...hidden].sort((a, b) => a.start - b.start);
}

/** Throws when the source is no pattern of this engine: the configuration has checked it. */
function patternParts(source: string): (text: string, spend: Spend) => readonly Part[] | undefined {
  const pattern = RE2JS.compile(source);
  return (text, spend) => {
    if (!spend(text.length)) return undefined;
    if (!pattern.test(text)) return [];
    const parts: Part[] = [];
    const matcher = pattern.matcher(text);
    while (matcher.find()) {
      const part = { start: matcher.start(), end: matcher.end() };
      // An empty match blots out nothing.
      if (part.end > part.start) parts.push(part);
      // A search may have to look to the end before it knows where its match ends, and so may the next one.
      if (!spend(text.length - part.end)) return undefined;
    }
    return parts;
  };
}
