/** Judges of a run's plan: the expected one, or the one that a judge extracts from reasoning and messages. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { Expectation } from '../src/model/expectation.ts';
import { type JsonValue, isJsonArray, member } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  objectSchema,
  listIn,
  faulty,
  strictly,
  type Reading,
  labelSchema,
  readLabel,
  labelListSchema,
  upTo,
  readLabels,
} from './judging/verdict-forms.ts';
import { skipped } from './evidence/calls.ts';
import type { Answer, Question } from './evaluator.ts';
import { blocksOf, notAsked, definitionsText, lackingParts, numbered, truncatedDetail, finalText } from './judging/judge-input.ts';
import { textList, judge, expecting } from './configuration/define.ts';
import { count, listed, quoted, someOf } from './explain/explanation.ts';
import { runView } from './judging/run-view.ts';

interface Plan {
  readonly items: readonly string[];
  readonly source: 'expected' | 'run';
  readonly truncated: boolean;
}

type FoundPlan = { readonly kind: 'plan'; readonly plan: Plan } | { readonly kind: 'none'; readonly outcome: Outcome };

const itemsMax = 50;

const planExpectation = textList(
  'The steps of the plan, in order. Defaults to the plan that the agent states in its reasoning or its messages.',
);

const instruction =
  'An AI agent has worked on the user input. List the steps of the plan that it set itself: what it says that it is going to do, in its own words, in order, each once. A report of what was done is no plan, and neither is the final response. First explain in one sentence where the plan stands, then list its steps; if there is no plan, give an empty list.';

const answerSchema = objectSchema({ explanation: { type: 'string' }, plan: { type: 'array', items: { type: 'string' } } });

/** Asks the judge only if reasoning or messages may contain a plan. */
function* planOf(trace: AgentTrace, expected: Expectation): Generator<Question, FoundPlan, Answer> {
  if (expected.plan !== undefined && expected.plan.length > 0)
    return {
      kind: 'plan',
      plan: { items: expected.plan.slice(0, itemsMax), source: 'expected', truncated: expected.plan.length > itemsMax },
    };
  const thoughts = thoughtsOf(trace);
  if (thoughts.length === 0)
    return {
      kind: 'none',
      outcome: skipped(
        'no_plan',
        'The spans carry neither reasoning nor messages of the agent that could hold a plan, and none is expected.',
        notAsked,
      ),
    };
  const { data, truncated } = blocksOf({ 'user input': trace.input, 'reasoning and messages of the agent': thoughts.join('\n\n') });
  const judged = yield* strictly({ id: 'plan', instruction, data, answerSchema }, readPlan);
  if (judged.kind === 'failed') return { kind: 'none', outcome: judged.outcome };
  if (judged.value.length === 0)
    return {
      kind: 'none',
      outcome: skipped('no_plan', 'The judge found no plan in the reasoning and the messages of the agent.', { judge_called: true }),
    };
  return { kind: 'plan', plan: { items: judged.value, source: 'run', truncated: truncated || judged.truncated } };
}

/** Distinct texts of the agent before its final response. */
function thoughtsOf({ reasoningSteps, messages = [], finalResponse }: AgentTrace): readonly string[] {
  const spoken = messages.flatMap(({ role, text }) => (role === 'assistant' && text !== undefined && text !== finalResponse ? [text] : []));
  return [...new Set([...reasoningSteps, ...spoken].map((text) => text.trim()))].filter((text) => text !== '');
}

function readPlan(answer: JsonValue): Reading<readonly string[]> {
  const entries = listIn(answer, 'plan');
  if (entries === undefined) return faulty('plan is not a list');
  if (entries.length > itemsMax) return faulty(`more than ${itemsMax} steps`);
  const steps = entries.filter((step) => typeof step === 'string' && step.trim() !== '').map(String);
  return steps.length === entries.length ? { kind: 'read', value: steps } : faulty('a step has no text');
}

/** A judge finds the plan good for the user's request, and names its faults. Skips without a plan. */
export const planQuality = judge({
  id: 'plan_quality',
  summary: 'A judge finds the plan of the agent good for what the user asked.',
  needs: ['input'],
  defaultThreshold: 1,
  expectationSchema: expecting({ plan: planExpectation }),
  // Judges the expected plan itself, not the run.
  checks: () => [],
  source: 'DeepEval PlanQualityMetric, with labels, a list of faults and no score without a plan',
  *evaluate({ trace, expected }, _options, context) {
    const stop = lackingParts(trace, context, ['input']);
    if (stop !== undefined) return stop;
    const found = yield* planOf(trace, expected);
    if (found.kind === 'none') return found.outcome;
    const { items, source, truncated: planCut } = found.plan;
    const { data, truncated } = blocksOf({ 'user input': trace.input, tools: definitionsText(trace), plan: numbered(items) });
    const judged = yield* strictly(
      { id: 'judge', instruction: planQualityInstruction, data, answerSchema: planQualityAnswerSchema },
      readQuality,
    );
    if (judged.kind === 'failed') return judged.outcome;
    const { label, explanation, faults } = judged.value;
    return {
      kind: 'scored',
      score: label === 'good' ? 1 : 0,
      label,
      explanation:
        label === 'good'
          ? `The plan is good: ${explanation}`
          : `The plan is bad, with ${count(faults.length, 'fault')}: ${listed(faults, '; ')}.`,
      evidence: [],
      details: {
        judge_called: true,
        label,
        explanation,
        faults: [...faults],
        plan: [...items],
        plan_source: source,
        ...truncatedDetail(planCut, truncated, judged.truncated),
      },
    };
  },
});

const labels = ['good', 'bad'] as const;
const planQualityInstruction =
  'An AI agent has made a plan for the user input. Decide whether the plan is good: it covers all that the user asked, its steps are in an order that works, each can be done with the tools that there are, and none is needless or harmful. Judge the plan alone, not what came of it. First explain in one sentence, then list the faults, each in one short sentence (an empty list when there is none), then give the label: good without a fault that matters, else bad.';
const planQualityAnswerSchema = labelSchema(labels, { faults: { type: 'array', items: { type: 'string' } } });
const faultsMax = 50;

/** A bad plan requires a named fault. */
function readQuality(
  answer: JsonValue,
): Reading<{ readonly label: string; readonly explanation: string; readonly faults: readonly string[] }> {
  const reading = readLabel(answer, labels);
  if (reading.kind === 'faulty') return reading;
  const { label, explanation, entry } = reading.value;
  const faults = member(entry, 'faults');
  if (!isJsonArray(faults) || !faults.every((fault) => typeof fault === 'string')) return faulty('faults is not a list of texts');
  if (faults.length > faultsMax) return faulty(`more than ${faultsMax} faults`);
  const named = faults.map(String).filter((fault) => fault.trim() !== '');
  return label === 'bad' && named.length === 0
    ? faulty('the plan is bad and no fault is named')
    : { kind: 'read', value: { label, explanation, faults: named } };
}

/** A judge finds that the agent followed its plan, step by step. Skips without a plan. */
export const planAdherence = judge({
  id: 'plan_adherence',
  summary: 'A judge finds the steps of the plan followed.',
  needs: ['input', 'tool_calls'],
  defaultThreshold: 0.8,
  expectationSchema: expecting({ plan: planExpectation }),
  switchedOnBy: { plan: {} },
  source: 'DeepEval PlanAdherenceMetric, with a verdict on each step of the plan and no score without a plan',
  *evaluate({ trace, expected }, _options, context) {
    const stop = lackingParts(trace, context, ['tool_calls', 'input']);
    if (stop !== undefined) return stop;
    const found = yield* planOf(trace, expected);
    if (found.kind === 'none') return found.outcome;
    const { items, source, truncated: planCut } = found.plan;
    const { data, truncated } = blocksOf({
      'user input': trace.input,
      plan: numbered(items),
      'steps taken': runView(trace),
      'final response': finalText(trace),
    });
    const wanted = { list: 'steps', numbers: upTo(items.length), what: 'step' };
    const judged = yield* strictly(
      { id: 'judge', instruction: planAdherenceInstruction, data, answerSchema: labelListSchema('steps', planAdherenceLabels) },
      (answer) => readLabels(answer, wanted, planAdherenceLabels),
    );
    if (judged.kind === 'failed') return judged.outcome;
    const steps = judged.value.map(({ label, explanation }, at) => ({ number: at + 1, step: items[at] ?? '', label, explanation }));
    const open = steps.filter(({ label }) => label !== 'followed');
    return {
      kind: 'scored',
      score: (steps.length - open.length) / steps.length,
      explanation:
        open.length === 0
          ? `${steps.length === 1 ? 'The step' : `All ${steps.length} steps`} of the plan ${steps.length === 1 ? 'was' : 'were'} followed.`
          : `${someOf(
              open,
              `${count(steps.length, 'step')} of the plan`,
              ['was not followed', 'were not followed'],
              ({ step, label, explanation }) => `${quoted(step)} ${label} (${explanation})`,
            )}.`,
      evidence: [],
      details: {
        judge_called: true,
        followed: steps.length - open.length,
        total: steps.length,
        plan_source: source,
        steps,
        ...truncatedDetail(planCut, truncated, judged.truncated),
      },
    };
  },
});

const planAdherenceLabels = ['followed', 'skipped', 'deviated'] as const;
const planAdherenceInstruction =
  'An AI agent has worked on the user input by a plan. Decide for each numbered step of the plan what the steps that were taken show. followed: it was done as planned, or the agent said with good reason that it was not needed any more. skipped: nothing was done for it. deviated: something else was done instead, or it was done in another way than planned. Give exactly one entry for each step of the plan, with its number; first explain in one sentence, then give the label.';
