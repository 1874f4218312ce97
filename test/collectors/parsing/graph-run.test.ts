/** Spans of a graph that have its whole conversation. */
import { describe, expect, test } from 'vitest';
import { graphRun } from '../../../collectors/traceloop.ts';
import type { JsonValue } from '../../../src/model/json.ts';

const asked: JsonValue = { role: 'user', content: 'q' };
const human: JsonValue = { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'HumanMessage'], kwargs: { content: 'q' } };
const called: JsonValue = {
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', 'AIMessage'],
  kwargs: { name: 'travel', content: '', tool_calls: [{ id: 'c1', name: 't', args: { x: 1 } }] },
};
const told: JsonValue = {
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', 'ToolMessage'],
  kwargs: { name: 't', tool_call_id: 'c1', content: 'r' },
};
const answer = (name: string | undefined): JsonValue => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', 'AIMessage'],
  kwargs: { ...(name === undefined ? {} : { name }), content: 'a' },
});

const input = JSON.stringify({ messages: [asked] });

describe('graph run', () => {
  test('graph run: its output goes on with its input, and names the agent', () => {
    expect(graphRun(input, { messages: [human, called, told, answer('travel')] })).toMatchObject({
      role: 'agent',
      agentName: 'travel',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ requested: [{ id: 'c1', name: 't' }] }, { results: [{ id: 'c1', result: 'r' }] }, { text: 'a' }],
    });
  });

  test('graph run: without a name it encloses an agent', () => {
    expect(graphRun(input, { messages: [human, answer(undefined)] })).toMatchObject({ role: 'workflow', outputMessages: [{ text: 'a' }] });
  });

  const steps: readonly (readonly [name: string, input: string | undefined, output: JsonValue | undefined])[] = [
    ['a step gives back what it added', input, { messages: [answer('travel')] }],
    ['a step passes on what it was given', input, { messages: [asked] }],
    ['another conversation is not the same', input, { messages: [{ role: 'user', content: 'other' }, answer('travel')] }],
    ['nobody answered', input, { messages: [human, human] }],
    ['no messages', '{"x":1}', { output: '__end__' }],
    ['no text', 'q', 'a'],
    ['no input', undefined, { messages: [human, answer('travel')] }],
    ['no output', input, undefined],
  ];
  for (const [name, given, output] of steps)
    test(`graph run: ${name}, so it is not a run`, () => expect(graphRun(given, output)).toEqual({}));
});
