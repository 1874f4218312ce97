/** Genkit with its own spans: alone, or with the other agent behind a tool. */
import { openAICompatible } from '@genkit-ai/compat-oai';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { genkit, z } from 'genkit';
import { enableTelemetry } from 'genkit/tracing';
import { model, note, prompts, toolsOf } from '../kit.ts';
import { askDesk } from './loop.mjs';
import { modelAt } from './model-at.mjs';

export async function start({ session, streamed, alone }) {
  const processor = new BatchSpanProcessor(new OTLPTraceExporter());
  await enableTelemetry({ spanProcessors: [processor] });
  const ai = genkit({
    plugins: ['order_support', 'refund_desk'].map((name) =>
      openAICompatible({ name: `openai-${name === 'refund_desk' ? 'b' : 'a'}`, apiKey: 'none', baseURL: modelAt(name) }),
    ),
  });
  const toolOf = ({ name, description, parameters, run }) =>
    ai.defineTool({ name, description, inputJsonSchema: parameters, outputSchema: z.any() }, async (args) => run(args));
  const toolsFor = Object.fromEntries(
    ['order_support', 'refund_desk']
      .filter((name) => !alone || name === 'order_support')
      .map((name) => [name, toolsOf(name, { alone }).map(toolOf)]),
  );
  const flow = (name, more = []) =>
    ai.defineFlow({ name, inputSchema: z.string(), outputSchema: z.string() }, async (prompt) => {
      const request = {
        model: `openai-${name === 'refund_desk' ? 'b' : 'a'}/${model}`,
        system: prompts[name],
        prompt,
        tools: [...toolsFor[name], ...more],
        maxTurns: 8,
      };
      if (!streamed) return (await ai.generate(request)).text;
      const { response } = ai.generateStream(request);
      return (await response).text;
    });
  const desk = alone ? undefined : flow('refund_desk');
  const root = flow(
    'order_support',
    alone
      ? []
      : [
          toolOf({
            ...askDesk,
            run: async (args) => {
              const at = performance.timeOrigin + performance.now();
              const result = await desk(args.request);
              note({ kind: 'call', at, agent: 'order_support', name: askDesk.name, arguments: args, result });
              return result;
            },
          }),
        ],
  );
  return { turn: (input) => root(input, session === undefined ? {} : { context: { session } }), stop: () => processor.shutdown() };
}
