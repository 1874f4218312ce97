import { httpHeadersSchema } from '../../../evaluators/http.ts';
import { type Section, settings } from './section.ts';
import { upstreamProbabilityMin } from '../../pipeline/evaluation/sampling.ts';
import { metricVersionsDefault } from '../../telemetry/registry.ts';

export const limits: Section = {
  key: 'limits',
  schema: settings('Upper bounds. At a bound the service refuses a request, which the client may retry, or counts the rest.', {
    body_bytes: bytes('16MiB', '1KiB', '1GiB', 'Largest request body on the wire.'),
    inflated_bytes: bytes('64MiB', '1KiB', '4GiB', 'Largest request body after decompression. At least `body_bytes`.'),
    memory_bytes: bytes(
      '512MiB',
      '1MiB',
      '1TiB',
      'Memory of the process. Near the limit the service evicts closed runs, then answers requests with 429. It needs at least 320 MiB, some 200 MiB of it for itself. At least `inflated_bytes`.',
    ),
    journal_bytes: bytes(
      '4GiB',
      '16MiB',
      '64TiB',
      'Disk space for the journal; beyond it requests get 503. A journal `memory:` takes at most three sixteenths of `memory_bytes`.',
    ),
    closing_lag: duration(
      '5s',
      '100ms',
      '10m',
      'Largest lag of the closing of runs. From a fifth of it on the service admits no more than it completes. From a quarter on it asks no judge, from a half on it stores no content. A burst after a calm time sheds neither while it fits in memory. Beyond it requests get 429.',
    ),
    retry_after: duration('30s', '1s', '1h', 'Longest Retry-After of a refusal. It grows with the waiting work.'),
    metric_agents: {
      type: 'integer',
      'x-restart': true,
      minimum: 1,
      maximum: 100_000,
      'x-unit': 'agents',
      description:
        'Agents that metrics distinguish in each tenant, and as many services; 200 when left out. Later names count together as `other` (`tracejury_metrics_folded_total`).',
    },
    metric_versions: {
      type: 'integer',
      'x-restart': true,
      minimum: 0,
      maximum: 10_000,
      default: metricVersionsDefault,
      'x-unit': 'versions',
      description:
        'Versions of an agent that metrics distinguish since the start. Later ones count together as `other` (`tracejury_metrics_folded_total`). 0: metrics do not tell versions apart.',
    },
    connections: {
      type: 'integer',
      'x-restart': true,
      minimum: 8,
      maximum: 1_000_000,
      'x-unit': 'connections',
      description:
        'Connections of all listeners together; left out: up to 5,376 within the descriptor limit of the process. OTLP over HTTP gets six tenths, gRPC a quarter, the console the rest. A quarter of the descriptors, at most 1,024, is reserved for files, exporters and judges.',
    },
    upstream_probability: {
      type: 'number',
      'x-restart': true,
      minimum: 0.000000001,
      maximum: 1,
      default: upstreamProbabilityMin,
      'x-unit': 'share',
      description:
        'Least share that `tracestate` (`ot=th:…`) may claim for a sampler before the service. A run counts one over its probability in rates, so a smaller share could outweigh all others. A run that claims less counts with this share (`tracejury.sampling.raised`). 1 ignores all claims.',
    },
    spans_per_trace: {
      type: 'integer',
      'x-restart': true,
      minimum: 1,
      maximum: 10_000_000,
      default: 50_000,
      'x-unit': 'spans',
      description: 'Spans of one trace; the service counts and drops further ones.',
    },
  }),
};

function bytes(preset: string, minimum: string, maximum: string, description: string) {
  return {
    type: ['string', 'integer'],
    'x-restart': true,
    'x-quantity': { kind: 'bytes', minimum, maximum },
    default: preset,
    description,
  } as const;
}

function duration(preset: string, minimum: string, maximum: string, description: string) {
  return { type: 'string', 'x-restart': true, 'x-quantity': { kind: 'duration', minimum, maximum }, default: preset, description } as const;
}

export const logFormats = ['auto', 'json', 'pretty'] as const;
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const log: Section = {
  key: 'log',
  schema: settings('The log on standard output ([the log](../guides/operations.md#the-log)).', {
    format: {
      enum: logFormats,
      'x-restart': true,
      default: 'auto',
      description:
        '`json`: one JSON object a line, without texts of runs. `pretty`: readable lines with local time, and a summary at the start. `auto`: `pretty` on a terminal, `json` elsewhere.',
    },
    level: {
      enum: logLevels,
      'x-restart': true,
      default: 'info',
      description: 'Lowest level of written lines; `silent`: none.',
    },
  }),
};

export const telemetry: Section = {
  key: 'telemetry',
  schema: {
    type: 'object',
    additionalProperties: false,
    default: {},
    description: 'Spans of the service itself, without texts of runs ([its own traces](../guides/operations.md#traces-of-the-service)).',
    properties: {
      traces: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          exporter: {
            enum: ['none', 'otlp'],
            'x-restart': true,
            description: '`otlp` sends them over HTTP, `none` makes none. When left out, `OTEL_TRACES_EXPORTER` decides (default: none).',
          },
          endpoint: {
            type: 'string',
            minLength: 1,
            maxLength: 2000,
            'x-url': true,
            'x-restart': true,
            'x-secret': 'url',
            description:
              'Base URL of the tracing backend, without `/v1/traces`. When left out, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT`. It must not be this service.',
          },
          headers: {
            ...httpHeadersSchema,
            maxProperties: 50,
            'x-restart': true,
            description: 'Headers of every request. When left out, those of `OTEL_EXPORTER_OTLP_HEADERS`.',
          },
          sample: {
            type: 'number',
            minimum: 0,
            maximum: 1,
            'x-restart': true,
            'x-unit': 'share',
            description:
              'Share of requests and runs that get spans. When left out, `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` decide (default: 0.01).',
          },
        },
      },
    },
  },
};

export const shards: Section = {
  key: 'shards',
  schema: {
    type: 'integer',
    minimum: 1,
    maximum: 256,
    default: 1,
    'x-unit': 'threads',
    'x-restart': true,
    description:
      'Threads that assemble and score, beside the one that answers requests. 1: that one does everything. More than 1 needs rules alone: no judge, no evaluator over HTTP, no `forward` and no traces of the service itself ([shards](../guides/operations.md#shards)).',
  },
};
