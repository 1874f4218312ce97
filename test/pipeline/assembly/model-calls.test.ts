/** The requests to models of one agent, and the calls that they ask for. */
import { expect, test } from 'vitest';
import { onlyTrace } from '../../builders/assembled.ts';
import { agentSpan, assistant, modelSpan, toolSpan } from '../../builders/gen-ai-spans.ts';

const root = agentSpan({ id: 1, start: 0, end: 1_000 });
const call = { id: 'c1', name: 'f', arguments: { x: 1 } };
const request = modelSpan({ id: 2, parent: 1, start: 100, end: 200, user: 'q' });
const callInRequest = toolSpan({ id: 3, parent: 2, start: 190, end: 191, tool: 'f', call: 'c1', arguments: '{"x":1}' });

test('the span of a call inside its request is a requested call, whose result is in a later request', () => {
  const later = modelSpan({
    id: 4,
    parent: 1,
    start: 300,
    end: 400,
    user: 'q',
    history: [assistant({ asks: [call] })],
    told: [{ id: 'c1', response: 'r' }],
  });
  const { toolCalls } = onlyTrace([root, request, callInRequest, later]);
  expect(toolCalls).toMatchObject([{ id: 'c1', name: 'f', arguments: { x: 1 }, result: 'r', executed: true }]);
});

test('a requested call without a result was not executed', () => {
  const { toolCalls } = onlyTrace([root, request, callInRequest]);
  expect(toolCalls).toMatchObject([{ id: 'c1', name: 'f', executed: false }]);
});

test('a tool span with a result inside a request is an execution', () => {
  const executed = toolSpan({ id: 3, parent: 2, start: 190, end: 191, tool: 'f', call: 'c1', arguments: '{"x":1}', result: '"r"' });
  const { toolCalls } = onlyTrace([root, request, executed]);
  expect(toolCalls).toMatchObject([{ id: 'c1', name: 'f', result: 'r', executed: true }]);
});
