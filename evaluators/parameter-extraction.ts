/** The arguments of each tool call are what the conversation says, in the form of the tool's schema. A judge names the wrong ones. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { argumentsUnknown, cutShort, hasArguments, placedCalls, skipped, type Skipped } from './evidence/calls.ts';
import { inputText, notAsked, sourcesCut } from './judging/judge-evidence.ts';
import { callItems } from './judging/labelled-items.ts';
import { judgeInput, judgeInputBefore, judgeInputCalls, judgeInputDefinitions } from './judging/judge-input.ts';
import { questionJudge } from './judging/question-judge.ts';

export const parameterExtraction = questionJudge({
  id: 'parameter_extraction',
  summary: 'A judge finds the arguments of each tool call extracted as its schema asks for, and names the wrong ones.',
  needs: ['tool_calls', 'tool_definitions', 'input'],
  defaultThreshold: 1,
  source: 'the deck’s judge of extracted parameters, with the wrong ones named',
  question({ trace }) {
    const calls = placedCalls(trace);
    const carried = calls.filter(hasArguments);
    if (carried.length === 0) return argumentsUnknown(trace, undefined, notAsked);
    const called = new Set(carried.map(({ call }) => call.name));
    const definitions = trace.toolDefinitions.filter(({ name, inputSchema }) => called.has(name) && inputSchema !== undefined);
    const known = new Set(definitions.map(({ name }) => name));
    const judged = carried.filter(({ call }) => known.has(call.name));
    const last = judged.at(-1);
    if (last === undefined) return schemasUnknown(trace, called);
    const cut = sourcesCut(trace, last);
    if (cut !== undefined) return cut;
    return {
      instruction,
      input: [
        ...judgeInputBefore(trace),
        judgeInput('last message of the user', inputText(trace)),
        judgeInputDefinitions(definitions, () => true, 'tools that were called'),
        judgeInputCalls(calls),
      ],
      items: callItems(judged),
      labels: { correct: 1, incorrect: 0 },
      faults: 'wrong_arguments',
      what: 'tool call',
      list: 'calls',
      scoredBy: 'share',
      details: judged.length === calls.length ? {} : { not_judged: calls.length - judged.length },
    };
  },
});

const instruction =
  'An AI agent has answered the last message of the user with tool calls, which stand in their order, each with its result. Decide for each call whether its arguments were extracted correctly. They are correct when every value is what the conversation or the result of an earlier call says, in the type, unit and format that the tool’s parameters ask for, and every parameter that the tool requires, or that the user named a value for, is there. Optional parameters that nobody spoke of may be left out, or hold a sensible default. Do not judge whether the tool was the right one, and do not use results of the call itself or of later ones. For each call first explain in one sentence, then list the names of the wrong arguments and of those that are missing (an empty list where there is none), then give the label: correct where the list is empty, incorrect otherwise.';

function schemasUnknown({ toolDefinitions, truncated }: AgentTrace, called: ReadonlySet<string>): Skipped {
  if (truncated?.includes('spans') === true || toolDefinitions.some((one) => called.has(one.name) && one.truncated === true))
    return cutShort('definitions of tools', notAsked);
  return skipped('no_tool_definitions', 'The spans carry no schema of a tool that was called.', notAsked);
}
