/** The AI SDK 6 with its own spans. */
import * as ai from 'ai';
import { aiSdkAgents } from './ai-sdk-agents.mjs';
import { otlp } from './otlp.mjs';
import { telemetryOf } from './telemetry.mjs';

export async function start(options) {
  const provider = otlp();
  return { turn: aiSdkAgents(ai, { ...options, optionsOf: telemetryOf(options) }), stop: () => provider.shutdown() };
}
