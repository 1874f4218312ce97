/** `judges` and the prices of models. */
import { contextTokensLeast, contextTokensMost } from '../../../evaluators/judging/map-reduce.ts';
import { type PriceTable, priceTableSchema } from '../../../evaluators/pricing/prices.ts';
import { codeMembers } from '../../../evaluators/configuration/options.ts';
import { answerFormats, answerTokensDefault, ownBodyMembers, reasoningEfforts } from '../../judges/judge.ts';
import type { JsonObject } from '../../model/json.ts';
import { annotated, bytes, duration, field, integer, mapping, number, object, oneOf, settings, text, type ValueOf } from '../field.ts';
import { budget, clientTls, headers } from './section.ts';

const perMillion = (description: string) => number({ minimum: 0, 'x-unit': 'US dollars per million tokens' }, description);
const tokenPrices = { input_per_million: perMillion('Input tokens.'), output_per_million: perMillion('Output tokens.') };

export const judgesMax = 100;

const judge = object(
  { required: ['model'] },
  {
    base_url: text(
      { 'x-url': true, 'x-secret': 'url', default: 'https://api.openai.com/v1' },
      'Base URL of an endpoint that speaks the OpenAI chat completions protocol.',
    ),
    model: text({ minLength: 1, maxLength: 1000 }, 'Model that is asked.'),
    api_key: text(
      {
        'x-secret': true,
        maxLength: 10_000,
        pattern: '^[!-~]*$',
        'x-words': 'Use visible ASCII characters without blanks.',
        default: '',
      },
      'Key of the endpoint; empty for none. Best given as `${env:NAME}`.',
    ),
    concurrency: integer(8, 1, 1000, 'questions', 'Questions asked at the same time.'),
    tls: clientTls('Certificates for the connection to the endpoint over HTTPS.'),
    timeout: duration('60s', '100ms', '1h', 'Longest wait for one answer.'),
    cache: duration(
      '1d',
      '0s',
      '90d',
      'Time for which an answer to the same question about the same texts is reused; `0s` never reuses it.',
    ),
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
    temperature: number({ minimum: 0, maximum: 2 }, 'Sent with every question; not every model accepts one. Left out: none is sent.'),
    reasoning_effort: oneOf(reasoningEfforts, undefined, 'Sent with every question, for models that reason. Left out: none is sent.'),
    answer_format: oneOf(
      ['auto', ...answerFormats],
      'auto',
      'Format in which a request asks for an answer by its schema. `auto` uses the first of the other formats, in this order, that the endpoint accepts.',
    ),
    headers: headers({ default: {} }, 'Headers of every request, for example for a gateway. Values are secret.'),
    extra_body: field<JsonObject>({
      type: 'object',
      maxProperties: 50,
      default: {},
      description: `Further members of the body of every question, for features of this endpoint. tracejury sets ${ownBodyMembers.map((name) => `\`${name}\``).join(', ')} itself.`,
    }),
    requests_per_minute: integer(
      undefined,
      1,
      1_000_000,
      'requests',
      'Most requests in any sixty seconds, of all processes with one store. `budget.requests_per_minute` is the same limit: the lower one applies.',
    ),
    mode: oneOf(
      ['direct', 'batch'],
      'direct',
      '`direct` asks each question at once. `batch` uses the Batch API of the endpoint, which answers within hours and costs less. The judge asks questions without an answer of the batch, and embeddings, directly.',
    ),
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
      bytes: annotated(bytes('16MiB', '64KiB', '100MiB', 'Most bytes of the file of one batch.'), { type: 'string' }),
      in_flight: integer(
        2,
        1,
        20,
        'batches',
        'Most concurrent batches. The service holds up to this number times `requests` runs in memory.',
      ),
      price: object(
        { required: ['input_per_million', 'output_per_million'] },
        tokenPrices,
        'Prices of tokens in a batch; `price` of the judge when left out.',
      ),
    }),
    budget: budget('Budget of the judge for all evaluators together.'),
    price: object({}, tokenPrices, 'Prices of its tokens.'),
  },
);
export type WrittenJudge = ValueOf<typeof judge>;

export const judges = mapping(
  {
    default: {},
    maxProperties: judgesMax,
    propertyNames: {
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      'x-words': 'Use letters, digits, dots, dashes and underscores, at most 64.',
    },
  },
  judge,
  'Model endpoints that answer the questions of judge evaluators, by name.',
);

export const prices = field<PriceTable>(
  {
    ...priceTableSchema,
    maxProperties: 1000,
    description:
      'Prices in US dollars for the model calls of agents. A model without an entry has the list price of its vendor in [the table](../guides/costs.md#list-prices), if any. A price also applies to the name with a provider before it, and with a date or revision after it. A name that ends in `*` matches every model that begins with it.',
    default: {},
  },
  (value) => codeMembers(priceTableSchema, {}, value),
);
