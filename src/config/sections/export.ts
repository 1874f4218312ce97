import { httpHeadersSchema } from '../../../evaluators/http.ts';
import { scoreApis } from '../../exporters/index.ts';
import type { ScoreApiBackend, ScoreApiKeyName } from '../../exporters/scores/score-api-backend.ts';
import { spanDetails } from '../../exporters/otlp/evaluation-span.ts';
import { otlpProtocols } from '../../exporters/settings.ts';
import type { JsonObject } from '../../model/json.ts';
import { clientTlsSchema, type Section, integer, duration, settings } from './section.ts';

/** Of `forward` alone, so that they are in no other entry. */
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
  api_key: secretText(`Key of a backend with scores of its own.${variablesOf('api_key')}`),
  public_key: plainText(`The public half of the key.${variablesOf('public_key')}`),
  user: plainText(`User to whom the key belongs; it is then sent as a password.${variablesOf('user')}`),
  project: plainText(`Project in which the traces are.${variablesOf('project')}`),
  scores: {
    enum: ['all', 'numeric', 'boolean'],
    description:
      'What a verdict becomes where a backend has several types of scores. `all` sends its number, whether it passes, and a label of its own. The others send one of the first two, and the number where nothing passes or fails. `all` when left out.',
  },
  workspace: plainText(`Workspace in which the project is.${variablesOf('workspace')}`),
};

function variablesOf(name: ScoreApiKeyName): string {
  const variables = scoreApis.flatMap(({ id, keys: own }: ScoreApiBackend) =>
    own[name] === undefined ? [] : [`${own[name].variables.map((variable) => `\`${variable}\``).join(' or ')} (${id})`],
  );
  return variables.length === 0 ? '' : ` When left out: ${variables.join(', ')}.`;
}

export const exportersMax = 20;

/** Where scores can go. The names of all exporters are known from the start, so that a configuration outlives a release. */
export const exportSection: Section = {
  key: 'export',
  schema: {
    type: 'array',
    description: 'Where scores are sent, each entry by itself. The metrics page is always there.',
    default: [{ to: 'metrics' }],
    maxItems: exportersMax,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['to'],
      properties: {
        to: {
          enum: ['span_events', 'metrics', 'log_events', 'forward', 'webhook', ...scoreApis.map(({ id }) => id)],
          description: `\`span_events\` sends \`gen_ai.evaluation.result\` events over OTLP on spans, \`log_events\` as log records. \`webhook\` notifies a program or a channel. \`metrics\` is the metrics page of the console listener; where an endpoint is named, the same metrics go there over OTLP. \`forward\` sends the agents’ own spans on, with the verdicts on them (forward.md). ${scoreApis.map(({ id }) => `\`${id}\``).join(', ')} write scores of that backend (exports.md).`,
        },
        name: {
          type: 'string',
          pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$',
          'x-words': 'Use letters, digits, dots, dashes and underscores, at most 100.',
          description:
            'Name of the entry in metrics, in the API and in the rows of waiting scores. The value of `to` when left out. No two entries may share one. Under another name an entry begins anew.',
        },
        endpoint: {
          type: 'string',
          'x-url': true,
          'x-secret': 'url',
          description:
            'Base URL of the backend. The path of the signal, for example `/v1/traces`, is added. `OTEL_EXPORTER_OTLP_ENDPOINT` when left out. Metrics are pushed only where this, or `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`, names a backend. For a backend with a score API, the base URL of that API, or its usual variable when left out.',
        },
        ...keys,
        headers: {
          ...httpHeadersSchema,
          default: {},
          description:
            'Headers of every request, for example the key of the backend. When left out, those of `OTEL_EXPORTER_OTLP_HEADERS`.',
        },
        give_up: settings(
          'When the scores of a run that fail to be sent become a dead letter. One that the backend refuses for good is one at once.',
          {
            attempts: integer(
              giveUpDefaults.attempts,
              1,
              100_000,
              'attempts',
              'Failed attempts. Those that only see whether a backend that was down is there again do not count.',
            ),
            age: duration(
              giveUpDefaults.age,
              '1m',
              '3650d',
              'Age at a failed attempt. What waits for a backend that is down is not attempted, so it grows older than this.',
            ),
            missing: duration(
              giveUpDefaults.missing,
              '1s',
              '30d',
              'Age at a failed attempt, of scores whose span or trace the backend does not have. Holds for backends with scores of their own.',
            ),
          },
        ),
        judge_calls: {
          type: 'boolean',
          default: true,
          description:
            'Calls to judges are sent as spans too, each verdict in a trace of its own, linked with the run; no text is in them. Only `span_events` does.',
        },
        detail: {
          enum: [...spanDetails],
          description:
            'What stands on an evaluation span. `lean`: each verdict as an event, and of tool calls those that fail or are evidence. `full`: every tool call too, and the verdicts once more as annotations of OpenInference, at about three times the bytes. Of `span_events` alone; `lean` when left out.',
        },
        interval: duration(pushDefaults.interval, '1s', '1h', 'How often metrics are pushed. Of `metrics` alone.'),
        temporality: {
          enum: ['cumulative', 'delta'],
          default: pushDefaults.temporality,
          description:
            '`cumulative` pushes what was counted since the start, `delta` since what the backend took last. Of `metrics` alone.',
        },
        body: {
          enum: ['json', 'slack'],
          default: 'json',
          description:
            '`json` for programs, `slack` for a channel: the text that incoming webhooks of Slack, Mattermost and Rocket.Chat take. Of `webhook` alone, as the five keys below.',
        },
        secret: secretText('Signs every message: a text of at least 24 bytes, or `whsec_` and base64 (docs/explanation/exports.md).'),
        only: settings('The verdicts that send a message. A run without them sends none.', {
          verdicts: {
            type: 'array',
            maxItems: 3,
            items: { enum: ['fail', 'pass', 'error'] },
            default: [...webhookDefaults.verdicts],
            description:
              'Outcomes. `error` is an evaluation that failed itself. With `fail` or `error`, a run that is too large for a guard (permissions, injections) sends a message too.',
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
          'Messages in a minute; up to three may go at once. Runs that are ready meanwhile go together in the next one, ten of them one by one and the others as a count.',
        ),
        private_addresses: {
          type: 'boolean',
          default: false,
          description:
            'True: the endpoint may be on this machine or in a network of your own. Else such addresses are refused, also when a name turns out to lead there.',
        },
        link: {
          type: 'string',
          'x-url': true,
          maxLength: 2000,
          description: 'Where a person sees the run; `{trace_id}` and `{span_id}` in it are replaced.',
        },
        protocol: {
          enum: [...otlpProtocols],
          default: 'http/protobuf',
          description:
            'Encoding, and what carries it. With `grpc` only the host and the port of the endpoint count. Phoenix takes protobuf only over HTTP, and metrics are pushed as nothing else; `forward` sends no JSON.',
        },
        hold: duration(
          undefined,
          '0ms',
          '10m',
          `How long spans wait for the verdicts of their run. Then they go on, and a span of ours follows with the verdicts. Of \`forward\` alone; ${forwardDefaults.hold} when left out.`,
        ),
        compression: {
          enum: ['none', 'gzip'],
          description: `What goes on is compressed, or not. Of \`forward\` alone; ${forwardDefaults.compression} when left out.`,
        },
        tls: clientTlsSchema(
          'Certificates for the connection to a backend over HTTPS, or gRPC over TLS. Of what goes over OTLP, those of `OTEL_EXPORTER_OTLP_CERTIFICATE`, `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE` and `OTEL_EXPORTER_OTLP_CLIENT_KEY` when left out.',
        ),
      },
    },
  },
};
