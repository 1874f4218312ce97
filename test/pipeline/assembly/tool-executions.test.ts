/** Spans of one execution are one call, with its failure. */
import { expect, test } from 'vitest';
import { spanId } from '../../builders/agent-trace.ts';
import { onlyTrace } from '../../builders/assembled.ts';
import { agentSpan, assistant, modelSpan, toolMessage, toolSpan, user, type CallData } from '../../builders/gen-ai-spans.ts';
import { span } from '../../builders/spans.ts';

const root = agentSpan({ id: 1, start: 0, end: 1_000 });
const failed = { parent: 1, status: 'error', message: 'boom' } as const;

test('tool executions: a span that only reports how the one before it failed is not an execution', () => {
  const { toolCalls } = onlyTrace([
    root,
    toolSpan({ ...failed, id: 2, tool: 'f', arguments: '{"x":1}', start: 10, end: 20 }),
    toolSpan({ ...failed, id: 3, tool: 'f_error', start: 20, end: 30 }),
    toolSpan({ ...failed, id: 4, tool: 'g_error', start: 30, end: 40 }),
    toolSpan({ ...failed, id: 5, tool: 'f_error', arguments: '{"x":1}', start: 40, end: 50 }),
  ]);
  expect(toolCalls.map(({ name, error }) => `${name}: ${error?.message}`)).toEqual(['f: boom', 'g_error: boom', 'f_error: boom']);
});

test('tool executions: one that failed without a message has the text that the model gets', () => {
  const call: CallData = { id: 'c1', name: 'f', arguments: { x: 1 } };
  const { toolCalls } = onlyTrace([
    root,
    modelSpan({ id: 2, parent: 1, user: 'q', asks: [call], start: 10, end: 20 }),
    toolSpan({ id: 3, parent: 1, tool: 'f', call: 'c1', status: 'error', start: 20, end: 30 }),
    modelSpan({
      id: 4,
      parent: 1,
      history: [user('q'), assistant({ asks: [call] }), toolMessage([{ id: 'c1', response: 'too much' }])],
      start: 30,
      end: 40,
    }),
  ]);
  expect(toolCalls).toMatchObject([{ name: 'f', error: { message: 'too much', sign: 'span_status' } }]);
});

test('tool executions: a span that only names a call by evidence does not replace the one of a collector', () => {
  const { toolCalls } = onlyTrace([
    root,
    modelSpan({ id: 2, parent: 1, start: 10, end: 50, asks: [{ id: 'c1', name: 'f', arguments: '{"x":1}' }] }),
    span({ id: 3, parent: 2, start: 40, end: 40, attributes: { 'acme.metadata.toolName': 'f', 'acme.metadata.toolCallId': 'c1' } }),
    toolSpan({ id: 4, parent: 1, start: 20, end: 30, tool: 'f', call: 'c1', arguments: '{"x":1}', result: 'r' }),
  ]);
  expect(toolCalls.map(({ name, spanId: of, result }) => [name, of, result])).toEqual([['f', spanId(4), 'r']]);
});
