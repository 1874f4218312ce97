/** An agent with spans of the GenAI conventions. Yours has an SDK that writes them. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { context, ROOT_CONTEXT, SpanStatusCode, trace, type Context, type ContextManager } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { recording } from './recorded.ts';

/** `@opentelemetry/context-async-hooks` has one ready. */
function contextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, call, self, ...args) => storage.run(active, () => call.call(self as ThisParameterType<typeof call>, ...args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

context.setGlobalContextManager(contextManager());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [recording] }));
const tracer = trace.getTracer('order-support');

function refund(amount: number): { readonly refund: string } {
  if (amount > 79.9) throw new Error(`amount ${amount} is more than the order total 79.9`);
  return { refund: 'RF-88' };
}

export async function answer(amount: number): Promise<string> {
  return await tracer.startActiveSpan('invoke_agent order_support', { attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'order_support' } }, async (agent) => {
    const call = tracer.startSpan('execute_tool refund_order', { attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'refund_order', 'gen_ai.tool.call.id': 'call_1', 'gen_ai.tool.call.arguments': JSON.stringify({ amount }) } });
    try {
      call.setAttribute('gen_ai.tool.call.result', JSON.stringify(refund(amount)));
      return `I refunded ${amount}.`;
    } catch (error) {
      call.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
      return 'I cannot refund that much.';
    } finally {
      call.end();
      agent.end();
    }
  });
}
