import { expect, test } from 'vitest';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { answered, labelsTheRun, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'hallucination' };
const trace = agentTrace({
  input: 'When does it open?',
  systemPrompt: 'Be kind.',
  finalResponse: 'At 9, and it is free.',
  documents: [{ content: 'Opens at 9.' }, { id: 'bare' }],
  toolCalls: [call({ name: 'look', result: { opens: 9 } }), call({ name: 'pay', executed: false, result: undefined })],
});
const bare = { ...trace, documents: [], toolCalls: [] };
const { input: _input, ...withoutInput } = trace;
const { finalResponse: _response, ...withoutResponse } = trace;

labelsTheRun({ entry, trace, good: 'factual', bad: 'hallucinated', faults: 'unsupported_claims' });

test('hallucination: the judge sees the conversation, the context, the documents, the results and the response', () => {
  const { questions, verdict } = judged(
    { entry, trace, expected: { context: ['Museums open late.', 'They cost 5.'] } },
    answered({ explanation: 'Nobody said so.', unsupported_claims: ['it is free'], label: 'hallucinated' }),
  );
  expect(questions[0]?.data).toEqual([
    { title: 'system prompt', text: 'Be kind.' },
    { title: 'last message of the user', text: 'When does it open?' },
    { title: 'context', text: '1. Museums open late.\n2. They cost 5.' },
    { title: 'documents', text: '1. Opens at 9.' },
    { title: 'tool calls', text: '1. look({})\n   returned: {"opens":9}\n2. pay({})\n   did not run' },
    { title: 'final response', text: 'At 9, and it is free.' },
  ]);
  expect(verdict).toMatchObject({
    score: 0,
    explanation: 'The final response is hallucinated: "it is free" (Nobody said so).',
    details: { unsupported_claims: ['it is free'], checked_against: ['context', 'documents', 'tool_results'] },
  });
});

test('hallucination: a given context is enough to check against', () => {
  expect(
    judged(
      { entry: { ...entry, expect: { context: 'Opens at 9.' } }, trace: bare },
      answered({ explanation: 'e', unsupported_claims: [], label: 'factual' }),
    ).verdict,
  ).toMatchObject({ score: 1, label: 'factual', details: { checked_against: ['context'] } });
});

skips([
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'a run without a final response', entry, trace: withoutResponse, reason: 'no_final_response' },
  { name: 'a final response that was cut', entry, trace: { ...trace, truncated: ['final_response'] }, reason: 'truncated' },
  { name: 'a system prompt that was cut', entry, trace: { ...trace, truncated: ['system_prompt'] }, reason: 'truncated' },
  {
    name: 'a result that was cut',
    entry,
    trace: { ...trace, toolCalls: [call({ result: undefined, truncated: { result: 'x' } })] },
    reason: 'truncated',
  },
  { name: 'a run without anything to check against', entry, trace: bare, reason: 'no_tool_calls' },
  { name: 'a dialect that carries no calls', entry, trace: { ...bare, toolCallsCarried: false }, reason: 'tool_calls_not_carried' },
  {
    name: 'a run of calls without results',
    entry,
    trace: { ...bare, toolCalls: [call({ result: undefined })] },
    reason: 'results_not_carried',
  },
  { name: 'a run of documents without content', entry, trace: { ...bare, documents: [{ id: 'd1' }] }, reason: 'results_not_carried' },
  { name: 'more calls than are scored', entry, trace, limits: { toolCallsMax: 1 }, reason: 'too_large' },
]);
