/** `expect.messages` of the library takes the form of the OpenAI API, as files do, and its own. */
import { expect, test } from 'vitest';
import { agentTrace, toolCall } from '../../src/library/agent-trace.ts';
import { evaluate, type GivenExpectation, trajectoryMatch } from '../../src/library/evaluators.ts';
import { matchers } from '../../src/library/vitest.ts';

const trace = agentTrace({
  input: 'Book a room in Rome.',
  toolCalls: [toolCall('book', { city: 'Rome' }, { result: 'ok' })],
  finalResponse: 'Booked.',
});

const asked = { role: 'user', content: 'Book a room in Rome.' };
const calling = (city: string) => ({
  role: 'assistant',
  tool_calls: [{ id: '1', type: 'function', function: { name: 'book', arguments: JSON.stringify({ city }) } }],
});
const result = { role: 'tool', tool_call_id: '1', content: 'ok' };
const answer = { role: 'assistant', content: 'Booked.' };
const ownForm = { role: 'assistant', toolCalls: [{ name: 'book', arguments: { city: 'Rome' } }] };

const table: readonly { readonly name: string; readonly messages: NonNullable<GivenExpectation['messages']>; readonly score: number }[] = [
  { name: 'the form of the OpenAI API', messages: [asked, calling('Rome'), result, answer], score: 1 },
  { name: 'that form with another argument', messages: [asked, calling('Oslo'), result, answer], score: 0 },
  {
    name: 'the form of the library',
    messages: [{ role: 'user', toolCalls: [] }, ownForm, { role: 'tool', toolCalls: [] }, { role: 'assistant', toolCalls: [] }],
    score: 1,
  },
  { name: 'both forms in one list', messages: [asked, ownForm, result, answer], score: 1 },
  { name: 'a message without calls', messages: [asked], score: 0 },
];
test.each(table)('library: trajectoryMatch reads $name', async ({ messages, score }) => {
  expect((await evaluate(trace, { expect: { messages } }, [trajectoryMatch()]))[0]).toMatchObject({ kind: 'scored', score });
});

test('library: toPass reads messages in the form of the OpenAI API', async () => {
  const matched = await matchers.toPass.call({}, trace, trajectoryMatch(), {
    expect: { messages: [asked, calling('Rome'), result, answer] },
  });
  expect(matched.pass).toBe(true);
});

test.each([
  [[{ content: 'no role' }], 'expect.messages[0].role must be a text.'],
  [[asked, { role: 'assistant', tool_calls: 'book' }], 'expect.messages[1].tool_calls must be a list.'],
  [[asked, { role: 'assistant', tool_calls: [{ id: '1' }] }], 'expect.messages[1].tool_calls[0] must be a call with a name.'],
])('library: messages that cannot be read are refused: %j', async (messages, sentence) => {
  await expect(evaluate(trace, { expect: { messages } }, [trajectoryMatch()])).rejects.toThrow(new TypeError(sentence));
});
