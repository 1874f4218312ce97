/** The AI SDK in LangSmith's wrapper, over OpenTelemetry. */
import * as ai from 'ai';
import { Client } from 'langsmith';
import { initializeOTEL } from 'langsmith/experimental/otel/setup';
import { createLangSmithProviderOptions, wrapAISDK } from 'langsmith/experimental/vercel';
import { traceable } from 'langsmith/traceable';
import { aiSdkAgents } from './ai-sdk-agents.mjs';

export async function start(options) {
  const { DEFAULT_LANGSMITH_SPAN_PROCESSOR: processor } = initializeOTEL();
  const client = new Client();
  const turn = aiSdkAgents(wrapAISDK(ai, { client }), {
    ...options,
    optionsOf: (name) => ({
      providerOptions: {
        langsmith: createLangSmithProviderOptions({
          name,
          client,
          ...(options.session === undefined ? {} : { metadata: { session_id: options.session } }),
        }),
      },
    }),
  });
  const stop = async () => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await client.awaitPendingTraceBatches();
    await processor.shutdown();
  };
  return { turn, stop };
}
