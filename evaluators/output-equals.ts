/** The output equals a value that the configuration names. */
import { plainText, type JsonValue } from '../src/model/json.ts';
import { valueEqual } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, targetOptions } from './evidence/target.ts';
import { quoted } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag, required } from './configuration/option-table.ts';

export const outputEquals = rule({
  id: 'output_equals',
  version: 2,
  summary: 'The output equals the configured value.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    value: required<JsonValue>(
      { description: 'The value that is wanted; a text output is read as JSON where this is an object or a list. Required.' },
      null,
    ),
    case_sensitive: flag('Upper and lower case of texts count.', true),
    ...targetOptions,
  },
  source: 'Sentinel AI outputEquals, with one number type',
  evaluate({ trace }, options) {
    return checked(trace, options, (value) => {
      const equal = valueEqual(options.value, value, { text: options.caseSensitive, inside: options.caseSensitive });
      const wanted = quoted(plainText(options.value));
      return {
        score: rational(equal ? 1 : 0),
        says: equal ? `equals ${wanted}` : `is ${quoted(plainText(value))} instead of ${wanted}`,
        details: {},
      };
    });
  },
});
