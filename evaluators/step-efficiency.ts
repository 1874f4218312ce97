/**
 * Every step of the run was needed, by the judgement of a model, step by step. A run that one question cannot show whole is asked about
 * in parts, each with an outline of all.
 */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { chunks } from '../src/model/chunks.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { labelListSchema } from './judging/numbered-verdicts.ts';
import { callDetails, evidenceOf, executedCalls, partOf, skipped, type PlacedCall } from './evidence/calls.ts';
import { blocksOf, lacking, truncatedDetail } from './judging/judge-blocks.ts';
import { finalText, notAsked } from './judging/judge-evidence.ts';
import { outlineText, runView, type RunView } from './judging/run-view.ts';
import { readLabels, strictly, type Labelled } from './judging/strict-answers.ts';
import { callName, count, listed } from './explain/explanation.ts';
import { judge } from './configuration/define.ts';

export const stepEfficiency = judge({
  id: 'step_efficiency',
  summary: 'A judge finds the steps of the run needed.',
  needs: ['input', 'tool_calls'],
  defaultThreshold: 0.8,
  source: 'DeepEval StepEfficiencyMetric, with a verdict on each step',
  *evaluate({ trace }, _options, context) {
    const stop = lacking(trace, context, ['tool_calls', 'input']);
    if (stop !== undefined) return stop;
    const steps = executedCalls(trace);
    const parts = partsOf(trace, steps);
    if (parts === undefined)
      return skipped('too_large', `${count(steps.length, 'step')} do not fit into the ${questionsMax} questions that one run may take.`, {
        steps: steps.length,
        ...notAsked,
      });
    const judged: Labelled[] = [];
    let truncated = false;
    for (const { steps: some, view } of parts) {
      const numbers = some.map(({ index }) => index + 1);
      const blocks = blocksOf({
        'user input': trace.input,
        ...(parts.length === 1 ? {} : { 'outline of all steps': outlineText(trace, outlineMax) }),
        'steps taken': view,
        'final response': finalText(trace) || '(none)',
      });
      const answer = yield* strictly(
        {
          id: 'judge',
          instruction: `${instruction} ${numbers.join(', ')}.`,
          data: blocks.data,
          answerSchema: labelListSchema('steps', labels),
        },
        (value) => readLabels(value, { list: 'steps', numbers, what: 'step' }, labels),
      );
      if (answer.kind === 'failed') return answer.outcome;
      judged.push(...answer.value);
      truncated ||= blocks.truncated || answer.truncated;
    }
    return verdict(steps, judged, { questions: parts.length, truncated });
  },
});

const labels = ['needed', 'needless'] as const;
const instruction =
  'An AI agent has worked on the user input with tool calls. Decide for each step whether it was needed. needed: its result serves the response, decides on a later step, or a careful agent would have taken it with what was known then; a step that failed and was tried again in another way counts as needed. needless: it repeats what was known, looks for what nobody asked, or leads nowhere that could be foreseen. Judge the steps with these numbers and no others, each in exactly one entry, first with one sentence of explanation:';

/** Questions about one run. */
const questionsMax = 8;
/** Characters of the outline of all steps, where a question shows only some. */
const outlineMax = 8_000;

interface PartOfRun {
  readonly steps: readonly PlacedCall[];
  readonly view: RunView;
}

/** As few parts as show every step; undefined when there would be too many. */
function partsOf(trace: AgentTrace, steps: readonly PlacedCall[]): readonly PartOfRun[] | undefined {
  const whole = runView(trace);
  if (whole.leftOut.length === 0) return [{ steps, view: whole }];
  for (let parts = 2; parts <= questionsMax; parts++) {
    const size = Math.ceil(steps.length / parts);
    const divided = chunks(steps, size).map((some) => ({ steps: some, view: runView(trace, { calls: some.map(({ index }) => index) }) }));
    if (divided.every(({ view }) => view.leftOut.length === 0)) return divided;
  }
  return undefined;
}

function verdict(
  steps: readonly PlacedCall[],
  judged: readonly Labelled[],
  about: { readonly questions: number; readonly truncated: boolean },
): Outcome {
  const all = steps.map((placed, at) => ({ placed, isNeeded: judged[at]?.label === 'needed', explanation: judged[at]?.explanation ?? '' }));
  const needless = all.filter(({ isNeeded }) => !isNeeded);
  const needed = all.length - needless.length;
  return {
    kind: 'scored',
    score: needed / all.length,
    explanation:
      needless.length === 0
        ? `${all.length === 1 ? 'The step was' : `All ${all.length} steps were`} needed.`
        : `${needless.length} of ${count(all.length, 'step')} ${needless.length === 1 ? 'was' : 'were'} needless: ${listed(
            needless.map(({ placed, explanation }) => `${callName(placed)} (${explanation})`),
            '; ',
          )}.`,
    evidence: evidenceOf(needless.map(({ placed }) => placed)),
    parts: all.map(({ placed, isNeeded, explanation }) => partOf(placed, isNeeded, `${callName(placed)}: ${explanation}`)),
    details: {
      judge_called: true,
      judge_calls: about.questions,
      needed,
      total: all.length,
      steps: all.map(({ placed, isNeeded, explanation }) => ({
        ...callDetails(placed),
        label: isNeeded ? 'needed' : 'needless',
        explanation,
      })),
      ...truncatedDetail(about.truncated),
    },
  };
}
