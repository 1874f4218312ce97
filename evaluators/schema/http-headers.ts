/** The schema of the headers of a request, wherever a configuration gives them (RFC 9110, 5.1 and 5.5). Their values are secret. */
import type { JsonSchema } from '../evaluator.ts';

export const httpHeadersSchema = {
  type: 'object',
  maxProperties: 100,
  propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", 'x-words': 'Write the name of an HTTP header.' },
  additionalProperties: {
    type: 'string',
    maxLength: 10_000,
    pattern: '^[ -~]*$',
    'x-words': 'Use ASCII characters in one line.',
    'x-secret': true,
  },
} as const satisfies JsonSchema;
