/** Comparison line by line, for evaluators of texts. */
import { skipped } from '../evidence/calls.ts';
import type { Skipped } from '../evidence/calls.ts';
import { mean, rational } from './rational.ts';
import type { Finding } from '../evidence/target.ts';
import { count, listed } from '../explain/explanation.ts';

export const lineProperties = {
  line_by_line: { type: 'boolean', description: 'Compare line by line; blank lines are dropped, and the score is the mean of the lines.' },
  line_delimiter: { type: 'string', minLength: 1, maxLength: 100, description: 'What separates lines.' },
} as const;

/** Lines of one text. */
export const linesMax = 2_000;

export function linesOf(text: string, delimiter: string): readonly string[] {
  return text.split(delimiter).filter((line) => line.trim() !== '');
}

export interface Lines {
  readonly actual: number;
  readonly expected: number;
  /** By line, whether it is as wanted. */
  readonly hits: readonly boolean[];
}

/** There is at least one line. The words tell what a line does that is as wanted, and what one does that is not. */
export function linesFinding({ actual, expected, hits }: Lines, words: { readonly hit: string; readonly miss: string }): Finding | Skipped {
  if (hits.length > linesMax) return skipped('too_large', `${hits.length} lines are more than the ${linesMax} that are compared.`);
  const missed = hits.flatMap((hit, at) => (hit ? [] : [`line ${at + 1}`]));
  return {
    score: mean(hits.map((hit) => rational(hit ? 1 : 0))),
    says:
      missed.length === 0
        ? `${words.hit} in ${count(hits.length, 'line')} of ${hits.length}`
        : `${words.miss} in ${missed.length} of ${count(hits.length, 'line')}: ${listed(missed)}`,
    details: { line_scores: hits.map(Number), total_lines_actual: actual, total_lines_expected: expected },
  };
}
