/** `ask` and `tell` of Anthropic's client. */
export function messagesOf(client, { model, system, streamed = false }) {
  return {
    ask: async (messages, tools) => {
      const request = {
        model,
        system,
        messages,
        max_tokens: 500,
        tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
      };
      const { content } = streamed ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
      messages.push({ role: 'assistant', content });
      const calls = content.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => ({ id, name, arguments: input }));
      return calls.length > 0 ? { calls } : { text: content.map(({ text }) => text).join('') };
    },
    tell: (messages, results) => {
      messages.push({
        role: 'user',
        content: results.map(({ call, content, failed = false }) => ({
          type: 'tool_result',
          tool_use_id: call.id,
          content: typeof content === 'string' ? content : JSON.stringify(content),
          ...(failed ? { is_error: true } : {}),
        })),
      });
    },
  };
}
