/** The output contains a text that the configuration names. */
import type { Outcome } from '../src/model/verdict.ts';
import type { RuleEvaluator, Subject } from './evaluator.ts';
import { searchOutcome, searchedText } from './matching/texts.ts';
import { checked, targetDefaults, targetSchema } from './evidence/target.ts';
import type { TargetOptions } from './evidence/target.ts';

export interface OutputContainsOptions extends TargetOptions {
  readonly text: string;
  readonly caseSensitive: boolean;
}

export const outputContains = {
  kind: 'rule',
  id: 'output_contains',
  version: 2,
  summary: 'The output contains the configured text.',
  needs: ['final_response'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { text: '', caseSensitive: false, ...targetDefaults },
  optionsSchema: targetSchema(
    {
      text: { type: 'string', maxLength: 10_000, description: 'The text that must stand in the output. Required.' },
      case_sensitive: { type: 'boolean', description: 'Upper and lower case count.' },
    },
    ['text'],
  ),
  source: 'Sentinel AI outputContains',
  evaluate,
} as const satisfies RuleEvaluator<OutputContainsOptions>;

function evaluate({ trace }: Subject, options: OutputContainsOptions): Outcome {
  return checked(trace, options, (value) =>
    searchOutcome(searchedText(value), [options.text], { match: 'all', caseSensitive: options.caseSensitive }),
  );
}
