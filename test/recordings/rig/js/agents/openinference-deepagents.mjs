/** Deep Agents, OpenInference. */
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain';
import * as CallbackManager from '@langchain/core/callbacks/manager';
import { otlp } from './otlp.mjs';

export async function start(options) {
  const provider = otlp();
  new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(CallbackManager);
  const { deepAgents } = await import('./deepagents.mjs');
  return { turn: deepAgents(options), stop: () => provider.shutdown() };
}
