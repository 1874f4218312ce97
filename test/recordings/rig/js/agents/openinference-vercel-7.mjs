/** The AI SDK 7 with its own OpenTelemetry integration, as OpenInference's processor sends it. */
import { OpenTelemetry } from '@ai-sdk/otel';
import { OpenInferenceSimpleSpanProcessor } from '@arizeai/openinference-vercel';
import * as ai from 'ai';
import { aiSdkAgents } from './ai-sdk-agents.mjs';
import { exporter, otlp } from './otlp.mjs';

export async function start(options) {
  const provider = otlp({ processors: [new OpenInferenceSimpleSpanProcessor({ exporter: exporter() })] });
  ai.registerTelemetry(new OpenTelemetry());
  return {
    turn: aiSdkAgents(ai, { ...options, optionsOf: (functionId) => ({ telemetry: { functionId } }) }),
    stop: () => provider.shutdown(),
  };
}
