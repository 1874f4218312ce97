/** The AI SDK 7 with its own OpenTelemetry integration, sent to Langfuse, inside a span of the application. */
import { OpenTelemetry } from '@ai-sdk/otel';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { propagateAttributes, startActiveObservation } from '@langfuse/tracing';
import * as ai from 'ai';
import { aiSdkAgents } from './ai-sdk-agents.mjs';
import { otlp } from './otlp.mjs';

export async function start(options) {
  const provider = otlp({ processors: [new LangfuseSpanProcessor()] });
  ai.registerTelemetry(new OpenTelemetry());
  const answer = aiSdkAgents(ai, { ...options, optionsOf: (functionId) => ({ telemetry: { functionId } }) });
  const turn = (input) =>
    startActiveObservation('answer-customer', async (observation) => {
      observation.update({ input });
      const run = () => answer(input);
      const output = await (options.session === undefined ? run() : propagateAttributes({ sessionId: options.session }, run));
      observation.update({ output });
      return output;
    });
  return { turn, stop: () => provider.shutdown() };
}
