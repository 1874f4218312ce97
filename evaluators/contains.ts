/** The output contains a text, or all, any or none of several; whole or line by line. */
import type { JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { noExpectation } from './evidence/calls.ts';
import type { Skipped } from './evidence/calls.ts';
import type { RuleEvaluator, Subject } from './evaluator.ts';
import { lineProperties, linesFinding, linesOf, searchedText, searchOutcome, type SearchMode } from './matching/texts.ts';
import { outputKeySchema, picked } from './matching/output-key.ts';
import type { OutputKey } from './matching/output-key.ts';
import { rational } from './matching/rational.ts';
import { checked, targetDefaults, targetSchema } from './evidence/target.ts';
import type { Finding, TargetOptions } from './evidence/target.ts';
import { listed, quoted } from './explain/explanation.ts';

export interface ContainsOptions extends TargetOptions {
  readonly targetOutputKey: OutputKey;
  readonly match: SearchMode;
  readonly caseSensitive: boolean;
  readonly negated: boolean;
  readonly lineByLine: boolean;
  readonly lineDelimiter: string;
}

export const contains = {
  kind: 'rule',
  id: 'contains',
  version: 3,
  summary: 'The output contains the expected texts.',
  needs: ['final_response', 'search_text'],
  onByDefault: false,
  defaultThreshold: null,
  defaults: {
    targetOutputKey: '*',
    match: 'all',
    caseSensitive: false,
    negated: false,
    lineByLine: false,
    lineDelimiter: '\n',
    ...targetDefaults,
  },
  optionsSchema: targetSchema({
    target_output_key: outputKeySchema,
    match: {
      enum: ['all', 'any', 'none'],
      description: 'Of several texts. all: the share that is found. any: one is enough. none: no one may be found.',
    },
    case_sensitive: { type: 'boolean', description: 'Upper and lower case count.' },
    negated: {
      type: 'boolean',
      description: 'Turns the result round: 1 becomes 0. An output that has nothing at the path gets 0 all the same.',
    },
    ...lineProperties,
  }),
  expectationSchema: {
    type: 'object',
    required: ['search_text'],
    properties: {
      search_text: {
        type: ['string', 'array'],
        minItems: 1,
        maxItems: 100,
        items: { type: 'string' },
        description: 'The text to search for, or a list of texts.',
      },
    },
  },
  switchedOnBy: { search_text: {} },
  source: 'UiPath ContainsEvaluator, searching in JSON notation',
  evaluate,
} as const satisfies RuleEvaluator<ContainsOptions>;

function evaluate({ trace, expected }: Subject, options: ContainsOptions): Outcome {
  if (expected.searchText === undefined) return noExpectation('texts');
  const texts = typeof expected.searchText === 'string' ? [expected.searchText] : expected.searchText;
  return checked(trace, options, (value) => finding(texts, value, options));
}

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
