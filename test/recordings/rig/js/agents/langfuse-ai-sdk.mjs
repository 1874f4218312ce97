/** The AI SDK 6, sent to Langfuse. */
import { LangfuseSpanProcessor } from '@langfuse/otel';
import * as ai from 'ai';
import { aiSdkAgents } from './ai-sdk-agents.mjs';
import { otlp } from './otlp.mjs';
import { telemetryOf } from './telemetry.mjs';

export async function start(options) {
  const provider = otlp({ processors: [new LangfuseSpanProcessor()] });
  return { turn: aiSdkAgents(ai, { ...options, optionsOf: telemetryOf(options) }), stop: () => provider.shutdown() };
}
