/** A loop written by hand, around any client: `ask` makes one model call and says what the model wants. */
import { note, toolsOf } from '../kit.ts';

/** The call that another agent answers; a loop of `refund_desk` runs below it. */
export const askDesk = {
  name: 'refund_desk',
  description: 'Asks the desk for refunds.',
  parameters: { type: 'object', properties: { request: { type: 'string' } }, required: ['request'], additionalProperties: false },
};

/**
 * `ask(messages, tools)` → { text } or { calls: [{ id, name, arguments }] }, having put the model's own message into `messages`;
 * `tell(messages, [{ call, content, failed }])` puts the results there. `around` wraps a tool call, `desk` runs the second agent.
 */
export async function loop({ agent, alone, messages, ask, tell, around = (_call, run) => run(), desk }) {
  const tools = toolsOf(agent, { alone });
  const offered = desk === undefined ? tools : [...tools, askDesk];
  for (;;) {
    const { text, calls } = await ask(messages, offered);
    if (calls === undefined) return text;
    const results = [];
    for (const call of calls) {
      try {
        results.push({
          call,
          content: await around(call, () =>
            call.name === askDesk.name ? deskCall(call, desk) : tools.find(({ name }) => name === call.name).run(call.arguments),
          ),
        });
      } catch (error) {
        results.push({ call, content: `Error: ${error.message}`, failed: true });
      }
    }
    tell(messages, results);
  }
}

async function deskCall(call, desk) {
  const at = performance.timeOrigin + performance.now();
  const result = await desk(call.arguments.request);
  note({ kind: 'call', at, agent: 'order_support', name: call.name, arguments: call.arguments, result });
  return result;
}

/** `ask` and `tell` of the chat interface of an OpenAI client. */
export function chatOf(client, { model, streamed = false }) {
  return {
    ask: async (messages, tools) => {
      const request = {
        model,
        messages,
        tools: tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })),
      };
      const message = streamed
        ? await streamedMessage(client, request)
        : (await client.chat.completions.create(request)).choices[0].message;
      messages.push(message);
      if (!message.tool_calls?.length) return { text: message.content };
      return {
        calls: message.tool_calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: JSON.parse(args) })),
      };
    },
    tell: (messages, results) => {
      for (const { call, content } of results)
        messages.push({ role: 'tool', tool_call_id: call.id, content: typeof content === 'string' ? content : JSON.stringify(content) });
    },
  };
}

async function streamedMessage(client, request) {
  const stream = await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
  let content = '';
  const calls = [];
  for await (const { choices } of stream) {
    content += choices[0]?.delta.content ?? '';
    for (const { index, id, function: said } of choices[0]?.delta.tool_calls ?? []) {
      calls[index] ??= { id, type: 'function', function: { name: said.name, arguments: '' } };
      calls[index].function.arguments += said.arguments ?? '';
    }
  }
  return { role: 'assistant', content: content || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}
