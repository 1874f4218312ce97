import { expect, test } from 'vitest';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { answered, labelsTheRun, said, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'goal_reached' };
const trace = agentTrace({
  input: 'Book a room in Rome.',
  finalResponse: 'It is booked.',
  toolCalls: [call({ name: 'book', arguments: { city: 'Rome' }, result: 'ok' })],
});
const { input: _input, ...withoutInput } = trace;
const { finalResponse: _response, ...withoutResponse } = trace;
const conversation = agentTrace({
  ...trace,
  messages: [
    { role: 'user', text: 'Book a room.', calls: [] },
    { role: 'assistant', text: 'Where?', calls: [] },
    { role: 'user', text: 'In Rome.', calls: [] },
    { role: 'assistant', calls: [0] },
    { role: 'tool', text: 'ok', calls: [] },
    { role: 'assistant', text: 'It is booked.', calls: [] },
  ],
});

labelsTheRun({ entry, trace, good: 'reached', bad: 'missed', faults: 'unmet' });

const fine = said('reached', { faults: 'unmet' });
const booked = '1. book({"city":"Rome"})\n   returned: ok';

test('goal_reached: the judge sees who said what in order, with the calls between', () => {
  const { questions, verdict } = judged({ entry, trace: conversation }, answered(fine));
  expect(questions[0]?.data).toEqual([
    {
      title: 'conversation',
      text: `user said: Book a room.\nassistant said: Where?\nuser said: In Rome.\n${booked}\nassistant said: It is booked.`,
    },
  ]);
  expect(verdict).toMatchObject({
    kind: 'scored',
    score: 1,
    passed: true,
    explanation: 'The goal of the session is reached: because.',
    details: { user_messages: 2 },
  });
});

test('goal_reached: messages that lack calls are put together from the known parts', () => {
  const { questions } = judged({ entry, trace: { ...conversation, messages: conversation.messages?.slice(0, 3) ?? [] } }, answered(fine));
  expect(questions[0]?.data).toEqual([
    { title: 'conversation', text: `user said: Book a room in Rome.\n${booked}\nassistant said: It is booked.` },
  ]);
});

test('goal_reached: given goals and constraints are next to it', () => {
  const { questions } = judged({ entry, trace, expected: { tasks: ['a room in Rome'], constraints: 'below 100' } }, answered(fine));
  expect(questions[0]?.data[1]).toEqual({ title: 'goals', text: 'Tasks:\n1. a room in Rome\nConstraints: below 100' });
});

test('goal_reached: of a long session the beginning and the end are shown, and what is left out is counted', () => {
  const toolCalls = Array.from({ length: 900 }, (_, at) =>
    call({ name: `step_${at}`, arguments: { at, text: 'x'.repeat(50) }, result: `result ${at} ${'y'.repeat(50)}` }),
  );
  const messages = [
    { role: 'user', text: 'First wish.', calls: [] },
    ...toolCalls.map((_, at) => ({ role: 'assistant', calls: [at] })),
    { role: 'user', text: 'Last wish.', calls: [] },
    { role: 'assistant', text: 'Done.', calls: [] },
  ];
  const { questions, verdict } = judged(
    { entry, trace: agentTrace({ input: 'First wish.', finalResponse: 'Done.', toolCalls, messages }) },
    answered(fine),
  );
  const text = questions[0]?.data[0]?.text ?? '';
  for (const part of ['First wish.', 'step_0', 'step_899', 'Last wish.', 'Done.', '[left out: ']) expect(text).toContain(part);
  expect(verdict.details).toMatchObject({ truncated: true, steps_left_out: expect.any(Number) as number });
});

skips([
  { name: 'a session in which nothing is known of the user', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'a session without an answer', entry, trace: withoutResponse, reason: 'no_final_response' },
  { name: 'an input that was cut', entry, trace: { ...trace, truncated: ['input'] }, reason: 'truncated' },
  { name: 'a response that was cut', entry, trace: { ...trace, truncated: ['final_response'] }, reason: 'truncated' },
  {
    name: 'a session of too many calls',
    entry,
    trace: { ...trace, toolCalls: [call(), call(), call()] },
    limits: { toolCallsMax: 2 },
    reason: 'too_large',
  },
]);
