/** The OpenAI client in a loop written by hand, LangSmith's wrapper and `traceable`, over OpenTelemetry. */
import { Client } from 'langsmith';
import { initializeOTEL } from 'langsmith/experimental/otel/setup';
import { traceable } from 'langsmith/traceable';
import { wrapOpenAI } from 'langsmith/wrappers';
import OpenAI from 'openai';
import { model, prompts } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { chatOf, loop } from './loop.mjs';

export async function start({ session, streamed, alone }) {
  const { DEFAULT_LANGSMITH_SPAN_PROCESSOR: processor } = initializeOTEL();
  const tracing = new Client();
  const around = (call, run) => traceable(async (_args) => run(), { name: call.name, run_type: 'tool', client: tracing })(call.arguments);
  const agentOf = (agent, messages, desk) =>
    traceable(
      async (input) => {
        const client = wrapOpenAI(new OpenAI({ apiKey: 'none', baseURL: modelAt(agent), maxRetries: 0 }), { client: tracing });
        messages.push({ role: 'user', content: input });
        return loop({ agent, alone, messages, ...chatOf(client, { model, streamed }), around, desk });
      },
      { name: agent, run_type: 'chain', client: tracing, ...(session === undefined ? {} : { metadata: { session_id: session } }) },
    );
  const desk = alone ? undefined : (request) => agentOf('refund_desk', [{ role: 'system', content: prompts.refund_desk }])(request);
  const history = [{ role: 'system', content: prompts.order_support }];
  const stop = async () => {
    await tracing.awaitPendingTraceBatches();
    await processor.shutdown();
  };
  return { turn: (input) => agentOf('order_support', history, desk)(input), stop };
}
