/** Conversations in span events: where an event holds its message differs. */
import { describe, expect, test } from 'vitest';
import { eventMessages, listedMessages } from '../../../collectors/parsing/message-events.ts';
import { span, type Attributes } from '../../builders/spans.ts';

const calls = [{ id: 'c1', type: 'function', function: { name: 't', arguments: '{"x":1}' } }];

interface Event {
  readonly name: string;
  readonly attributes: Attributes;
}

const forms: readonly { readonly name: string; readonly events: readonly Event[] }[] = [
  {
    name: 'one JSON text an event',
    events: [
      { name: 'gen_ai.user.message', attributes: { 'gen_ai.event.content': '{"role":"user","content":"q"}' } },
      { name: 'gen_ai.assistant.message', attributes: { 'gen_ai.event.content': JSON.stringify({ tool_calls: calls }) } },
      { name: 'gen_ai.tool.message', attributes: { 'gen_ai.event.content': '{"id":"c1","content":"r"}' } },
      { name: 'gen_ai.choice', attributes: { 'gen_ai.event.content': '{"index":0,"finish_reason":"stop","message":{"content":"a"}}' } },
    ],
  },
  {
    name: 'a member an attribute',
    events: [
      { name: 'gen_ai.user.message', attributes: { role: 'user', content: 'q' } },
      { name: 'gen_ai.assistant.message', attributes: { role: 'assistant', tool_calls: JSON.stringify(calls) } },
      { name: 'gen_ai.tool.message', attributes: { role: 'tool', id: 'c1', content: 'r' } },
      { name: 'gen_ai.choice', attributes: { index: 0, message: 'a' } },
    ],
  },
  {
    name: 'the whole prompt and the whole completion',
    events: [
      {
        name: 'gen_ai.content.prompt',
        attributes: {
          'gen_ai.prompt': JSON.stringify([
            { role: 'user', content: 'q' },
            { role: 'assistant', tool_calls: calls },
            { role: 'tool', tool_call_id: 'c1', content: 'r' },
          ]),
        },
      },
      { name: 'gen_ai.content.completion', attributes: { 'gen_ai.completion': '[{"role":"assistant","content":"a"}]' } },
    ],
  },
  {
    name: 'a numbered message an event, under keys of one prefix',
    events: [
      { name: 'gen_ai.prompt.0', attributes: { 'gen_ai.prompt.role': 'user', 'gen_ai.prompt.content': 'q' } },
      { name: 'gen_ai.prompt.1', attributes: { 'gen_ai.prompt.role': 'assistant', 'gen_ai.prompt.content': '{}' } },
      { name: 'gen_ai.assistant.message', attributes: { role: 'assistant', tool_calls: JSON.stringify(calls) } },
      { name: 'gen_ai.tool.message', attributes: { role: 'tool', id: 'c1', content: 'r' } },
      { name: 'acme.completion.0', attributes: { 'acme.completion.role': 'assistant', 'acme.completion.content': 'a' } },
      { name: 'acme.signed_in', attributes: { role: 'admin', content: 'w' } },
    ],
  },
];

describe('message-events', () => {
  for (const { name, events } of forms) {
    test(`message-events: ${name}`, () => {
      expect(eventMessages(span({ id: 1, events: [{ name: 'exception' }, ...events] }))).toMatchObject({
        input: [
          { role: 'user', text: 'q' },
          { role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] },
          { role: 'tool', results: [{ id: 'c1', result: 'r' }] },
        ],
        output: [{ role: 'assistant', text: 'a' }],
      });
    });
  }

  test('message-events: a list of them in one attribute', () => {
    const events = JSON.stringify([
      { 'event.name': 'gen_ai.user.message', role: 'user', content: 'q' },
      { 'event.name': 'gen_ai.choice', index: 0, message: { role: 'assistant', content: 'a' } },
    ]);
    expect(listedMessages(events)).toMatchObject({ input: [{ text: 'q' }], output: [{ text: 'a' }] });
    for (const other of [undefined, 7, 'q', '{}', '[']) expect(listedMessages(other)).toEqual({ input: [], output: [] });
  });

  test('message-events: values of other types say nothing', () => {
    const empty = span({
      id: 1,
      events: [
        { name: 'gen_ai.user.message', attributes: { content: 7 } },
        { name: 'gen_ai.choice', attributes: { message: 7 } },
      ],
    });
    expect(eventMessages(empty)).toMatchObject({ input: [{ role: 'user', requested: [], results: [] }], output: [{ role: 'assistant' }] });
  });
});
