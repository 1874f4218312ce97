import { expect, test } from 'vitest';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { answered, labelsTheRun, said, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'summarization' };
const from = (source: string) => ({ use: 'summarization', options: { source } });
const trace = agentTrace({
  input: 'Summarise: it rained.',
  finalResponse: 'Rain.',
  toolCalls: [call({ name: 'read', result: 'It rained.' })],
});
const retrieved = { ...trace, documents: [{ content: 'It rained all day.' }] };
const { input: _input, ...withoutInput } = trace;
const { finalResponse: _response, ...withoutResponse } = trace;

labelsTheRun({ entry, trace, good: 'good', bad: 'bad' });

const request = { title: 'user input', text: 'Summarise: it rained.' };
const sources = [
  { name: 'the input', entry, run: trace, expected: {}, data: [{ title: 'source', text: 'Summarise: it rained.' }], source: 'input' },
  {
    name: 'documents before the input',
    entry,
    run: retrieved,
    expected: {},
    data: [request, { title: 'source', text: '1. It rained all day.' }],
    source: 'documents',
  },
  {
    name: 'the context before documents',
    entry,
    run: retrieved,
    expected: { context: ['It snowed.'] },
    data: [request, { title: 'source', text: '1. It snowed.' }],
    source: 'context',
  },
  {
    name: 'the input, where that is said',
    entry: from('input'),
    run: retrieved,
    expected: { context: ['It snowed.'] },
    data: [{ title: 'source', text: 'Summarise: it rained.' }],
    source: 'input',
  },
  {
    name: 'what tools returned, where that is said',
    entry: from('tool_results'),
    run: withoutInput,
    expected: {},
    data: [{ title: 'source', text: '1. read({})\n   returned: It rained.' }],
    source: 'tool_results',
  },
];
for (const { name, entry: own, run, expected, data, source } of sources) {
  test(`summarization: the source is ${name}`, () => {
    const { questions, verdict } = judged({ entry: own, trace: run, expected }, answered(said('bad')));
    expect(questions[0]?.data).toEqual([...data, { title: 'final response', text: 'Rain.' }]);
    expect(verdict).toMatchObject({ score: 0, explanation: 'The summary is bad: because.', details: { source } });
  });
}

skips([
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'an input that was cut', entry, trace: { ...trace, truncated: ['input'] }, reason: 'truncated' },
  { name: 'a run without a final response', entry, trace: withoutResponse, reason: 'no_final_response' },
  { name: 'a final response that was cut', entry, trace: { ...trace, truncated: ['final_response'] }, reason: 'truncated' },
  { name: 'a context that is not given', entry: from('context'), trace, reason: 'no_expectation' },
  { name: 'a run that retrieved nothing', entry: from('documents'), trace, reason: 'no_such_target' },
  { name: 'a run of documents without content', entry, trace: { ...trace, documents: [{ id: 'd' }] }, reason: 'results_not_carried' },
  { name: 'a run without a call', entry: from('tool_results'), trace: { ...trace, toolCalls: [] }, reason: 'no_tool_calls' },
  {
    name: 'a dialect that carries no calls',
    entry: from('tool_results'),
    trace: { ...trace, toolCalls: [], toolCallsCarried: false },
    reason: 'tool_calls_not_carried',
  },
  {
    name: 'a run of calls without results',
    entry: from('tool_results'),
    trace: { ...trace, toolCalls: [call({ result: undefined })] },
    reason: 'results_not_carried',
  },
  {
    name: 'a result that was cut',
    entry: from('tool_results'),
    trace: { ...trace, toolCalls: [call({ result: undefined, truncated: { result: 'x' } })] },
    reason: 'truncated',
  },
]);
