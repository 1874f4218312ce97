/** `judges` and the prices of models. */
import { httpHeadersSchema } from '../../../evaluators/http.ts';
import { priceTableSchema } from '../../../evaluators/pricing/prices.ts';
import { answerFormats, ownBodyMembers, reasoningEfforts } from '../../judges/judge.ts';
import { budgetSchema, clientTlsSchema, duration, integer, type Section, settings } from './section.ts';

const perMillion = (description: string) =>
  ({ type: 'number', minimum: 0, 'x-unit': 'US dollars per million tokens', description }) as const;

export const judgesMax = 100;

/** Of a judge with a budget: what a call may cost must be known before it is asked. */
export const answerTokensDefault = 8_192;

export const judges: Section = {
  key: 'judges',
  schema: {
    type: 'object',
    description: 'Model endpoints that answer the questions of judge evaluators, by name.',
    default: {},
    maxProperties: judgesMax,
    propertyNames: {
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      'x-words': 'Use letters, digits, dots, dashes and underscores, at most 64.',
    },
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      required: ['model'],
      properties: {
        base_url: {
          type: 'string',
          'x-url': true,
          'x-secret': 'url',
          default: 'https://api.openai.com/v1',
          description: 'Base URL of an endpoint that speaks the OpenAI chat completions protocol.',
        },
        model: { type: 'string', minLength: 1, maxLength: 1000, description: 'Model that is asked.' },
        api_key: {
          type: 'string',
          'x-secret': true,
          maxLength: 10_000,
          pattern: '^[!-~]*$',
          'x-words': 'Use visible ASCII characters without blanks.',
          default: '',
          description: 'Key of the endpoint; empty for none. Best given as `${env:NAME}`.',
        },
        concurrency: integer(8, 1, 1000, 'questions', 'Questions asked at the same time.'),
        tls: clientTlsSchema('Certificates for the connection to the endpoint over HTTPS.'),
        timeout: duration('60s', '100ms', '1h', 'Longest wait for one answer.'),
        cache: duration(
          '1d',
          '0s',
          '90d',
          'How long an answer stands when the same question is asked about the same texts; `0s`: each time is asked anew.',
        ),
        answer_tokens: integer(
          undefined,
          1,
          1_000_000,
          'tokens',
          `Most tokens of one answer, those of reasoning among them; sent as \`max_completion_tokens\`. Left out: no limit is sent, unless a budget counts money or tokens: then ${answerTokensDefault}.`,
        ),
        max_output_tokens: integer(
          undefined,
          1,
          1_000_000,
          'tokens',
          'The same as `answer_tokens`, by the name that most clients have for it. One of the two.',
        ),
        temperature: {
          type: 'number',
          minimum: 0,
          maximum: 2,
          description: 'Sent with every question; not every model takes one. Left out: none is sent.',
        },
        reasoning_effort: {
          enum: reasoningEfforts,
          description: 'Sent with every question, for models that reason. Left out: none is sent.',
        },
        answer_format: {
          enum: ['auto', ...answerFormats],
          default: 'auto',
          description:
            'How the endpoint is asked to keep to the schema of an answer. `auto`: the first of the others, in this order, that it does not refuse. A format that is named is the only one that is asked for.',
        },
        headers: {
          ...httpHeadersSchema,
          default: {},
          description: 'Headers of every request, for example what a gateway wants to know. Values are secret.',
        },
        extra_body: {
          type: 'object',
          maxProperties: 50,
          default: {},
          description: `Further members of the body of every question, for what only this endpoint knows. Not ${ownBodyMembers.map((name) => `\`${name}\``).join(', ')}: these are set by tracejury.`,
        },
        requests_per_minute: integer(
          undefined,
          1,
          1_000_000,
          'requests',
          'Most requests in any sixty seconds, of all processes over one store. `budget.requests_per_minute` is the same limit: the lower one holds.',
        ),
        mode: {
          enum: ['direct', 'batch'],
          default: 'direct',
          description:
            '`direct`: each question by itself, at once. `batch`: many together through the Batch API of the endpoint, which answers within hours and costs less. A question that the batch does not answer is asked directly. Vectors are always asked for directly.',
        },
        batch: settings('How questions go together, with `mode: batch`.', {
          poll: duration('30s', '1s', '1h', 'Time between two polls of the open batches.'),
          gather: duration('1m', '1s', '6h', 'How long questions gather before a batch goes that is not full.'),
          within: duration(
            '24h',
            '1m',
            '7d',
            'A batch that takes longer is cancelled, and what it has not answered is asked directly. Endpoints end batches by themselves after a day.',
          ),
          requests: integer(500, 1, 2_000, 'questions', 'Most questions of one batch.'),
          bytes: {
            type: 'string',
            'x-quantity': { kind: 'bytes', minimum: '64KiB', maximum: '100MiB' },
            default: '16MiB',
            description: 'Most bytes of the file of one batch.',
          },
          in_flight: integer(
            2,
            1,
            20,
            'batches',
            'Most batches at one time. So many times `requests` runs are held in memory while they wait for them.',
          ),
          price: {
            type: 'object',
            description: 'What tokens cost in a batch; `price` of the judge when left out.',
            additionalProperties: false,
            required: ['input_per_million', 'output_per_million'],
            properties: { input_per_million: perMillion('Input tokens.'), output_per_million: perMillion('Output tokens.') },
          },
        }),
        budget: budgetSchema('What may be asked of the judge, by all evaluators together.'),
        price: {
          type: 'object',
          description: 'What its tokens cost.',
          additionalProperties: false,
          properties: { input_per_million: perMillion('Input tokens.'), output_per_million: perMillion('Output tokens.') },
        },
      },
    },
  },
};

export const prices: Section = {
  key: 'prices',
  schema: {
    ...priceTableSchema,
    maxProperties: 1000,
    description:
      'Prices in US dollars of the models that agents use, for the cost of their own model calls. A model without an entry has the list price of its vendor, where [the table](../guides/costs.md#list-prices) has one. A price also holds for the name with a provider before it, and with a date or revision behind it. A name that ends in `*` stands for every model that begins with it.',
    default: {},
  },
};
