/** LangGraph.js, Langfuse's callback handler. */
import { CallbackHandler } from '@langfuse/langchain';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { otlp } from './otlp.mjs';

export async function start(options) {
  const provider = otlp({ processors: [new LangfuseSpanProcessor()] });
  const { langgraph } = await import('./langgraph.mjs');
  const handler = new CallbackHandler({ sessionId: options.session });
  return { turn: langgraph({ ...options, config: { callbacks: [handler] } }), stop: () => provider.shutdown() };
}
