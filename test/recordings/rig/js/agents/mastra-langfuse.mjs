/** Mastra, sent to Langfuse. */
import { LangfuseExporter } from '@mastra/langfuse';
import { mastraAgents } from './mastra-agents.mjs';

export const start = (options) =>
  mastraAgents(options, {
    exporters: [new LangfuseExporter({ publicKey: 'pk-lf-0', secretKey: 'sk-lf-0', baseUrl: process.env.RIG_RECEIVER, realtime: true })],
  });
