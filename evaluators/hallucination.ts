/** The final response claims nothing that the run did not find or receive. A judge lists the claims without support. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { Expectation } from '../src/model/expectation.ts';
import { cutShort, executedCalls, notCarried, placedCalls, resultsUnknown, skipped, type Skipped } from './evidence/calls.ts';
import { finalText, inputText, notAsked } from './judging/judge-evidence.ts';
import { retrievedIn } from './evidence/retrieved.ts';
import { judgeInput, judgeInputBefore, judgeInputCalls, judgeInputList, type JudgeInput } from './judging/judge-input.ts';
import { count } from './explain/explanation.ts';
import { expecting, contextTexts } from './expectation/expecting.ts';
import { questionJudge } from './judging/question-judge.ts';

export const hallucination = questionJudge({
  id: 'hallucination',
  summary: 'A judge finds every claim of the final response supported by tool results, documents or a given context.',
  needs: ['input', 'final_response', 'tool_results'],
  defaultThreshold: 1,
  expectationSchema: expecting({
    context: contextTexts('A text, or a list of texts, that the response may rest on beside what the run found out.'),
  }),
  switchedOnBy: { context: {} },
  source: 'the deck’s judge of hallucination, with the claims listed',
  question({ trace, expected }) {
    const sources = sourcesOf(trace, expected);
    if (sources.kind === 'skipped') return { ...sources, details: notAsked };
    return {
      instruction,
      input: [
        ...judgeInputBefore(trace),
        judgeInput('last message of the user', inputText(trace)),
        ...sources.input,
        judgeInput('final response', finalText(trace)),
      ],
      labels: { factual: 1, hallucinated: 0 },
      faults: 'unsupported_claims',
      what: 'The final response',
      details: { checked_against: sources.names },
    };
  },
});

const instruction =
  'An AI agent has answered the last message of the user. Check the claims of fact in its final response against the material: the conversation, the context, the documents and the results of the tool calls. A claim is unsupported when the material contradicts it, or when it states something particular (a name, a number, a date, an event, that something was done) that the material does not hold. Rewording, plain reasoning and arithmetic on what is there, knowledge that everybody has, polite phrases, questions and statements of what could not be found are no unsupported claims. A claim that may rest on a result that was not recorded, or on characters that were cut, is not unsupported. First explain in one sentence, then list the unsupported claims in the words of the response (an empty list where there is none), then give the label: factual where the list is empty, hallucinated otherwise.';

type Sources = { readonly kind: 'found'; readonly input: readonly JudgeInput[]; readonly names: readonly string[] } | Skipped;

/** What the response is checked against beside the conversation, or why there is nothing of the kind. */
function sourcesOf(trace: AgentTrace, expected: Expectation): Sources {
  const calls = executedCalls(trace);
  if (trace.truncated?.includes('system_prompt') === true || calls.some(({ call }) => call.truncated?.result !== undefined))
    return cutShort('the system prompt or results of tool calls');
  const context = expected.context ?? [];
  const retrieved = retrievedIn(trace, []);
  const documents = retrieved.kind === 'found' ? retrieved.documents : [];
  const hasResults = calls.some(({ call }) => call.result !== undefined || call.error !== undefined);
  const blocks = [
    ...(context.length === 0 ? [] : [{ name: 'context', block: judgeInputList('context', context) }]),
    ...(documents.length === 0
      ? []
      : [
          {
            name: 'documents',
            block: judgeInputList(
              'documents',
              documents.map(({ text }) => text),
            ),
          },
        ]),
    ...(hasResults ? [{ name: 'tool_results', block: judgeInputCalls(placedCalls(trace)) }] : []),
  ];
  if (blocks.length > 0) return { kind: 'found', input: blocks.map(({ block }) => block), names: blocks.map(({ name }) => name) };
  if (calls.length > 0)
    return resultsUnknown(
      calls,
      `The spans carry no result of the ${count(calls.length, 'tool call')}; switch on the capture of tool outputs.`,
    );
  if (retrieved.kind === 'skipped' && retrieved.reason !== 'no_such_target') return retrieved;
  return (
    notCarried(trace) ??
    skipped('no_tool_calls', 'No tool ran, nothing was retrieved and no context is given that the final response could be checked against.')
  );
}
