import { expect, test } from 'vitest';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { answered, labelsEachItem, said, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'relevance' };
const byTools = { ...entry, options: { tools: ['search docs'] } };
const trace = agentTrace({
  input: 'When does the museum open?',
  documents: [{ id: 'd1', content: 'It opens at 9.', spanId: spanId(1) }, { content: ' ' }, { content: 'It is blue.', spanId: spanId(2) }],
});
const { input: _input, ...withoutInput } = trace;
const found = (result: AgentTrace['finalResponse'], more: Parameters<typeof call>[0] = {}) =>
  agentTrace({
    input: 'q',
    toolCalls: [call({ name: 'other', result: 'no document' }), call({ name: 'search_docs', result, spanId: spanId(7), ...more })],
  });
const documents = (run: AgentTrace) =>
  judged({ entry: byTools, trace: run }, []).questions[0]?.data.find(({ title }) => title === 'documents')?.text;

labelsEachItem({ entry, trace, list: 'documents', what: 'document', numbers: [1, 2], good: 'relevant', bad: 'unrelated', oneBad: 0.5 });

test('relevance: the judge sees the input and the documents that have content', () => {
  expect(judged({ entry, trace }, []).questions[0]?.data).toEqual([
    { title: 'last message of the user', text: 'When does the museum open?' },
    { title: 'documents', text: '1. It opens at 9.\n2. It is blue.' },
  ]);
});

test('relevance: unrelated documents are named by their place in the run, and their spans are the evidence', () => {
  const { verdict } = judged(
    { entry, trace },
    answered({ documents: [said('relevant', { number: 1 }), said('unrelated', { number: 2 })] }),
  );
  expect(verdict).toMatchObject({
    score: 0.5,
    passed: true,
    explanation: '1 of 2 documents is unrelated: document 3 (because 2).',
    evidence: [spanId(2)],
    parts: [],
    details: {
      documents: [
        { document: 1, id: 'd1', span_id: spanId(1), label: 'relevant' },
        { document: 3, label: 'unrelated' },
      ],
    },
  });
});

const results = [
  { name: 'a text', result: 'one', want: '1. one' },
  { name: 'a list', result: ['one', { page: 'two' }, ''], want: '1. one\n2. {"page":"two"}' },
  { name: 'an object with a list', result: { documents: ['one', 'two'], total: 2 }, want: '1. one\n2. two' },
  { name: 'an object with results', result: { results: ['one'] }, want: '1. one' },
  { name: 'any other object', result: { rows: ['one', 'two'] }, want: '1. {"rows":["one","two"]}' },
] as const;
for (const { name, result, want } of results) {
  test(`relevance: ${name} that a named tool returned is read as documents`, () => {
    expect(documents(found(result))).toBe(want);
  });
}

test('relevance: a result of a named tool that does not help is named with its call', () => {
  expect(
    judged(
      { entry: byTools, trace: found(['one', 'two']) },
      answered({ documents: [said('unrelated', { number: 1 }), said('relevant', { number: 2 })] }),
    ).verdict,
  ).toMatchObject({
    explanation: '1 of 2 documents is unrelated: document 1 of search_docs (call 2) (because 1).',
    evidence: [spanId(7)],
    details: { documents: [{ index: 1, tool: 'search_docs', span_id: spanId(7), document: 1 }, { document: 2 }] },
  });
});

skips([
  { name: 'a run that retrieved nothing', entry, trace: { ...trace, documents: [] }, reason: 'no_such_target' },
  { name: 'a run without the content of documents', entry, trace: { ...trace, documents: [{ id: 'd1' }] }, reason: 'results_not_carried' },
  {
    name: 'a run whose documents may have been lost',
    entry,
    trace: { ...trace, documents: [], truncated: ['spans'] },
    reason: 'truncated',
  },
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'an input that was cut', entry, trace: { ...trace, truncated: ['input'] }, reason: 'truncated' },
  {
    name: 'more documents than a judge is asked about',
    entry,
    trace: { ...trace, documents: Array.from({ length: 101 }, () => ({ content: 'x' })) },
    reason: 'too_large',
  },
  {
    name: 'a run in which no named tool ran',
    entry: byTools,
    trace: { ...trace, toolCalls: [call({ name: 'search_docs', executed: false })] },
    reason: 'no_such_target',
  },
  { name: 'a named tool that found nothing', entry: byTools, trace: found([]), reason: 'no_such_target' },
  {
    name: 'a named tool that failed',
    entry: byTools,
    trace: found(undefined, { result: undefined, error: { message: 'down', sign: 'span_status' } }),
    reason: 'no_such_target',
  },
  {
    name: 'a named tool whose result is not known',
    entry: byTools,
    trace: found(undefined, { result: undefined }),
    reason: 'results_not_carried',
  },
  {
    name: 'a named tool whose result was cut',
    entry: byTools,
    trace: found(undefined, { result: undefined, truncated: { result: 'x' } }),
    reason: 'truncated',
  },
  {
    name: 'a dialect that carries no calls',
    entry: byTools,
    trace: agentTrace({ input: 'q', toolCallsCarried: false }),
    reason: 'tool_calls_not_carried',
  },
]);
