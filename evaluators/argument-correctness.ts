/** The arguments of every tool call are right for what the user wants. A judge sees what was known before each call. */
import { argumentsUnknown, hasArguments, placedCalls } from './evidence/calls.ts';
import { inputText, notAsked, sourcesCut } from './judging/judge-evidence.ts';
import { callItems } from './judging/labelled-items.ts';
import { judgeInput, judgeInputBefore, judgeInputCalls } from './judging/judge-input.ts';
import { questionJudge } from './judging/question-judge.ts';

export const argumentCorrectness = questionJudge({
  id: 'argument_correctness',
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
