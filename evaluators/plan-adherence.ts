/** The agent did what it planned, by the judgement of a model, step of the plan by step of the plan. Without a plan there is nothing to keep to. */
import { labelListSchema, upTo } from './judging/numbered-verdicts.ts';
import { blocksOf, lacking, numbered, truncatedDetail } from './judging/judge-blocks.ts';
import { finalText } from './judging/judge-evidence.ts';
import { planExpectation, planOf } from './judging/plan.ts';
import { runView } from './judging/run-view.ts';
import { readLabels, strictly } from './judging/strict-answers.ts';
import { count, listed, quoted } from './explain/explanation.ts';
import { judge } from './configuration/define.ts';
import { expecting } from './expectation/expecting.ts';

export const planAdherence = judge({
  id: 'plan_adherence',
  summary: 'A judge finds the steps of the plan followed.',
  needs: ['input', 'tool_calls'],
  defaultThreshold: 0.8,
  expectationSchema: expecting({ plan: planExpectation }),
  switchedOnBy: { plan: {} },
  source: 'DeepEval PlanAdherenceMetric, with a verdict on each step of the plan and no score without a plan',
  *evaluate({ trace, expected }, _options, context) {
    const stop = lacking(trace, context, ['tool_calls', 'input']);
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
    const judged = yield* strictly({ id: 'judge', instruction, data, answerSchema: labelListSchema('steps', labels) }, (answer) =>
      readLabels(answer, wanted, labels),
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
          : `${open.length} of ${count(steps.length, 'step')} of the plan ${open.length === 1 ? 'was' : 'were'} not followed: ${listed(
              open.map(({ step, label, explanation }) => `${quoted(step)} ${label} (${explanation})`),
              '; ',
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

const labels = ['followed', 'skipped', 'deviated'] as const;
const instruction =
  'An AI agent has worked on the user input by a plan. Decide for each numbered step of the plan what the steps that were taken show. followed: it was done as planned, or the agent said with good reason that it was not needed any more. skipped: nothing was done for it. deviated: something else was done instead, or it was done in another way than planned. Give exactly one entry for each step of the plan, with its number; first explain in one sentence, then give the label.';
