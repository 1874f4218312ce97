/** Each tool call was the right one to make: the right function among the defined ones, with known values. A judge decides. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { noToolCalls, notCarried, placedCalls } from './evidence/calls.ts';
import { inputText, lacking, notAsked, sourcesCut } from './judging/judge-evidence.ts';
import { callItems } from './judging/labelled-items.ts';
import { judgeInput, judgeInputBefore, judgeInputCalls, judgeInputDefinitions, type JudgeInput } from './judging/judge-input.ts';
import { flag } from './configuration/option-table.ts';
import { questionJudge } from './judging/question-judge.ts';

export const router = questionJudge({
  id: 'router',
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
        what: 'To call no tool',
        details: { tool_calls: 0 },
      };
    const cut = sourcesCut(trace, last);
    if (cut !== undefined) return cut;
    return {
      instruction,
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

const instruction =
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
