/** Rules as the configuration gives them. */
import { creditCardParts } from './credit-card.ts';
import { emailParts } from './email.ts';
import { patternParts } from './pattern.ts';
import type { Part, RedactionRule, Spend } from './rule.ts';

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
  return settings.map((one) => {
    if ('pattern' in one) return { name: `redact[${one.place}]`, replacement: one.replace, parts: patternParts(one.pattern) };
    const parts = ready[one.match];
    return { name: one.match, replacement: one.replace, parts: (text: string, spend: Spend) => (spend(text.length) ? parts(text) : undefined) };
  });
}
