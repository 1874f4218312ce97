/** Bedrock's Converse in a loop written by hand, OpenInference; a span of the user's own holds the loop together. */
import { BedrockInstrumentation } from '@arizeai/openinference-instrumentation-bedrock';
import * as bedrock from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { prompts } from '../kit.ts';
import { modelAt } from './model-at.mjs';
import { loop } from './loop.mjs';
import { otlp } from './otlp.mjs';
import { agentSpan } from './spans.mjs';

const modelId = 'anthropic.claude-sonnet-4-5';

function converseOf(client, system) {
  return {
    ask: async (messages, tools) => {
      const { output } = await client.send(
        new bedrock.ConverseCommand({
          modelId,
          messages,
          system: [{ text: system }],
          toolConfig: {
            tools: tools.map(({ name, description, parameters }) => ({
              toolSpec: { name, description, inputSchema: { json: parameters } },
            })),
          },
        }),
      );
      messages.push(output.message);
      const calls = output.message.content.flatMap(({ toolUse }) =>
        toolUse === undefined ? [] : [{ id: toolUse.toolUseId, name: toolUse.name, arguments: toolUse.input }],
      );
      return calls.length > 0 ? { calls } : { text: output.message.content.map(({ text }) => text).join('') };
    },
    tell: (messages, results) => {
      messages.push({
        role: 'user',
        content: results.map(({ call, content, failed = false }) => ({
          toolResult: {
            toolUseId: call.id,
            content: [typeof content === 'string' ? { text: content } : { json: content }],
            status: failed ? 'error' : 'success',
          },
        })),
      });
    },
  };
}

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
      return loop({ agent, alone, messages, ...converseOf(client, prompts[agent]), desk });
    });
  const desk = alone ? undefined : (request) => agentOf('refund_desk', request, []);
  return { turn: (input) => agentOf('order_support', input, history, desk), stop: () => provider.shutdown() };
}
