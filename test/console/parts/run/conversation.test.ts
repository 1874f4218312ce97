import { expect, test } from 'vitest';
import { conversationEntries, entriesOfRun, type Message, type RunCall } from '../../../../src/console/parts/run/conversation.ts';

function message(role: string, more: Partial<Message> = {}): Message {
  return {
    role,
    text: null,
    reasoning: null,
    calls: [],
    results: [],
    of_answer: false,
    span_id: 'm1',
    at: '',
    model: null,
    cut: false,
    ...more,
  };
}

function call(name: string, more: Partial<RunCall> = {}): RunCall {
  return {
    name,
    id: null,
    arguments: {},
    result_carried: true,
    result: 'ok',
    error: null,
    executed: true,
    outcome: 'ok',
    span_id: null,
    ...more,
  };
}

test('a result is beside its call, and not again as a message', () => {
  const entries = conversationEntries(
    [
      message('user', { text: 'Where is A-1?' }),
      message('assistant', { calls: [{ id: 'c1', name: 'find', arguments: { id: 'A-1' } }] }),
      message('tool', { results: [{ id: 'c1', name: 'find', result: { at: 'depot' }, is_error: null }] }),
      message('assistant', { text: 'At the depot.' }),
    ],
    [],
  );
  expect(entries).toMatchObject([
    { kind: 'message', role: 'user', text: 'Where is A-1?' },
    { kind: 'call', name: 'find', sent: { id: 'A-1' }, result: { value: { at: 'depot' }, isError: false }, index: undefined },
    { kind: 'message', role: 'assistant', text: 'At the depot.' },
  ]);
});

test('what the run knows of a call completes it: span, position and error', () => {
  const entries = conversationEntries(
    [message('assistant', { calls: [{ id: 'c2', name: 'send', arguments: null }] })],
    [
      call('find', { id: 'c1' }),
      call('send', {
        id: 'c2',
        span_id: 's2',
        arguments: { to: 'x' },
        result_carried: false,
        error: { message: 'no mail server', type: null },
      }),
    ],
  );
  expect(entries).toEqual([
    {
      kind: 'call',
      name: 'send',
      id: 'c2',
      sent: { to: 'x' },
      result: { value: 'no mail server', isError: true },
      index: 1,
      spanId: 's2',
      isCut: false,
    },
  ]);
});

test('calls without ids are matched by name and arguments, each once', () => {
  const asked = (nth: number): Message => message('assistant', { calls: [{ id: null, name: 'find', arguments: { nth } }] });
  const entries = conversationEntries(
    [asked(2), asked(1), asked(3)],
    [call('find', { arguments: { nth: 1 } }), call('find', { arguments: { nth: 2 } })],
  );
  expect(entries.map((entry) => (entry.kind === 'call' ? entry.index : entry.kind))).toEqual([1, 0, undefined]);
});

test('results without ids go to the calls of their name in order, and others stay separate', () => {
  const entries = conversationEntries(
    [
      message('assistant', {
        calls: [
          { id: null, name: 'find' },
          { id: null, name: 'find' },
        ],
      }),
      message('tool', { results: ['first', 'second'].map((result) => ({ id: null, name: 'find', result, is_error: null })) }),
      message('tool', { results: [{ id: 'other', name: 'unasked', result: 'stray', is_error: true }] }),
    ],
    [],
  );
  expect(
    entries.map((entry) => (entry.kind === 'call' ? entry.result?.value : entry.kind === 'result' ? entry.value : entry.text)),
  ).toEqual(['first', 'second', 'stray']);
});

test('a message without text is left out, and reasoning is kept', () => {
  expect(
    conversationEntries([message('assistant', { text: ' ' }), message('assistant', { reasoning: 'I should look.' })], []),
  ).toMatchObject([{ kind: 'message', text: null, reasoning: 'I should look.' }]);
});

test('a run without messages is its input, its calls and its answer', () => {
  const entries = entriesOfRun({
    input: 'Hello',
    tool_calls: [call('find', { executed: false, result_carried: false })],
    final_response: { done: true },
  });
  expect(entries).toMatchObject([
    { kind: 'message', role: 'user', text: 'Hello' },
    { kind: 'call', name: 'find', result: undefined, index: 0 },
    { kind: 'message', role: 'assistant', text: '{\n  "done": true\n}' },
  ]);
  expect(entriesOfRun({})).toEqual([]);
});
