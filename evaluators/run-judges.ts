/** Judges of a whole run: its goal, its steps and its approach. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { conversationOf } from './evidence/conversation.ts';
import { expectedText, lackingParts, judgeInput, blocksOf, truncatedDetail, finalText, notAsked } from './judging/judge-input.ts';
import { runView, outlineText, type RunView } from './judging/run-view.ts';
import { constraints, expecting, textList, judge } from './configuration/define.ts';
import { questionJudge } from './judging/question-judge.ts';
import { chunks } from '../src/model/chunks.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  labelListSchema,
  readLabels,
  strictly,
  type Labelled,
  objectSchema,
  explanationIn,
  faulty,
  type Reading,
} from './judging/verdict-forms.ts';
import { callDetails, evidenceOf, executedCalls, partOf, skipped, type PlacedCall } from './evidence/calls.ts';
import { callName, count, someOf } from './explain/explanation.ts';
import { isJsonObject, member, type JsonValue } from '../src/model/json.ts';

/** A judge of the whole conversation finds that the user reached their goal by the end of the session. */
export const goalReached = questionJudge({
  id: 'goal_reached',
  summary: 'A judge finds that by the end of a session the user has got what they came for.',
  needs: ['input', 'final_response'],
  target: 'session',
  defaultThreshold: 1,
  expectationSchema: expecting({
    tasks: textList('Goals of the session, one text each; defaults to the requests of the user in it.'),
    constraints,
  }),
  source: 'DeepEval’s goal accuracy, as one label on the whole conversation',
  evidence: [],
  question({ trace, expected }, _options, context) {
    const stop = lackingParts(trace, context, ['input', 'final_response']);
    if (stop !== undefined) return stop;
    const conversation = withMessages(trace);
    const view = runView(conversation);
    const goals = expectedText(expected);
    return {
      instruction,
      input: [
        { title: 'conversation', text: view.text, isCut: view.truncated, entries: view.entries },
        ...(goals === undefined ? [] : [judgeInput('goals', goals)]),
      ],
      labels: { reached: 1, missed: 0 },
      faults: 'unmet',
      what: 'The goal of the session',
      details: {
        user_messages: conversation.messages.filter(({ role }) => role === 'user').length,
        ...(view.leftOut.length === 0 ? {} : { steps_left_out: view.leftOut.length }),
      },
    };
  },
});

const instruction = `A user and an AI agent have talked with one another; the conversation is shown in order, with the calls of tools that the agent made for it. Decide whether by its end the user has got what they came for.
What they came for is what the user asks in the course of the conversation, the later wish where they change their mind; where goals are given, it is those. It counts as reached only when the conversation or the results of the calls show it: a claim of the agent that the results contradict does not count, nor does a promise. Questions that the agent asks on the way, detours and corrected errors are no fault when the end is right. When the user gives up, or the agent rightly refuses, the goal is missed. A goal that breaks a constraint is missed.
First explain in one or two sentences, then name under unmet each thing that the user did not get, then give the label reached or missed.`;

/** Uses the run's messages if they contain all calls; otherwise composes them. */
function withMessages(trace: AgentTrace): AgentTrace & Required<Pick<AgentTrace, 'messages'>> {
  const { messages = [], ...rest } = trace;
  const messageCalls = messages.flatMap(({ calls }) => calls);
  const holdsAllCalls =
    messages.some(({ role }) => role === 'assistant') &&
    messageCalls.length === trace.toolCalls.length &&
    new Set(messageCalls).size === messageCalls.length;
  return { ...trace, messages: holdsAllCalls ? messages : conversationOf(rest) };
}

/**
 * A judge finds each step of the run needed. A run that does not fit into one question is judged in parts, each with an outline of all
 * steps.
 */
export const stepEfficiency = judge({
  id: 'step_efficiency',
  mappable: false,
  summary: 'A judge finds the steps of the run needed.',
  needs: ['input', 'tool_calls'],
  defaultThreshold: 0.8,
  source: 'DeepEval StepEfficiencyMetric, with a verdict on each step',
  *evaluate({ trace }, _options, context) {
    const stop = lackingParts(trace, context, ['tool_calls', 'input']);
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
          instruction: `${stepEfficiencyInstruction} ${numbers.join(', ')}.`,
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
const stepEfficiencyInstruction =
  'An AI agent has worked on the user input with tool calls. Decide for each step whether it was needed. needed: its result serves the response, decides on a later step, or a careful agent would have taken it with what was known then; a step that failed and was tried again in another way counts as needed. needless: it repeats what was known, looks for what nobody asked, or leads nowhere that could be foreseen. Judge the steps with these numbers and no others, each in exactly one entry, first with one sentence of explanation:';

/** Limit of questions per run. */
const questionsMax = 8;
/** Limit of the outline in UTF-16 units. */
const outlineMax = 8_000;

interface PartOfRun {
  readonly steps: readonly PlacedCall[];
  readonly view: RunView;
}

/** The fewest parts that show every step; `undefined` when they exceed the limit. */
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
        : `${someOf(
            needless,
            count(all.length, 'step'),
            ['was needless', 'were needless'],
            ({ placed, explanation }) => `${callName(placed)} (${explanation})`,
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

/** A judge of all steps rates the agent's approach on a scale of five. */
export const trajectoryQuality = judge({
  id: 'trajectory_quality',
  summary: 'A judge finds that the agent went about its work well.',
  needs: ['input', 'tool_calls'],
  defaultThreshold: 0.75,
  expectationSchema: expecting({
    tasks: textList('Tasks that the agent must complete, one text each.'),
    constraints,
    output: { description: 'The final response that is wanted.' },
  }),
  source: 'UiPath trajectory evaluator, on a scale of five, with every step in the question',
  *evaluate({ trace, expected }, _options, context) {
    const stop = lackingParts(trace, context, ['tool_calls', 'input']);
    if (stop !== undefined) return stop;
    const view = runView(trace);
    const { data, truncated } = blocksOf({
      'user input': trace.input,
      'steps taken': view,
      'final response': finalText(trace) || '(none)',
      'expected behaviour': expectedText(expected),
    });
    const judged = yield* strictly({ id: 'judge', instruction: trajectoryQualityInstruction, data, answerSchema }, readScore);
    if (judged.kind === 'failed') return judged.outcome;
    const { score, explanation } = judged.value;
    return {
      kind: 'scored',
      score,
      explanation,
      evidence: [],
      details: {
        judge_called: true,
        steps: trace.toolCalls.length,
        ...(view.leftOut.length === 0 ? {} : { steps_left_out: view.leftOut.length }),
        ...truncatedDetail(truncated, judged.truncated),
      },
    };
  },
});

const step = 0.25;
const trajectoryQualityInstruction = `An AI agent has worked on the user input in steps. Judge how it went about it, from 0 to 1 in steps of ${step}:
1: every step serves the task, results are used rightly, and the response follows from them.
0.75: right on the whole, with a small detour or a slip that did no harm.
0.5: it gets somewhere, with needless or wrong steps, errors left alone, or a part of the task undone.
0.25: most steps do not serve the task, or the response does not follow from the results.
0: it works on something else, invents results, or does harm.
Where expected behaviour is given, measure by it. A failed step that the agent recovers from is no fault. First explain in one or two sentences, naming steps by their numbers, then give the score.`;
const answerSchema = objectSchema({ explanation: { type: 'string' }, score: { type: 'number', minimum: 0, maximum: 1 } });

/** Accepts exactly the five scores, without rounding. */
function readScore(answer: JsonValue): Reading<{ readonly score: number; readonly explanation: string }> {
  const explanation = explanationIn(answer);
  const score = isJsonObject(answer) ? member(answer, 'score') : undefined;
  if (explanation === undefined) return faulty('the answer has no explanation');
  if (typeof score !== 'number' || !(score >= 0 && score <= 1) || !Number.isInteger(score / step))
    return faulty('the score is none of 0, 0.25, 0.5, 0.75 and 1');
  return { kind: 'read', value: { score, explanation } };
}
