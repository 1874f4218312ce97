/** LangGraph.js, LangWatch's callback handler. */
import { LangWatchCallbackHandler } from 'langwatch/observability/instrumentation/langchain';
import { setupObservability } from 'langwatch/observability/node';
import { langgraph } from './langgraph.mjs';

export async function start(options) {
  const { shutdown } = setupObservability({ serviceName: 'shop', langwatch: { apiKey: 'none', endpoint: process.env.RIG_RECEIVER } });
  return { turn: langgraph({ ...options, config: { callbacks: [new LangWatchCallbackHandler()] } }), stop: () => shutdown() };
}
