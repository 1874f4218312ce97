/** Bedrock's Converse in a loop written by hand, OpenInference; a span of the user's own holds the loop together. */
import { BedrockInstrumentation } from '@arizeai/openinference-instrumentation-bedrock';
import * as bedrock from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { prompts } from '../kit.ts';
import { converseOf } from './converse.mjs';
import { modelAt } from './model-at.mjs';
import { loop } from './loop.mjs';
import { otlp } from './otlp.mjs';
import { agentSpan } from './spans.mjs';

export async function start({ session, alone }) {
  const provider = otlp();
  new BedrockInstrumentation({ tracerProvider: provider }).manuallyInstrument(bedrock);
  const history = [];
  const agentOf = (agent, input, messages, desk) =>
    agentSpan(agent, { input, session }, () => {
      const client = new bedrock.BedrockRuntimeClient({
        region: 'us-east-1',
        endpoint: modelAt(agent, ''),
        maxAttempts: 1,
        requestHandler: new NodeHttpHandler(),
        credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
      });
      messages.push({ role: 'user', content: [{ text: input }] });
      return loop({ agent, alone, messages, ...converseOf(bedrock, client, prompts[agent]), desk });
    });
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, []);
  return { turn: (input) => agentOf('order_support', input, history, desk), stop: () => provider.shutdown() };
}
