/** The final response is a good summary of its source, by the judgement of a model. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { Expectation } from '../src/model/expectation.ts';
import { cutShort, executedCalls, noToolCalls, notCarried, resultsUnknown, skipped, type Skipped } from './evidence/calls.ts';
import { finalText, inputText, lacking, notAsked } from './judging/judge-evidence.ts';
import { retrievedIn } from './evidence/retrieved.ts';
import { judgeInput, judgeInputCalls, judgeInputList, type JudgeInput } from './judging/judge-input.ts';
import { choice } from './configuration/option-table.ts';
import { expecting, contextTexts } from './expectation/expecting.ts';
import { questionJudge } from './judging/question-judge.ts';

type Source = 'input' | 'context' | 'documents' | 'tool_results';

export const summarization = questionJudge({
  id: 'summarization',
  summary: 'A judge finds the final response a good summary of its source.',
  needs: ['input', 'final_response'],
  defaultThreshold: 1,
  options: {
    source: choice(
      ['auto', 'input', 'context', 'documents', 'tool_results'],
      'What was to be summarised: the input of the user, the expected `context`, the retrieved documents, or what tools returned; `auto` is the context where one is expected, else the documents where some were retrieved, else the input.',
    ),
  },
  expectationSchema: expecting({ context: contextTexts('The source of the summary: a text, or a list of texts.') }),
  checks: ({ source }) => (source === 'auto' || source === 'context' ? ['context'] : []),
  source: 'the deck’s judge of summaries',
  evidence: [],
  question({ trace, expected }, options, context) {
    const source = options.source === 'auto' ? likelySource(trace, expected) : options.source;
    const stop = lacking(trace, context, source === 'input' ? ['input', 'final_response'] : ['final_response']);
    if (stop !== undefined) return stop;
    const text = sources[source](trace, expected);
    if ('kind' in text) return { ...text, details: notAsked };
    const request = source === 'input' || inputText(trace).trim() === '' ? [] : [judgeInput('user input', inputText(trace))];
    return {
      instruction,
      input: [...request, text, judgeInput('final response', finalText(trace))],
      labels: { good: 1, bad: 0 },
      what: 'The summary',
      details: { source },
    };
  },
});

const instruction =
  'An AI agent has summarised the source; its summary is the final response. Decide whether the summary is good. It is good when it holds the main points of the source, says nothing that the source does not say, keeps to what the user asked of it, is clearly shorter than the source, and can be understood without it. It is bad when a main point is missing, when something in it is wrong or made up, or when it is confused. Where the source begins with what the user asked for, that request is no part of what is summarised. First explain in one sentence, naming what is missing or wrong, then give the label good or bad.';

function likelySource(trace: AgentTrace, { context = [] }: Expectation): Source {
  if (context.length > 0) return 'context';
  return trace.documents.length > 0 ? 'documents' : 'input';
}

const sources: { readonly [source in Source]: (trace: AgentTrace, expected: Expectation) => JudgeInput | Skipped } = {
  input: (trace) => judgeInput('source', inputText(trace)),
  context: (_trace, { context = [] }) =>
    context.length === 0
      ? skipped('no_expectation', 'Nothing says what the source of the summary is: no context is expected.')
      : judgeInputList('source', context),
  documents: (trace) => {
    const found = retrievedIn(trace, []);
    return found.kind === 'skipped'
      ? found
      : judgeInputList(
          'source',
          found.documents.map(({ text }) => text),
        );
  },
  tool_results: (trace) => {
    const calls = executedCalls(trace);
    if (calls.length === 0) return notCarried(trace) ?? noToolCalls(trace);
    if (calls.some(({ call }) => call.truncated?.result !== undefined)) return cutShort('results of tool calls');
    if (calls.every(({ call }) => call.result === undefined))
      return resultsUnknown(calls, 'The spans carry no results of tool calls; switch on the capture of tool outputs.');
    return judgeInputCalls(calls, 'source');
  },
};
