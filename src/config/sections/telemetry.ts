import { httpHeadersSchema } from '../../../evaluators/schema/http-headers.ts';
import type { Section } from './section.ts';

export const telemetry: Section = {
  key: 'telemetry',
  schema: {
    type: 'object',
    additionalProperties: false,
    default: {},
    description:
      'Spans of the service itself ([its own traces](../guides/operations.md#traces-of-the-service)). No text of a run is in them.',
    properties: {
      traces: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          exporter: {
            enum: ['none', 'otlp'],
            'x-restart': true,
            description:
              '`otlp` sends them over HTTP, `none` makes none. When left out, `OTEL_TRACES_EXPORTER` decides, and without it none are made.',
          },
          endpoint: {
            type: 'string',
            minLength: 1,
            maxLength: 2000,
            'x-url': true,
            'x-restart': true,
            'x-secret': 'url',
            description:
              'Base URL of the tracing backend; `/v1/traces` is added. When left out, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT`. It must not be this service.',
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
              'Share of requests and of runs that get spans. When left out, `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` decide, and without them it is 0.01.',
          },
        },
      },
    },
  },
};
