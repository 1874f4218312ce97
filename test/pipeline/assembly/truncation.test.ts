/** Values that a limit cut short are marked, and what they say is never taken for all that was said. */
import { describe, expect, test } from 'vitest';
import type { AgentTrace } from '../../../src/model/agent-trace.ts';
import { onlyTrace } from '../../builders/assembled.ts';
import { span, type Attributes, type SpanData } from '../../builders/spans.ts';

/** The beginning of a JSON text, as a limit of 256 characters leaves it. */
function cut(value: unknown): string {
  return JSON.stringify(value).slice(0, 256);
}

const words = 'a long text about flights '.repeat(20);
const agent: SpanData = { id: 1, start: 0, end: 100, attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' } };
const model = (attributes: Attributes, more: Partial<SpanData> = {}): SpanData => ({
  id: 2,
  parent: 1,
  start: 10,
  end: 20,
  ...more,
  attributes: { 'gen_ai.operation.name': 'chat', ...attributes },
});
const tool = (attributes: Attributes, more: Partial<SpanData> = {}): SpanData => ({
  id: 3,
  parent: 1,
  start: 30,
  end: 40,
  ...more,
  attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't', 'gen_ai.tool.call.id': 'c1', ...attributes },
});
const asks = {
  'gen_ai.output.messages': JSON.stringify([
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 't', arguments: { text: words } }] },
  ]),
};

const cases: readonly {
  readonly name: string;
  readonly spans: readonly SpanData[];
  readonly trace: (trace: AgentTrace) => unknown;
  readonly is: unknown;
}[] = [
  {
    name: 'arguments that were cut are unknown, and what is left of them is kept apart',
    spans: [agent, tool({ 'gen_ai.tool.call.arguments': cut({ text: words }) })],
    trace: ({ toolCalls: [call] }) => ({ arguments: call?.arguments, text: call?.argumentsText, truncated: call?.truncated }),
    is: { arguments: undefined, text: undefined, truncated: { arguments: cut({ text: words }) } },
  },
  {
    name: 'arguments that a model broke elsewhere are arguments that are not an object',
    spans: [agent, tool({ 'gen_ai.tool.call.arguments': '{"text": "a lo' })],
    trace: ({ toolCalls: [call] }) => ({ arguments: call?.arguments, text: call?.argumentsText, truncated: call?.truncated }),
    is: { arguments: null, text: '{"text": "a lo', truncated: undefined },
  },
  {
    name: 'the model’s message may have what a tool’s span lost',
    spans: [agent, model(asks), tool({ 'gen_ai.tool.call.arguments': cut({ text: words }) })],
    trace: ({ toolCalls: [call] }) => ({ arguments: call?.arguments, truncated: call?.truncated }),
    is: { arguments: { text: words }, truncated: undefined },
  },
  {
    name: 'a result that was cut is unknown, and no failure',
    spans: [agent, tool({ 'gen_ai.tool.call.result': cut({ flights: words }) })],
    trace: ({ toolCalls: [call] }) => ({ result: call?.result, error: call?.error, truncated: call?.truncated }),
    is: { result: undefined, error: undefined, truncated: { result: cut({ flights: words }) } },
  },
  {
    name: 'a result that is marked as cut',
    spans: [agent, tool({ 'gen_ai.tool.call.result': 'AF007, DL262...[truncated]' }, { status: 'error', message: 'boom' })],
    trace: ({ toolCalls: [call] }) => ({ result: call?.result, error: call?.error?.message, truncated: call?.truncated }),
    is: { result: undefined, error: 'boom', truncated: { result: 'AF007, DL262...[truncated]' } },
  },
  {
    name: 'messages that were cut belong to no one, and may have held calls',
    spans: [
      agent,
      model({
        'gen_ai.input.messages': cut([{ role: 'user', parts: [{ type: 'text', content: words }] }]),
        'gen_ai.output.messages': cut([{ role: 'assistant', parts: [{ type: 'text', content: words }] }]),
      }),
    ],
    trace: ({ input, finalResponse, toolCallsCarried, truncated }) => ({ input, finalResponse, toolCallsCarried, truncated }),
    is: { input: undefined, finalResponse: undefined, toolCallsCarried: false, truncated: ['spans'] },
  },
  {
    name: 'definitions that were cut give no tools',
    spans: [agent, model({ 'gen_ai.tool.definitions': cut([{ name: 't', description: words }]), 'gen_ai.output.messages': '[]' })],
    trace: ({ toolDefinitions, truncated }) => ({ toolDefinitions, truncated }),
    is: { toolDefinitions: [], truncated: ['spans'] },
  },
  {
    name: 'one definition with a part that was cut',
    spans: [
      agent,
      model({
        'gen_ai.tool.definitions': JSON.stringify([
          { name: 't', description: 'does...[truncated]', parameters: { type: 'object' } },
          { name: 'u', parameters: cut({ properties: words }) },
        ]),
      }),
    ],
    trace: ({ toolDefinitions }) => toolDefinitions,
    is: [
      { name: 't', inputSchema: { type: 'object' }, truncated: true },
      { name: 'u', truncated: true },
    ],
  },
  {
    name: 'attributes that the SDK dropped may have held calls and tools',
    spans: [agent, model({ 'gen_ai.output.messages': '[]' }, { dropped: 3 })],
    trace: ({ toolCallsCarried, truncated }) => ({ toolCallsCarried, truncated }),
    is: { toolCallsCarried: false, truncated: ['spans'] },
  },
  {
    name: 'a final response that is marked as cut is kept, and marked',
    spans: [
      {
        ...agent,
        attributes: {
          ...agent.attributes,
          'gen_ai.output.messages': JSON.stringify([
            { role: 'assistant', parts: [{ type: 'text', content: 'The plan is\n\n[TRUNCATED - Content exceeds 60KB limit]' }] },
          ]),
        },
      },
    ],
    trace: ({ finalResponse, truncated }) => ({ finalResponse, truncated }),
    is: { finalResponse: 'The plan is\n\n[TRUNCATED - Content exceeds 60KB limit]', truncated: ['final_response'] },
  },
  {
    name: 'an answer that ends in dots is whole',
    spans: [
      {
        ...agent,
        attributes: {
          ...agent.attributes,
          'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'To be continued...' }] }]),
        },
      },
    ],
    trace: ({ finalResponse, truncated }) => ({ finalResponse, truncated }),
    is: { finalResponse: 'To be continued...', truncated: undefined },
  },
  {
    name: 'a placeholder replaces the omitted text, not an argument or an answer',
    spans: [agent, tool({ 'gen_ai.tool.call.arguments': 'HIDDEN:non-empty', 'gen_ai.tool.call.result': '__REDACTED__' })],
    trace: ({ toolCalls: [call] }) => ({
      arguments: call?.arguments,
      text: call?.argumentsText,
      result: call?.result,
      truncated: call?.truncated,
    }),
    is: { arguments: undefined, text: undefined, result: undefined, truncated: undefined },
  },
  {
    name: 'the names of the parts of a message replace its results',
    spans: [agent, tool({ 'gen_ai.tool.call.result': '[tool-result: f][tool-result: g]' })],
    trace: ({ toolCalls: [call] }) => ({ result: call?.result, truncated: call?.truncated }),
    is: { result: undefined, truncated: undefined },
  },
];

const hidden: readonly { readonly name: string; readonly root: SpanData }[] = [
  {
    name: 'OpenInference',
    root: {
      id: 1,
      attributes: { 'openinference.span.kind': 'AGENT', 'agent.name': 'a', 'input.value': '__REDACTED__', 'output.value': '__REDACTED__' },
    },
  },
  {
    name: 'hand-made spans',
    root: { id: 1, attributes: { 'agent.name': 'a', 'input.value': '[REDACTED]', 'output.value': '[REDACTED]' } },
  },
  {
    name: 'messages',
    root: {
      id: 1,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'a',
        'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"[Scrubbed due to \'password\']"}]}]',
      },
    },
  },
];

describe('truncated', () => {
  for (const { name, root } of hidden) {
    test(`truncated: ${name}: what was hidden is neither input nor answer`, () => {
      const { input, finalResponse } = onlyTrace([span(root), span({ id: 2, parent: 1, attributes: { 'tool.name': 't' } })]);
      expect({ input, finalResponse }).toEqual({ input: undefined, finalResponse: undefined });
    });
  }

  for (const { name, spans, trace, is } of cases) test(`truncated: ${name}`, () => expect(trace(onlyTrace(spans.map(span)))).toEqual(is));
});
