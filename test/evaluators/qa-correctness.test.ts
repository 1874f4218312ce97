import { expect, test } from 'vitest';
import { agentTrace } from '../builders/agent-trace.ts';
import { answered, labelsTheRun, said, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'qa_correctness' };
const trace = agentTrace({ input: 'When does it open?', finalResponse: 'At 9.', documents: [{ content: 'Opens at 9.' }] });
const unread = { ...trace, documents: [] };
const { input: _input, ...withoutInput } = trace;
const { finalResponse: _response, ...withoutResponse } = trace;

labelsTheRun({ entry, trace, expected: { output: 'At nine' }, good: 'correct', bad: 'incorrect' });

const references = [
  {
    name: 'the expected output',
    expected: { output: 'At nine', context: ['Opens at 8.'] },
    title: 'reference answer',
    text: 'At nine',
    reference: 'output',
  },
  {
    name: 'an expected output that is a value',
    expected: { output: { opens: 9 } },
    title: 'reference answer',
    text: '{"opens":9}',
    reference: 'output',
  },
  { name: 'the expected context', expected: { context: ['Opens at 8.'] }, title: 'context', text: '1. Opens at 8.', reference: 'context' },
  {
    name: 'a context beside a blank output',
    expected: { output: ' ', context: ['Opens at 8.'] },
    title: 'context',
    text: '1. Opens at 8.',
    reference: 'context',
  },
  { name: 'what was retrieved', expected: {}, title: 'context', text: '1. Opens at 9.', reference: 'documents' },
] as const;
for (const { name, expected, title, text, reference } of references) {
  test(`qa_correctness: ${name} is what the response is judged by, and the details say so`, () => {
    const { questions, verdict } = judged({ entry, trace, expected }, answered(said('correct')));
    expect(questions[0]?.data).toEqual([
      { title: 'last message of the user', text: 'When does it open?' },
      { title, text },
      { title: 'final response', text: 'At 9.' },
    ]);
    expect(questions[0]?.instruction).toContain(reference === 'output' ? 'by the reference answer' : 'by the context');
    expect(verdict).toMatchObject({ score: 1, details: { reference } });
  });
}

skips([
  { name: 'a run without a known answer', entry, trace: unread, reason: 'no_expectation' },
  { name: 'an expected output that is null', entry, trace: unread, expected: { output: null }, reason: 'no_expectation' },
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'a run without a final response', entry, trace: withoutResponse, reason: 'no_final_response' },
  { name: 'a final response that was cut', entry, trace: { ...trace, truncated: ['final_response'] }, reason: 'truncated' },
]);
