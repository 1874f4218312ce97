/** The output equals a value that the configuration names. */
import { plainText } from '../src/model/json.ts';
import type { JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import type { RuleEvaluator, Subject } from './evaluator.ts';
import { valueEqual } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, targetDefaults, targetSchema } from './evidence/target.ts';
import type { TargetOptions } from './evidence/target.ts';
import { quoted } from './explain/explanation.ts';

export interface OutputEqualsOptions extends TargetOptions {
  readonly value: JsonValue;
  readonly caseSensitive: boolean;
}

export const outputEquals = {
  kind: 'rule',
  id: 'output_equals',
  version: 2,
  summary: 'The output equals the configured value.',
  needs: ['final_response'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { value: null, caseSensitive: true, ...targetDefaults },
  optionsSchema: targetSchema(
    {
      value: { description: 'The value that is wanted; a text output is read as JSON where this is an object or a list. Required.' },
      case_sensitive: { type: 'boolean', description: 'Upper and lower case of texts count.' },
    },
    ['value'],
  ),
  source: 'Sentinel AI outputEquals, with one number type',
  evaluate,
} as const satisfies RuleEvaluator<OutputEqualsOptions>;

function evaluate({ trace }: Subject, options: OutputEqualsOptions): Outcome {
  return checked(trace, options, (value) => {
    const equal = valueEqual(options.value, value, { text: options.caseSensitive, inside: options.caseSensitive });
    const wanted = quoted(plainText(options.value));
    return {
      score: rational(equal ? 1 : 0),
      says: equal ? `equals ${wanted}` : `is ${quoted(plainText(value))} instead of ${wanted}`,
      details: {},
    };
  });
}
