/** Judges of the tool calls of a run: their arguments, their choice, and both. A judge sees what was known before each call. */
import {
  argumentsUnknown,
  hasArguments,
  placedCalls,
  cutShort,
  skipped,
  type Skipped,
  noToolCalls,
  notCarried,
  evidenceOf,
} from './evidence/calls.ts';
import {
  inputText,
  notAsked,
  sourcesCut,
  judgeInput,
  judgeInputBefore,
  judgeInputCalls,
  judgeInputDefinitions,
  lacking,
  type JudgeInput,
} from './judging/judge-input.ts';
import { callItems, questionJudge } from './judging/question-judge.ts';
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { flag } from './configuration/define.ts';
import { selectionInput, selectionInstruction, selectionSteps } from './judging/selection-question.ts';

/** A judge finds the arguments of every call right, by what was known before the call. */
export const argumentCorrectness = questionJudge({
  id: 'argument_correctness',
  mappable: false,
  summary: 'A judge finds the arguments of the tool calls right for what the user wants.',
  needs: ['tool_calls', 'input'],
  defaultThreshold: 0.5,
  source: 'DeepEval ArgumentCorrectnessMetric, with exactly one verdict a call',
  question({ trace }) {
    const calls = placedCalls(trace);
    const judged = calls.filter(hasArguments);
    const last = judged.at(-1);
    if (last === undefined) return argumentsUnknown(trace, undefined, notAsked);
    const cut = sourcesCut(trace, last);
    if (cut !== undefined) return cut;
    return {
      instruction,
      input: [...judgeInputBefore(trace), judgeInput('user input', inputText(trace)), judgeInputCalls(calls)],
      items: callItems(judged),
      labels: { yes: 1, no: 0 },
      what: 'tool call',
      list: 'calls',
      scoredBy: 'share',
      inWords: { yes: 'given correct arguments', no: 'given wrong arguments' },
      details: judged.length === calls.length ? {} : { without_arguments: calls.length - judged.length },
    };
  },
});

const instruction =
  'An AI agent has worked on the user input with the tool calls, which stand in their order, each with its result. Decide for each call whether its arguments are correct: yes when they serve what the user wants and agree with the user input, the earlier messages, the system prompt and the results of earlier calls; no when a value is wrong, contradicts them or was made up, or when something that the call needed is missing. Sensible defaults are correct. Judge by what was known before the call (calls that were asked for together did not know each other’s results), not by its own result or by what came later, and do not judge whether the tool was the right one. First explain in one sentence, then give the label yes or no.';

/** A judge finds the arguments of each call extracted as the tool's schema requires, and names the wrong ones. */
export const parameterExtraction = questionJudge({
  id: 'parameter_extraction',
  mappable: false,
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
      instruction: parameterExtractionInstruction,
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

const parameterExtractionInstruction =
  'An AI agent has answered the last message of the user with tool calls, which stand in their order, each with its result. Decide for each call whether its arguments were extracted correctly. They are correct when every value is what the conversation or the result of an earlier call says, in the type, unit and format that the tool’s parameters ask for, and every parameter that the tool requires, or that the user named a value for, is there. Optional parameters that nobody spoke of may be left out, or hold a sensible default. Do not judge whether the tool was the right one, and do not use results of the call itself or of later ones. For each call first explain in one sentence, then list the names of the wrong arguments and of those that are missing (an empty list where there is none), then give the label: correct where the list is empty, incorrect otherwise.';

function schemasUnknown({ toolDefinitions, truncated }: AgentTrace, called: ReadonlySet<string>): Skipped {
  if (truncated?.includes('spans') === true || toolDefinitions.some((one) => called.has(one.name) && one.truncated === true))
    return cutShort('definitions of tools', notAsked);
  return skipped('no_tool_definitions', 'The spans carry no schema of a tool that was called.', notAsked);
}

/** A judge finds each call right: the right tool among the defined ones, with known values. */
export const router = questionJudge({
  id: 'router',
  mappable: false,
  summary: 'A judge finds each tool call the right one to make.',
  needs: ['tool_calls', 'tool_definitions', 'input'],
  defaultThreshold: 1,
  options: {
    judge_no_call: flag(
      'A run without a tool call is judged too: correct where none of the defined tools was needed. Otherwise it is skipped.',
    ),
  },
  source: 'the deck’s judge of function calling, with labels and no scale',
  evidence: [],
  question({ trace }, { judgeNoCall }, context) {
    const calls = placedCalls(trace);
    const none = notCarried(trace) ?? (calls.length === 0 && !judgeNoCall ? noToolCalls(trace) : undefined);
    if (none !== undefined) return { ...none, details: notAsked };
    const stop = lacking(trace, context, ['tool_definitions', 'input']);
    if (stop !== undefined) return stop;
    const last = calls.at(-1);
    if (last === undefined)
      return {
        instruction: noCallInstruction,
        input: conversation(trace),
        labels,
        what: 'Calling no tool',
        details: { tool_calls: 0 },
      };
    const cut = sourcesCut(trace, last);
    if (cut !== undefined) return cut;
    return {
      instruction: routerInstruction,
      input: [...conversation(trace), judgeInputCalls(calls)],
      items: callItems(calls),
      labels,
      what: 'tool call',
      list: 'calls',
      scoredBy: 'share',
    };
  },
});

const labels = { correct: 1, incorrect: 0 };

const routerInstruction =
  'An AI agent has answered the last message of the user with tool calls, which stand in their order. Decide for each call whether it was correct. It is correct when, at that moment, one of the available tools was needed, this tool was the best fit among them, the call names a tool that is available, and its arguments hold what the tool asks for, in the format that it asks for, taken from the conversation or from the results of earlier calls. It is incorrect when another tool or none should have been called, when an argument that the tool requires is missing or wrong, or when a value comes from nowhere in the conversation. Where arguments are not recorded, judge the choice of the tool alone. Do not hold a result against the call that got it. First explain in one sentence, then give the label correct or incorrect.';

const noCallInstruction =
  'An AI agent has answered the last message of the user without calling any tool. Decide whether that was correct. It is correct when none of the available tools was needed, when none of them fits, or when something had to be asked of the user first. It is incorrect when one of the available tools should have been called. First explain in one sentence, then give the label correct or incorrect.';

function conversation(trace: AgentTrace): readonly JudgeInput[] {
  const called = new Set(trace.toolCalls.map(({ name }) => name));
  const withSchema = (name: string): boolean => called.has(name);
  return [
    ...judgeInputBefore(trace),
    judgeInput('last message of the user', inputText(trace)),
    judgeInputDefinitions(trace.toolDefinitions, withSchema),
  ];
}

/** A judge rates the choice among the defined tools on a scale of five. */
export const toolSelection = questionJudge({
  id: 'tool_selection',
  summary: 'A judge finds the tools that were called well chosen among those that are defined.',
  needs: ['tool_calls', 'tool_definitions', 'input'],
  defaultThreshold: 0.5,
  source: 'the selection part of DeepEval ToolCorrectness, on a scale of five steps',
  question({ trace }) {
    const calls = placedCalls(trace);
    return {
      instruction: selectionInstruction,
      input: selectionInput(trace),
      what: 'The choice of tools',
      steps: selectionSteps,
      evidence: evidenceOf(calls),
      details: { tool_calls: calls.length },
    };
  },
});
