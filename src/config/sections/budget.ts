/** A budget, as it stands under a judge and under an evaluator. */
import type { JsonSchema } from '../../../evaluators/evaluator.ts';

const count = (unit: 'requests' | 'tokens', description: string) =>
  ({ type: 'integer', minimum: 0, maximum: 1_000_000_000_000, 'x-unit': unit, description }) as const;

export function budgetSchema(description: string): JsonSchema {
  return {
    type: 'object',
    description: `${description} What does not fit into a day is not asked; what does not fit into a minute waits.`,
    additionalProperties: false,
    minProperties: 1,
    properties: {
      usd_per_day: {
        type: 'number',
        minimum: 0,
        maximum: 1_000_000,
        'x-unit': 'US dollars',
        description: 'Most that a day (UTC) may cost. It needs the `price` of the judge, of input and of output tokens.',
      },
      requests_per_day: count('requests', 'Most requests of a day (UTC), repeated ones among them.'),
      tokens_per_day: count('tokens', 'Most tokens of a day (UTC), of questions and answers together.'),
      requests_per_minute: { ...count('requests', 'Most requests in any sixty seconds.'), minimum: 1 },
      tokens_per_minute: {
        ...count('tokens', 'Most tokens in any sixty seconds; a request that may need more than that goes alone.'),
        minimum: 1,
      },
    },
  };
}
