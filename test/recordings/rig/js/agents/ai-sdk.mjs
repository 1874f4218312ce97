/** The AI SDK with its own OpenTelemetry integration. */
import { OpenTelemetry } from '@ai-sdk/otel';
import * as ai from 'ai';
import { aiSdkAgents } from './ai-sdk-agents.mjs';
import { otlp } from './otlp.mjs';

export async function start(options) {
  const provider = otlp();
  ai.registerTelemetry(new OpenTelemetry());
  return {
    turn: aiSdkAgents(ai, { ...options, optionsOf: (functionId) => ({ telemetry: { functionId } }) }),
    stop: () => provider.shutdown(),
  };
}
