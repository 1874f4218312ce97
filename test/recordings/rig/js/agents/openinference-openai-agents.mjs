/** OpenAI Agents, OpenInference: alone, with a handoff, with the other agent as a tool. */
import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents';
import * as sdk from '@openai/agents';
import OpenAI from 'openai';
import { otlp } from './otlp.mjs';
import { openaiAgents } from './openai-agents.mjs';

export async function start(options) {
  const provider = otlp();
  const instrumentation = new OpenAIAgentsInstrumentation({ tracerProvider: provider });
  (instrumentation.manuallyInstrument ?? instrumentation.instrument).call(instrumentation, sdk);
  return { turn: openaiAgents(sdk, OpenAI, options), stop: () => provider.shutdown() };
}
