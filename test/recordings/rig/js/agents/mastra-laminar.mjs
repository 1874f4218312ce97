/** Mastra, sent to Laminar. */
import { LaminarExporter } from '@mastra/laminar';
import { mastraAgents } from './mastra-agents.mjs';

export const start = (options) =>
  mastraAgents(options, {
    exporters: [new LaminarExporter({ apiKey: 'none', endpoint: `${process.env.RIG_RECEIVER}/v1/traces`, realtime: true })],
  });
