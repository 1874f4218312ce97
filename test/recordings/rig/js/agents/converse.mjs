/** `ask` and `tell` of Bedrock's Converse. */
const modelId = 'anthropic.claude-sonnet-4-5';

export function converseOf(bedrock, client, system) {
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
