import { scoreApis } from '../../exporters/index.ts';
import type { ScoreApiBackend, ScoreApiKeyName } from '../../exporters/scores/score-api-backend.ts';
import { spanDetails } from '../../exporters/otlp/evaluation-span.ts';
import { otlpProtocols, verdictOutcomes } from '../../exporters/settings.ts';
import { duration, type Field, flag, integer, list, object, oneOf, settings, text, type ValueOf } from '../field.ts';
import { clientTls, headers, ownName } from './section.ts';

/** Defaults of `forward` only. */
export const forwardDefaults = { holdMs: 10_000, compression: 'none' } as const;

const secretText = (description: string) =>
  text(
    {
      'x-secret': true,
      minLength: 1,
      maxLength: 10_000,
      pattern: '^[!-~]*$',
      'x-words': 'Use visible ASCII characters without blanks.',
    },
    `${description} Best given as \`\${env:NAME}\`.`,
  );
const plainText = (description: string) =>
  text({ minLength: 1, maxLength: 200, pattern: '^[ -~]*$', 'x-words': 'Use ASCII characters in one line.' }, description);

const keys = {
  api_key: secretText(`Key of a backend with a score API.${variablesOf('api_key')}`),
  public_key: plainText(`The public half of the key.${variablesOf('public_key')}`),
  user: plainText(`User of the key, which is then sent as a password.${variablesOf('user')}`),
  project: plainText(`Project of the traces.${variablesOf('project')}`),
  scores: oneOf(
    ['all', 'numeric', 'boolean'],
    undefined,
    'Score types of a verdict for a backend with several. `all` sends the number, the pass or fail, and an own label. `numeric` and `boolean` send one of the first two, and the number without a pass or fail. `all` when left out.',
  ),
  workspace: plainText(`Workspace of the project.${variablesOf('workspace')}`),
} satisfies { readonly [name in ScoreApiKeyName]: Field<string | undefined> };

function variablesOf(name: ScoreApiKeyName): string {
  const variables = scoreApis.flatMap(({ id, keys: own }: ScoreApiBackend) =>
    own[name] === undefined ? [] : [`${own[name].variables.map((variable) => `\`${variable}\``).join(' or ')} (${id})`],
  );
  return variables.length === 0 ? '' : ` When left out: ${variables.join(', ')}.`;
}

export const exportersMax = 20;

const names = (maxLength: number, description: string) =>
  list({ maxItems: 100, default: [] }, text({ minLength: 1, maxLength }), description);

const entry = object(
  { required: ['to'] },
  {
    to: oneOf(
      ['span_events', 'metrics', 'log_events', 'forward', 'webhook', ...scoreApis.map(({ id }) => id)],
      undefined,
      `\`span_events\` sends \`gen_ai.evaluation.result\` events over OTLP on spans, \`log_events\` as log records. \`webhook\` notifies a program or a channel. \`metrics\` is the metrics page of the console listener; with an endpoint it also pushes metrics over OTLP. \`forward\` forwards the agents’ own spans with the verdicts (forward.md). ${scoreApis.map(({ id }) => `\`${id}\``).join(', ')} write scores of that backend (exports.md).`,
    ),
    name: ownName(
      'Unique name of the entry in metrics, in the API and in the rows of waiting scores; the value of `to` when left out. An entry with a new name starts without waiting scores.',
    ),
    endpoint: text(
      { 'x-url': true, 'x-secret': 'url' },
      'Base URL of the backend, without the path of the signal, for example `/v1/traces`; `OTEL_EXPORTER_OTLP_ENDPOINT` when left out. Pushed metrics need this key or `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`. For a backend with a score API, the base URL of that API, or its usual variable when left out.',
    ),
    ...keys,
    headers: headers(
      { default: {} },
      'Headers of every request, for example the key of the backend. When left out, those of `OTEL_EXPORTER_OTLP_HEADERS`.',
    ),
    give_up: settings(
      'Bounds after which unsent scores of a run become a dead letter. Scores that the backend refuses for good become one at once.',
      {
        attempts: integer(100, 1, 100_000, 'attempts', 'Failed attempts, without those that test whether a backend is up again.'),
        age: duration(
          '7d',
          '1m',
          '3650d',
          'Age at a failed attempt. While a backend is down there are no attempts, so waiting scores may grow older.',
        ),
        missing: duration(
          '10m',
          '1s',
          '30d',
          'Age at a failed attempt of scores whose span or trace the backend lacks. Applies to backends with a score API.',
        ),
      },
    ),
    judge_calls: flag(
      true,
      'Sends judge calls as spans too, without texts: each verdict has its own trace with a link to the run. Only for `span_events`.',
    ),
    detail: oneOf(
      spanDetails,
      undefined,
      'Content of an evaluation span. `lean`: each verdict as an event, and tool calls that fail or are evidence. `full`: also every other tool call, and the verdicts as OpenInference annotations, at about three times the bytes. Only for `span_events`. Defaults to `lean`.',
    ),
    interval: duration('60s', '1s', '1h', 'Interval of pushes. Only for `metrics`.'),
    temporality: oneOf(
      ['cumulative', 'delta'],
      'cumulative',
      '`cumulative` pushes counts since the start, `delta` counts since the last successful push. Only for `metrics`.',
    ),
    body: oneOf(
      ['json', 'slack'],
      'json',
      '`json` for programs, `slack` for incoming webhooks of Slack, Mattermost and Rocket.Chat. Only for `webhook`, like the five keys below.',
    ),
    secret: secretText('Signs every message: a text of at least 24 bytes, or `whsec_` and base64 (docs/guides/webhooks.md).'),
    only: settings('The verdicts that send a message; a run without them sends none.', {
      verdicts: list(
        { maxItems: 3, default: ['fail'] },
        oneOf(verdictOutcomes, undefined),
        'Outcomes. `error` is a failed evaluation. If `fail` or `error` is listed, a run that is too large for a guard (permissions, injections) sends a message too.',
      ),
      labels: names(200, 'Labels that send a message too, with any outcome.'),
      evaluators: names(100, 'Names of evaluators; all when empty.'),
      agents: names(1000, 'Names of agents; all when empty.'),
    }),
    per_minute: integer(
      10,
      1,
      600,
      'messages',
      'Messages in a minute, with bursts of up to three. The next message contains all runs that are ready meanwhile: ten in detail, the others as a count.',
    ),
    private_addresses: flag(
      false,
      'True allows an endpoint on this machine or in a private network. Otherwise the service refuses such addresses, also behind a name.',
    ),
    link: text({ 'x-url': true, maxLength: 2000 }, 'URL of a page of the run, with `{trace_id}` and `{span_id}` as placeholders.'),
    protocol: oneOf(
      otlpProtocols,
      'http/protobuf',
      'Encoding and transport. `grpc` uses only the host and the port of the endpoint. Phoenix and pushed metrics need `http/protobuf`; `forward` sends no JSON.',
    ),
    hold: duration(
      undefined,
      '0ms',
      '10m',
      `Longest wait of spans for the verdicts of their run; later verdicts follow on an evaluation span. Only \`forward\` takes it; ${forwardDefaults.holdMs / 1_000}s when left out.`,
    ),
    compression: oneOf(
      ['none', 'gzip'],
      undefined,
      `Compression of requests. Only for \`forward\`. Defaults to ${forwardDefaults.compression}.`,
    ),
    tls: clientTls(
      'Certificates for the connection to a backend over HTTPS, or gRPC over TLS. OTLP exporters use `OTEL_EXPORTER_OTLP_CERTIFICATE`, `OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE` and `OTEL_EXPORTER_OTLP_CLIENT_KEY` when left out.',
    ),
  },
);
export type WrittenExporter = ValueOf<typeof entry>;

export const exporters = list(
  { default: [{ to: 'metrics' }], maxItems: exportersMax },
  entry,
  'Destinations of scores, each independent of the others. The metrics page always exists.',
);
