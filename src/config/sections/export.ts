import { httpHeadersSchema } from '../../../evaluators/http.ts';
import { scoreApis } from '../../exporters/index.ts';
import type { ScoreApiBackend, ScoreApiKeyName } from '../../exporters/scores/score-api-backend.ts';
import { spanDetails } from '../../exporters/otlp/evaluation-span.ts';
import { otlpProtocols } from '../../exporters/settings.ts';
import type { JsonObject } from '../../model/json.ts';
import { clientTlsSchema, type Section, integer, duration, settings } from './section.ts';

/** Defaults that only `forward` has. */
export const forwardDefaults = { hold: '10s', compression: 'none' } as const;
export const pushDefaults = { interval: '60s', temporality: 'cumulative' } as const;
export const webhookDefaults = { verdicts: ['fail'], per_minute: 10 } as const;
export const giveUpDefaults = { attempts: 100, age: '7d', missing: '10m' } as const;

const secretText = (description: string) =>
  ({
    type: 'string',
    'x-secret': true,
    minLength: 1,
    maxLength: 10_000,
    pattern: '^[!-~]*$',
    'x-words': 'Use visible ASCII characters without blanks.',
    description: `${description} Best given as \`\${env:NAME}\`.`,
  }) as const;
const plainText = (description: string) =>
  ({
    type: 'string',
    minLength: 1,
    maxLength: 200,
    pattern: '^[ -~]*$',
    'x-words': 'Use ASCII characters in one line.',
    description,
  }) as const;

const keys: { readonly [name in ScoreApiKeyName]: JsonObject } = {
  api_key: secretText(`Key of a backend with a score API.${variablesOf('api_key')}`),
  public_key: plainText(`The public half of the key.${variablesOf('public_key')}`),
  user: plainText(`User of the key, which is then sent as a password.${variablesOf('user')}`),
  project: plainText(`Project of the traces.${variablesOf('project')}`),
  scores: {
    enum: ['all', 'numeric', 'boolean'],
    description:
      'Score types of a verdict for a backend with several. `all` sends the number, the pass or fail, and an own label. `numeric` and `boolean` send one of the first two, and the number without a pass or fail. `all` when left out.',
  },
  workspace: plainText(`Workspace of the project.${variablesOf('workspace')}`),
};

function variablesOf(name: ScoreApiKeyName): string {
  const variables = scoreApis.flatMap(({ id, keys: own }: ScoreApiBackend) =>
    own[name] === undefined ? [] : [`${own[name].variables.map((variable) => `\`${variable}\``).join(' or ')} (${id})`],
  );
  return variables.length === 0 ? '' : ` When left out: ${variables.join(', ')}.`;
}

export const exportersMax = 20;

export const exportSection: Section = {
  key: 'export',
  schema: {
    type: 'array',
    description: 'Destinations of scores, each independent of the others. The metrics page always exists.',
    default: [{ to: 'metrics' }],
    maxItems: exportersMax,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['to'],
      properties: {
        to: {
          enum: ['span_events', 'metrics', 'log_events', 'forward', 'webhook', ...scoreApis.map(({ id }) => id)],
          description: `\`span_events\` sends \`gen_ai.evaluation.result\` events over OTLP on spans, \`log_events\` as log records. \`webhook\` notifies a program or a channel. \`metrics\` is the metrics page of the console listener; with an endpoint it also pushes metrics over OTLP. \`forward\` forwards the agents’ own spans with the verdicts (forward.md). ${scoreApis.map(({ id }) => `\`${id}\``).join(', ')} write scores of that backend (exports.md).`,
        },
        name: {
          type: 'string',
          pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$',
          'x-words': 'Use letters, digits, dots, dashes and underscores, at most 100.',
          description:
            'Unique name of the entry in metrics, in the API and in the rows of waiting scores; the value of `to` when left out. With another name an entry starts without waiting scores.',
        },
        endpoint: {
          type: 'string',
          'x-url': true,
          'x-secret': 'url',
          description:
            'Base URL of the backend, without the path of the signal, for example `/v1/traces`; `OTEL_EXPORTER_OTLP_ENDPOINT` when left out. Pushed metrics need this key or `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`. For a backend with a score API, the base URL of that API, or its usual variable when left out.',
        },
        ...keys,
        headers: {
          ...httpHeadersSchema,
          default: {},
          description:
            'Headers of every request, for example the key of the backend. When left out, those of `OTEL_EXPORTER_OTLP_HEADERS`.',
        },
        give_up: settings(
          'Bounds after which unsent scores of a run become a dead letter. Scores that the backend refuses for good become one at once.',
          {
            attempts: integer(
              giveUpDefaults.attempts,
              1,
              100_000,
              'attempts',
              'Failed attempts, without those that test whether a backend is up again.',
            ),
            age: duration(
              giveUpDefaults.age,
              '1m',
              '3650d',
              'Age at a failed attempt. While a backend is down there are no attempts, so waiting scores may grow older.',
            ),
            missing: duration(
              giveUpDefaults.missing,
              '1s',
              '30d',
              'Age at a failed attempt of scores whose span or trace the backend lacks. Applies to backends with a score API.',
            ),
          },
        ),
        judge_calls: {
          type: 'boolean',
          default: true,
          description:
            'Sends judge calls as spans too, without texts: each verdict has its own trace with a link to the run. For `span_events` only.',
        },
        detail: {
          enum: [...spanDetails],
          description:
            'Content of an evaluation span. `lean`: each verdict as an event, and tool calls that fail or are evidence. `full`: also every other tool call, and the verdicts as OpenInference annotations, at about three times the bytes. For `span_events` only; `lean` when left out.',
        },
        interval: duration(pushDefaults.interval, '1s', '1h', 'Interval of pushes. For `metrics` only.'),
        temporality: {
          enum: ['cumulative', 'delta'],
          default: pushDefaults.temporality,
          description: '`cumulative` pushes counts since the start, `delta` counts since the last successful push. For `metrics` only.',
        },
        body: {
          enum: ['json', 'slack'],
          default: 'json',
          description:
            '`json` for programs, `slack` for incoming webhooks of Slack, Mattermost and Rocket.Chat. For `webhook` only, as the five keys below.',
        },
        secret: secretText('Signs every message: a text of at least 24 bytes, or `whsec_` and base64 (docs/explanation/exports.md).'),
        only: settings('The verdicts that send a message; a run without them sends none.', {
          verdicts: {
            type: 'array',
            maxItems: 3,
            items: { enum: ['fail', 'pass', 'error'] },
            default: [...webhookDefaults.verdicts],
            description:
              'Outcomes. `error` is a failed evaluation. With `fail` or `error`, a run that is too large for a guard (permissions, injections) sends a message too.',
          },
          labels: {
            type: 'array',
            maxItems: 100,
            items: { type: 'string', minLength: 1, maxLength: 200 },
            default: [],
            description: 'Labels that send a message too, with any outcome.',
          },
          evaluators: {
            type: 'array',
            maxItems: 100,
            items: { type: 'string', minLength: 1, maxLength: 100 },
            default: [],
            description: 'Names of evaluators; all when empty.',
          },
          agents: {
            type: 'array',
            maxItems: 100,
            items: { type: 'string', minLength: 1, maxLength: 1000 },
            default: [],
            description: 'Names of agents; all when empty.',
          },
        }),
        per_minute: integer(
          webhookDefaults.per_minute,
          1,
          600,
          'messages',
          'Messages in a minute, with bursts of up to three. The next message contains all runs that are ready meanwhile: ten in detail, the others as a count.',
        ),
        private_addresses: {
          type: 'boolean',
          default: false,
          description:
            'True allows an endpoint on this machine or in a private network. Otherwise the service refuses such addresses, also behind a name.',
        },
        link: {
          type: 'string',
          'x-url': true,
          maxLength: 2000,
          description: 'URL of a page of the run, with `{trace_id}` and `{span_id}` as placeholders.',
        },
        protocol: {
          enum: [...otlpProtocols],
          default: 'http/protobuf',
          description:
            'Encoding and transport. `grpc` uses only the host and the port of the endpoint. Phoenix and pushed metrics need `http/protobuf`; `forward` sends no JSON.',
        },
        hold: duration(
          undefined,
          '0ms',
          '10m',
          `Longest wait of spans for the verdicts of their run; later verdicts follow on an evaluation span. For \`forward\` only; ${forwardDefaults.hold} when left out.`,
        ),
        compression: {
          enum: ['none', 'gzip'],
          description: `Compression of requests. For \`forward\` only; ${forwardDefaults.compression} when left out.`,
        },
        tls: clientTlsSchema(
          'Certificates for the connection to a backend over HTTPS, or gRPC over TLS. OTLP exporters use `OTEL_EXPORTER_OTLP_CERTIFICATE`, `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE` and `OTEL_EXPORTER_OTLP_CLIENT_KEY` when left out.',
        ),
      },
    },
  },
};
