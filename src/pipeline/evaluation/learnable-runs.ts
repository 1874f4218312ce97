/** From which runs the normal process of an agent is learnt: complete ones that pass, at their first revision. */
import { notCarried } from '../../../evaluators/evidence/calls.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { Evaluation } from '../../model/verdict.ts';
import type { PlannedEvaluator } from './evaluate.ts';
import { factsOf, holds } from './run-facts.ts';

/** `not_wanted`: no evaluator that learns is for the run. The other words give the reason why the run is not an example of the normal process. */
export type Learnable = 'learnable' | 'not_wanted' | 'not_complete' | 'later_revision' | 'tool_calls_not_carried' | 'not_passing';

export function learnableOf(run: Run, evaluations: readonly Evaluation[], plan: readonly PlannedEvaluator[]): Learnable {
  const verdicts = new Map(evaluations.map(({ key, verdict }) => [key.name, verdict]));
  const learning = plan.filter((planned) => planned.learning !== undefined && verdicts.has(planned.configured.name));
  if (learning.length === 0) return 'not_wanted';
  const { status, truncated } = run.trace;
  if (run.completeness !== 'complete' || status === 'paused' || truncated?.includes('spans') === true) return 'not_complete';
  // The first revision has been learnt, and the spans that came late are few.
  if (run.revision !== 1 || run.partOf !== undefined) return 'later_revision';
  if (notCarried(run.trace) !== undefined) return 'tool_calls_not_carried';
  const facts = factsOf(run, verdicts);
  const isExample = learning.every(({ learning: settings }) =>
    settings?.when === undefined ? passesRules(run, evaluations, plan) : holds(settings.when, facts),
  );
  return isExample ? 'learnable' : 'not_passing';
}

/** Evaluators that learn do not count: a model that decides what it learns from would only confirm itself. */
function passesRules({ trace }: Run, evaluations: readonly Evaluation[], plan: readonly PlannedEvaluator[]): boolean {
  const learners = new Set(plan.flatMap(({ configured }) => (configured.evaluator.learns === undefined ? [] : [configured.name])));
  return (
    trace.status === 'ok' &&
    evaluations.every(
      ({ key, verdict }) =>
        learners.has(key.name) || (verdict.kind !== 'failed' && !(verdict.kind === 'scored' && verdict.passed === false)),
    )
  );
}
