/** The plan of the agent is a good one for what the user asked, by the judgement of a model that names the faults. Without a plan nothing is judged. */
import { isJsonArray, member, type JsonValue } from '../src/model/json.ts';
import { labelSchema } from './judging/numbered-verdicts.ts';
import { blocksOf, definitionsText, lacking, numbered, truncatedDetail } from './judging/judge-blocks.ts';
import { planExpectation, planOf } from './judging/plan.ts';
import { faulty, readLabel, strictly, type Reading } from './judging/strict-answers.ts';
import { count, listed } from './explain/explanation.ts';
import { judge } from './configuration/define.ts';
import { expecting } from './expectation/expecting.ts';

export const planQuality = judge({
  id: 'plan_quality',
  summary: 'A judge finds the plan of the agent good for what the user asked.',
  needs: ['input'],
  defaultThreshold: 1,
  expectationSchema: expecting({ plan: planExpectation }),
  // The expected plan itself is judged, not what the run did.
  checks: () => [],
  source: 'DeepEval PlanQualityMetric, with labels, a list of faults and no score without a plan',
  *evaluate({ trace, expected }, _options, context) {
    const stop = lacking(trace, context, ['input']);
    if (stop !== undefined) return stop;
    const found = yield* planOf(trace, expected);
    if (found.kind === 'none') return found.outcome;
    const { items, source, truncated: planCut } = found.plan;
    const { data, truncated } = blocksOf({ 'user input': trace.input, tools: definitionsText(trace), plan: numbered(items) });
    const judged = yield* strictly({ id: 'judge', instruction, data, answerSchema }, readQuality);
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
const instruction =
  'An AI agent has made a plan for the user input. Decide whether the plan is good: it covers all that the user asked, its steps are in an order that works, each can be done with the tools that there are, and none is needless or harmful. Judge the plan alone, not what came of it. First explain in one sentence, then list the faults, each in one short sentence (an empty list when there is none), then give the label: good without a fault that matters, else bad.';
const answerSchema = labelSchema(labels, { faults: { type: 'array', items: { type: 'string' } } });
const faultsMax = 50;

/** A bad plan has a fault that can be named. */
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
