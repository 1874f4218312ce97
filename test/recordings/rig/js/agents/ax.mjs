/** Ax programs with Ax's own spans: alone, or with the other program behind a function. */
import { trace } from '@opentelemetry/api';
import { ai as connect, ax } from '@ax-llm/ax';
import { model, note, prompts, toolsOf } from '../kit.ts';
import { askDesk } from './loop.mjs';
import { modelAt } from './model-at.mjs';
import { otlp } from './otlp.mjs';

export async function start({ session, streamed, alone }) {
  const provider = otlp();
  const tracer = trace.getTracer('shop');
  const functionOf = ({ name, description, parameters, run }) => ({ name, description, parameters, func: async (args) => run(args) });
  const ask = async (agent, question, more = []) => {
    const program = ax(`"${prompts[agent]}" question:string -> answer:string`, {
      functions: [...toolsOf(agent, { alone }).map(functionOf), ...more],
    });
    const service = connect({
      name: 'openai',
      apiKey: 'none',
      apiURL: modelAt(agent),
      config: { model, stream: streamed },
      options: { tracer, excludeContentFromTrace: false },
    });
    const { answer } = await program.forward(
      service,
      { question },
      {
        tracer,
        traceLabel: agent,
        stream: streamed,
        excludeContentFromTrace: false,
        ...(session === undefined ? {} : { sessionId: session }),
      },
    );
    return answer;
  };
  const desk = {
    ...askDesk,
    run: async (args) => {
      const at = performance.timeOrigin + performance.now();
      const result = await ask('refund_desk', args.request);
      note({ kind: 'call', at, agent: 'order_support', name: askDesk.name, arguments: args, result });
      return result;
    },
  };
  return { turn: (input) => ask('order_support', input, alone ? [] : [functionOf(desk)]), stop: () => provider.shutdown() };
}
