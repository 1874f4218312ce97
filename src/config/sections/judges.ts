/** `judges` and the prices of models. */
import { httpHeadersSchema } from '../../../evaluators/http.ts';
import { contextTokensLeast, contextTokensMost } from '../../../evaluators/judging/map-reduce.ts';
import { priceTableSchema } from '../../../evaluators/pricing/prices.ts';
import { answerFormats, ownBodyMembers, reasoningEfforts } from '../../judges/judge.ts';
import { budgetSchema, clientTlsSchema, duration, integer, type Section, settings } from './section.ts';

const perMillion = (description: string) =>
  ({ type: 'number', minimum: 0, 'x-unit': 'US dollars per million tokens', description }) as const;

export const judgesMax = 100;

/** For a judge with a budget: a reservation needs the most that a call may cost. */
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
        cache: duration('1d', '0s', '90d', 'How long an answer to the same question about the same texts is reused; `0s` never reuses it.'),
        context_tokens: integer(
          undefined,
          contextTokensLeast,
          contextTokensMost,
          'tokens',
          'Tokens that a question and its answer may take together, for entries with `map: reduce`. Left out: a block of a question is as long as without `map`.',
        ),
        answer_tokens: integer(
          undefined,
          1,
          1_000_000,
          'tokens',
          `Most tokens of one answer with its reasoning, sent as \`max_completion_tokens\`. Left out: no limit, or ${answerTokensDefault} with a budget in money or tokens.`,
        ),
        max_output_tokens: integer(
          undefined,
          1,
          1_000_000,
          'tokens',
          'The same as `answer_tokens`, under the usual name of other clients. Set only one of the two.',
        ),
        temperature: {
          type: 'number',
          minimum: 0,
          maximum: 2,
          description: 'Sent with every question; not every model accepts one. Left out: none is sent.',
        },
        reasoning_effort: {
          enum: reasoningEfforts,
          description: 'Sent with every question, for models that reason. Left out: none is sent.',
        },
        answer_format: {
          enum: ['auto', ...answerFormats],
          default: 'auto',
          description:
            'How a request asks for an answer by its schema. `auto` uses the first of the other formats, in this order, that the endpoint accepts.',
        },
        headers: {
          ...httpHeadersSchema,
          default: {},
          description: 'Headers of every request, for example for a gateway. Values are secret.',
        },
        extra_body: {
          type: 'object',
          maxProperties: 50,
          default: {},
          description: `Further members of the body of every question, for features of this endpoint. tracejury sets ${ownBodyMembers.map((name) => `\`${name}\``).join(', ')} itself.`,
        },
        requests_per_minute: integer(
          undefined,
          1,
          1_000_000,
          'requests',
          'Most requests in any sixty seconds, of all processes with one store. `budget.requests_per_minute` is the same limit: the lower one applies.',
        ),
        mode: {
          enum: ['direct', 'batch'],
          default: 'direct',
          description:
            '`direct` asks each question at once. `batch` uses the Batch API of the endpoint, which answers within hours and costs less. The judge asks questions without an answer of the batch, and embeddings, directly.',
        },
        batch: settings('Batches of questions, with `mode: batch`.', {
          poll: duration('30s', '1s', '1h', 'Time between two polls of the open batches.'),
          gather: duration('1m', '1s', '6h', 'Longest wait for more questions before a batch starts.'),
          within: duration(
            '24h',
            '1m',
            '7d',
            'Cancels a batch that takes longer, and asks its open questions directly. Endpoints end batches after a day.',
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
            'Most concurrent batches. The service holds up to this number times `requests` runs in memory.',
          ),
          price: {
            type: 'object',
            description: 'Prices of tokens in a batch; `price` of the judge when left out.',
            additionalProperties: false,
            required: ['input_per_million', 'output_per_million'],
            properties: { input_per_million: perMillion('Input tokens.'), output_per_million: perMillion('Output tokens.') },
          },
        }),
        budget: budgetSchema('Budget of the judge for all evaluators together.'),
        price: {
          type: 'object',
          description: 'Prices of its tokens.',
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
      'Prices in US dollars for the model calls of agents. A model without an entry has the list price of its vendor in [the table](../guides/costs.md#list-prices), if any. A price also applies to the name with a provider before it, and with a date or revision after it. A name that ends in `*` stands for every model that begins with it.',
    default: {},
  },
};
