import type { Section } from './section.ts';

/** Where scores can go. The names of all exporters are known from the start, so that a configuration outlives a release. */
export const exportSection: Section = {
  key: 'export',
  schema: {
    type: 'array',
    description: 'Where scores are sent, each entry by itself. The metrics page is always there.',
    default: [{ to: 'metrics' }],
    maxItems: 20,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['to'],
      properties: {
        to: {
          enum: ['span_events', 'metrics', 'log_events', 'forward', 'phoenix', 'langfuse', 'webhook'],
          description: '`span_events` sends `gen_ai.evaluation.result` events over OTLP; `metrics` is the metrics page of the console listener.',
        },
        endpoint: { type: 'string', 'x-url': true, 'x-secret': 'url', description: 'Base URL of the backend; `/v1/traces` is added, as with `OTEL_EXPORTER_OTLP_ENDPOINT`, which is used when this is left out.' },
        headers: {
          type: 'object',
          maxProperties: 100,
          propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", 'x-words': 'Write the name of an HTTP header.' },
          additionalProperties: { type: 'string', maxLength: 10_000, pattern: '^[ -~]*$', 'x-words': 'Use ASCII characters in one line.', 'x-secret': true },
          default: {},
          description: 'Headers of every request, for example the key of the backend. When left out, those of `OTEL_EXPORTER_OTLP_HEADERS`.',
        },
        protocol: { enum: ['http/protobuf', 'http/json'], default: 'http/protobuf', description: 'Encoding. Phoenix takes protobuf only.' },
        tls: {
          type: 'object',
          description: 'Certificates for the connection to the backend.',
          additionalProperties: false,
          properties: {
            ca_file: { type: 'string', minLength: 1, description: 'Path of the certificate authorities to trust, in PEM.' },
            cert_file: { type: 'string', minLength: 1, description: 'Path of the client certificate in PEM.' },
            key_file: { type: 'string', minLength: 1, description: 'Path of its private key in PEM.' },
          },
        },
      },
    },
  },
};
