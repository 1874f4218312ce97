/** LangGraph.js, Traceloop. */
import * as CallbackManager from '@langchain/core/callbacks/manager';
import * as traceloop from '@traceloop/node-server-sdk';

export async function start(options) {
  traceloop.initialize({
    appName: 'shop',
    baseUrl: process.env.RIG_RECEIVER,
    apiKey: 'none',
    disableBatch: false,
    silenceInitializationMessage: true,
    instrumentModules: { langchain: { callbackManagerModule: CallbackManager } },
  });
  const { langgraph } = await import('./langgraph.mjs');
  const graph = langgraph(options);
  const turn = (input) =>
    traceloop.withWorkflow(
      { name: 'shop', ...(options.session === undefined ? {} : { associationProperties: { session_id: options.session } }) },
      () => graph(input),
    );
  return { turn, stop: () => traceloop.forceFlush() };
}
