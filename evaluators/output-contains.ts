/** The output contains a text that the configuration names. */
import { searchOutcome, searchedText } from './matching/texts.ts';
import { checked, targetOptions } from './evidence/target.ts';
import { rule } from './configuration/define.ts';
import { flag, required } from './configuration/option-table.ts';

export const outputContains = rule({
  id: 'output_contains',
  version: 2,
  summary: 'The output contains the configured text.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    text: required({ type: 'string', maxLength: 10_000, description: 'The text that must stand in the output. Required.' }, ''),
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
