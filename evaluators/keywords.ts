/** Words that must, or must not, stand in the output: as whole words, or anywhere. */
import type { Outcome } from '../src/model/verdict.ts';
import type { RuleEvaluator, Subject } from './evaluator.ts';
import { tallied, type SearchMode, lowered, searchedText } from './matching/texts.ts';
import { checked, targetDefaults, targetSchema } from './evidence/target.ts';
import type { TargetOptions } from './evidence/target.ts';

export interface KeywordsOptions extends TargetOptions {
  readonly keywords: readonly string[];
  readonly match: SearchMode;
  readonly wholeWords: boolean;
  readonly caseSensitive: boolean;
}

export const keywords = {
  kind: 'rule',
  id: 'keywords',
  version: 2,
  summary: 'The output has the keywords that it must have, or none of those that it must not.',
  needs: ['final_response'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { keywords: [], match: 'all', wholeWords: true, caseSensitive: false, ...targetDefaults },
  optionsSchema: targetSchema(
    {
      keywords: {
        type: 'array',
        minItems: 1,
        maxItems: 200,
        items: { type: 'string', minLength: 1, maxLength: 200 },
        description: 'The keywords; one may be of several words. Required.',
      },
      match: { enum: ['all', 'any', 'none'], description: 'all: the share that is found. any: one is enough. none: no one may be found.' },
      whole_words: { type: 'boolean', description: 'A keyword counts only where no letter or digit touches it.' },
      case_sensitive: { type: 'boolean', description: 'Upper and lower case count.' },
    },
    ['keywords'],
  ),
  source: 'the deck of code checks',
  evaluate,
} as const satisfies RuleEvaluator<KeywordsOptions>;

function evaluate({ trace }: Subject, options: KeywordsOptions): Outcome {
  return checked(trace, options, (value) => {
    const text = lowered(searchedText(value), options.caseSensitive);
    return tallied(options.keywords, (word) => stands(text, lowered(word, options.caseSensitive), options.wholeWords), options.match);
  });
}

function stands(text: string, word: string, wholeWords: boolean): boolean {
  if (!wholeWords) return text.includes(word);
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (
      !touches(text.slice(Math.max(0, at - 2), at), /[\p{L}\p{N}]$/u) &&
      !touches(text.slice(at + word.length, at + word.length + 2), /^[\p{L}\p{N}]/u)
    )
      return true;
  }
  return false;
}

function touches(neighbour: string, pattern: RegExp): boolean {
  return pattern.test(neighbour);
}
