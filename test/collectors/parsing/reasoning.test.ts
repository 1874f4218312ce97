/** A model's reasoning is kept apart from its answer, however an API writes it. */
import { describe, expect, test } from 'vitest';
import { readMessages } from '../../../collectors/parsing/messages.ts';
import type { JsonValue } from '../../../src/model/json.ts';

const said = { type: 'text', text: 'a' };

const forms: readonly { readonly name: string; readonly message: JsonValue }[] = [
  {
    name: 'the GenAI conventions',
    message: {
      role: 'assistant',
      parts: [
        { type: 'reasoning', content: 'hm' },
        { type: 'text', content: 'a' },
      ],
    },
  },
  {
    name: 'Anthropic',
    message: {
      role: 'assistant',
      content: [{ type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'redacted_thinking', data: 'x' }, said],
    },
  },
  { name: 'Gemini', message: { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'a' }] } },
  { name: 'a member of the message', message: { role: 'assistant', content: 'a', reasoning_content: 'hm' } },
  { name: 'another member of the message', message: { role: 'assistant', content: 'a', reasoning: 'hm' } },
  {
    name: 'Bedrock',
    message: { role: 'assistant', content: [{ reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } }, { text: 'a' }] },
  },
  { name: 'the AI SDK', message: { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, said] } },
  { name: 'Haystack', message: { role: 'assistant', content: [{ reasoning: { reasoning_text: 'hm', extra: {} } }, { text: 'a' }] } },
];

describe('reasoning', () => {
  for (const { name, message } of forms)
    test(`reasoning: ${name}`, () => expect(readMessages([message])).toMatchObject([{ role: 'assistant', text: 'a', reasoning: 'hm' }]));

  test('reasoning: an item of the Responses API with a summary', () => {
    expect(readMessages([{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], content: null }])).toMatchObject(
      [{ role: 'assistant', reasoning: 'hm' }],
    );
  });

  test('reasoning: a message of only reasoning has no text', () => {
    expect(readMessages([{ role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }] }])[0]).not.toHaveProperty('text');
  });

  test('reasoning: a tool’s argument of that name is none', () => {
    expect(
      readMessages([
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 't', arguments: '{"reasoning":"hm"}' } }] },
      ])[0],
    ).not.toHaveProperty('reasoning');
  });
});
