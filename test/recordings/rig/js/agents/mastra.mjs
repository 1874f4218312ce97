/** Mastra, exported over OTLP. */
import { OtelExporter } from '@mastra/otel-exporter';
import { mastraAgents } from './mastra-agents.mjs';

export const start = (options) =>
  mastraAgents(options, {
    exporters: [
      new OtelExporter({ provider: { custom: { endpoint: `${process.env.RIG_RECEIVER}/v1/traces`, protocol: 'http/protobuf' } } }),
    ],
  });
