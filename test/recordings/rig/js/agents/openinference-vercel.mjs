/** The AI SDK 6 under OpenInference. */
import { OpenInferenceBatchSpanProcessor } from '@arizeai/openinference-vercel';
import * as ai from 'ai';
import { aiSdkAgents } from './ai-sdk-agents.mjs';
import { exporter, otlp } from './otlp.mjs';
import { telemetryOf } from './telemetry.mjs';

export async function start(options) {
  const provider = otlp({ processors: [new OpenInferenceBatchSpanProcessor({ exporter: exporter() })] });
  return { turn: aiSdkAgents(ai, { ...options, optionsOf: telemetryOf(options) }), stop: () => provider.shutdown() };
}
