/** Texts, keywords and patterns that the output must contain, or must not. */
import type { JsonValue } from '../src/model/json.ts';
import { noExpectation, type Skipped, skipped } from './evidence/calls.ts';
import { linesFinding, linesOf, searchedText, searchOutcome, lineOptions, picked, outputKey, tallied, lowered } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, type Finding, targetOptions } from './evidence/target.ts';
import { listed, quoted } from './explain/explanation.ts';
import { rule, flag, choice, type OptionsOf, expecting, required } from './configuration/define.ts';
import { searchedTextMax } from './configuration/context.ts';

const containsOptions = {
  target_output_key: outputKey,
  match: choice(
    ['all', 'any', 'none'],
    'Rule for several texts. all: the share that is found. any: one is enough. none: none may be found.',
  ),
  case_sensitive: flag('Upper and lower case count.'),
  negated: flag('Turns the result round: 1 becomes 0. An output that has nothing at the path gets 0 all the same.'),
  ...lineOptions,
  ...targetOptions,
};

type ContainsOptions = OptionsOf<typeof containsOptions>;

/** The output contains a text, or all, any or none of several; whole or line by line. */
export const contains = rule({
  id: 'contains',
  version: 3,
  summary: 'The output contains the expected texts.',
  needs: ['final_response', 'search_text'],
  defaultThreshold: null,
  options: containsOptions,
  expectationSchema: expecting(
    {
      search_text: {
        type: ['string', 'array'],
        minItems: 1,
        maxItems: 100,
        items: { type: 'string' },
        description: 'The text to search for, or a list of texts.',
      },
    },
    'search_text',
  ),
  switchedOnBy: { search_text: {} },
  source: 'UiPath ContainsEvaluator, searching in JSON notation',
  evaluate({ trace, expected }, options) {
    if (expected.searchText === undefined) return noExpectation('texts');
    const texts = typeof expected.searchText === 'string' ? [expected.searchText] : expected.searchText;
    return checked(trace, options, (value) => finding(texts, value, options));
  },
});

function finding(texts: readonly string[], output: JsonValue, options: ContainsOptions): Finding | Skipped {
  const { value, missing } = picked(output, options.targetOutputKey);
  if (missing.length > 0 || value === undefined)
    return { score: rational(0), says: `has nothing at ${listed(missing.map(quoted))}`, details: { missing_paths: missing } };
  const text = searchedText(value);
  const lines = options.lineByLine ? linesOf(text, options.lineDelimiter) : [];
  const negate = options.negated;
  if (lines.length > 0) {
    const hits = lines.map((line) => searchOutcome(line, texts, options).passed !== negate);
    return linesFinding({ actual: lines.length, expected: texts.length, hits }, { hit: 'is as wanted', miss: 'is not as wanted' });
  }
  const { score, says, details } = searchOutcome(text, texts, options);
  return {
    score: negate ? rational(Number(score.denominator - score.numerator), Number(score.denominator)) : score,
    says: `${says}${negate ? ' (the result is turned round)' : ''}`,
    details,
  };
}

/** The output contains a text that the configuration names. */
export const outputContains = rule({
  id: 'output_contains',
  version: 2,
  summary: 'The output contains the configured text.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    text: required({ type: 'string', maxLength: 10_000, description: 'The text that must be in the output. Required.' }, ''),
    case_sensitive: flag('Upper and lower case count.'),
    ...targetOptions,
  },
  source: 'Sentinel AI outputContains',
  evaluate({ trace }, options) {
    return checked(trace, options, (value) =>
      searchOutcome(searchedText(value), [options.text], { match: 'all', caseSensitive: options.caseSensitive }),
    );
  },
});

/** Words that must, or must not, be in the output: as whole words, or anywhere. */
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

/** A regular expression is found in the output, or is not. */
export const regexMatch = rule({
  id: 'regex_match',
  version: 2,
  summary: 'The output matches a regular expression.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    pattern: required(
      {
        type: 'string',
        format: 're2',
        minLength: 1,
        maxLength: 1000,
        description:
          'A regular expression in RE2 syntax, searched anywhere; `^` and `$` tie it to the ends, `(?i)` leaves case out. Required.',
      },
      '',
    ),
    negated: flag('The expression must not be found.'),
    ...targetOptions,
  },
  source: 'the deck of code checks, with a linear-time engine',
  evaluate({ trace }, { pattern, negated, ...target }, context) {
    const compiled = context.pattern(pattern);
    return checked(trace, target, (value) => {
      const text = searchedText(value);
      if (text.length > searchedTextMax)
        return skipped('too_large', `The text is longer than the ${searchedTextMax} characters that are searched.`);
      const matches = compiled.test(text);
      return {
        score: rational(matches === negated ? 0 : 1),
        says: `${matches ? 'matches' : 'does not match'} ${quoted(pattern)}${matches && negated ? ', which it must not' : ''}`,
        details: { matches },
      };
    });
  },
});
