/** Words that must, or must not, stand in the output: as whole words, or anywhere. */
import { tallied, lowered, searchedText } from './matching/texts.ts';
import { checked, targetOptions } from './evidence/target.ts';
import { rule } from './configuration/define.ts';
import { flag, choice, required } from './configuration/option-table.ts';

export const keywords = rule({
  id: 'keywords',
  version: 2,
  summary: 'The output has the keywords that it must have, or none of those that it must not.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    keywords: required<readonly string[]>(
      {
        type: 'array',
        minItems: 1,
        maxItems: 200,
        items: { type: 'string', minLength: 1, maxLength: 200 },
        description: 'The keywords; one may be of several words. Required.',
      },
      [],
    ),
    match: choice(['all', 'any', 'none'], 'all: the share that is found. any: one is enough. none: no one may be found.'),
    whole_words: flag('A keyword counts only where no letter or digit touches it.', true),
    case_sensitive: flag('Upper and lower case count.'),
    ...targetOptions,
  },
  source: 'the deck of code checks',
  evaluate({ trace }, options) {
    return checked(trace, options, (value) => {
      const text = lowered(searchedText(value), options.caseSensitive);
      return tallied(options.keywords, (word) => stands(text, lowered(word, options.caseSensitive), options.wholeWords), options.match);
    });
  },
});

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
