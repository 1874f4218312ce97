import { upstreamProbabilityMin } from '../../pipeline/evaluation/sampling.ts';
import { metricVersionsDefault } from '../../telemetry/registry.ts';
import { bytes, duration, integer, number, object, oneOf, restarts, settings, share, text } from '../field.ts';
import { headers } from './section.ts';

export const limits = settings('Upper bounds. At a bound the service refuses a request, which the client may retry, or counts the rest.', {
  body_bytes: restarts(bytes('16MiB', '1KiB', '1GiB', 'Largest request body on the wire.')),
  inflated_bytes: restarts(bytes('64MiB', '1KiB', '4GiB', 'Largest request body after decompression. At least `body_bytes`.')),
  memory_bytes: restarts(
    bytes(
      '512MiB',
      '1MiB',
      '1TiB',
      'Memory of the process. Near the limit the service evicts closed runs, then answers requests with 429. It needs at least 320 MiB, some 200 MiB of it for itself. At least `inflated_bytes`.',
    ),
  ),
  journal_bytes: restarts(
    bytes(
      '4GiB',
      '16MiB',
      '64TiB',
      'Disk space for the journal; beyond it requests get 503. A journal `memory:` takes at most three sixteenths of `memory_bytes`.',
    ),
  ),
  closing_lag: restarts(
    duration(
      '5s',
      '100ms',
      '10m',
      'Largest lag of the closing of runs. At a fifth of it the service admits only as much as it completes. At a quarter it asks no judge, at a half it stores no content. A burst after a calm time sheds neither while it fits in memory. Beyond it requests get 429.',
    ),
  ),
  retry_after: restarts(duration('30s', '1s', '1h', 'Longest Retry-After of a refusal. It grows with the waiting work.')),
  metric_agents: restarts(
    integer(
      undefined,
      1,
      100_000,
      'agents',
      'Agents that metrics distinguish in each tenant, and as many services; 200 when left out. Later names count together as `other` (`tracejury_metrics_folded_total`).',
    ),
  ),
  metric_versions: restarts(
    integer(
      metricVersionsDefault,
      0,
      10_000,
      'versions',
      'Versions of an agent that metrics distinguish since the start. Later ones count together as `other` (`tracejury_metrics_folded_total`). With 0, metrics do not distinguish versions.',
    ),
  ),
  connections: restarts(
    integer(
      undefined,
      8,
      1_000_000,
      'connections',
      'Connections of all listeners together; left out: up to 5,376 within the descriptor limit of the process. OTLP over HTTP gets six tenths, gRPC a quarter, the console the rest. A quarter of the descriptors, at most 1,024, is reserved for files, exporters and judges.',
    ),
  ),
  upstream_probability: restarts(
    number(
      { minimum: 0.000000001, maximum: 1, default: upstreamProbabilityMin, 'x-unit': 'share' },
      'Least share that `tracestate` (`ot=th:…`) may claim for a sampler before the service. A run counts one over its probability in rates, so a smaller share could outweigh all others. A run that claims less counts with this share (`tracejury.sampling.raised`). 1 ignores all claims.',
    ),
  ),
  spans_per_trace: restarts(integer(50_000, 1, 10_000_000, 'spans', 'Spans of one trace; the service counts and drops further ones.')),
});

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const log = settings('The log on standard output ([the log](../guides/operations.md#the-log)).', {
  format: restarts(
    oneOf(
      ['auto', 'json', 'pretty'],
      'auto',
      '`json`: one JSON object a line, without texts of runs. `pretty`: readable lines with local time, and a summary at the start. `auto`: `pretty` on a terminal, `json` elsewhere.',
    ),
  ),
  level: restarts(oneOf(logLevels, 'info', 'Lowest level of written lines; `silent`: none.')),
});

const traces = object(
  { default: {} },
  {
    exporter: restarts(
      oneOf(
        ['none', 'otlp'],
        undefined,
        '`otlp` sends them over HTTP, `none` makes none. When left out, `OTEL_TRACES_EXPORTER` decides (default: none).',
      ),
    ),
    endpoint: text(
      { minLength: 1, maxLength: 2000, 'x-url': true, 'x-restart': true, 'x-secret': 'url' },
      'Base URL of the tracing backend, without `/v1/traces`. When left out, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT`. It must not be this service.',
    ),
    headers: restarts(headers({ maxProperties: 50 }, 'Headers of every request. When left out, those of `OTEL_EXPORTER_OTLP_HEADERS`.')),
    sample: restarts(
      share(
        undefined,
        'Share of requests and runs that get spans. When left out, `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` decide (default: 0.01).',
      ),
    ),
  },
);

export const telemetry = settings(
  'Spans of the service itself, without texts of runs ([its own traces](../guides/operations.md#traces-of-the-service)).',
  { traces },
);
