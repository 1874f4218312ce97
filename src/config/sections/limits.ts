import { upstreamProbabilityMin } from '../../pipeline/evaluation/sampling.ts';
import type { Section } from './section.ts';

export const limits: Section = {
  key: 'limits',
  schema: {
    type: 'object',
    description: 'Upper bounds. At a bound the client is refused and may come back, or the rest is counted. Nothing grows without end.',
    additionalProperties: false,
    default: {},
    properties: {
      body_bytes: bytes('16MiB', '1KiB', '1GiB', 'Largest request body, as it comes over the wire.'),
      inflated_bytes: bytes('64MiB', '1KiB', '4GiB', 'Largest request body after decompression. At least `body_bytes`.'),
      memory_bytes: bytes(
        '512MiB',
        '1MiB',
        '1TiB',
        'Memory of the process. The service keeps within it by evicting closed runs, then by answering requests with 429. It needs some 200 MiB for itself, and 320 MiB at least. At least `inflated_bytes`.',
      ),
      journal_bytes: bytes(
        '4GiB',
        '16MiB',
        '64TiB',
        'Disk space for the journal; beyond it requests are answered with 503. A journal `memory:` takes three sixteenths of `memory_bytes` at most.',
      ),
      closing_lag: duration(
        '5s',
        '100ms',
        '10m',
        'How late the closing of runs may be. From a fifth of it on the service admits no more than it gets done. At a quarter it asks no judge. At half the store gets no content. Beyond it requests are answered with 429.',
      ),
      retry_after: duration('30s', '1s', '1h', 'The longest that a client is asked to stay away. How long it is grows with what waits.'),
      metric_agents: {
        type: 'integer',
        'x-restart': true,
        minimum: 1,
        maximum: 100_000,
        'x-unit': 'agents',
        description:
          'Names of agents that metrics distinguish in each tenant, and as many names of services; 200 when left out. Later names count together as `other`, and `tracejury_metrics_folded_total` says how often.',
      },
      connections: {
        type: 'integer',
        'x-restart': true,
        minimum: 8,
        maximum: 1_000_000,
        'x-unit': 'connections',
        description:
          'Connections of all listeners together; left out: up to 5,376, as far as the descriptor limit of the process allows. OTLP over HTTP may have six tenths of them, gRPC a quarter, the console the rest. A quarter of the descriptors, at most 1,024, is left to files, exporters and judges.',
      },
      upstream_probability: {
        type: 'number',
        'x-restart': true,
        minimum: 0.000000001,
        maximum: 1,
        default: upstreamProbabilityMin,
        'x-unit': 'share',
        description:
          'The least share that a sampler before the service is believed to keep, as `tracestate` says it (`ot=th:…`). A run counts one over its probability in rates, so a sender could outweigh all others. What claims less counts as if this share were kept (`tracejury.sampling.raised`). 1: no sampler is believed.',
      },
      spans_per_trace: {
        type: 'integer',
        'x-restart': true,
        minimum: 1,
        maximum: 10_000_000,
        default: 50_000,
        'x-unit': 'spans',
        description: 'Spans kept of one trace; more are counted and left out.',
      },
    },
  },
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
