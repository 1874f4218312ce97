/** LangGraph.js, OpenInference. */
import * as CallbackManager from '@langchain/core/callbacks/manager';
import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain';
import { otlp } from './otlp.mjs';

export async function start(options) {
  const provider = otlp();
  new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(CallbackManager);
  const { langgraph } = await import('./langgraph.mjs');
  return { turn: langgraph(options), stop: () => provider.shutdown() };
}
