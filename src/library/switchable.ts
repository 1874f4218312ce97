/** The evaluators that an expectation may switch on: only these, so that the parsers of others stay out of a bundle. */
import { contains } from '../../evaluators/contains.ts';
import { exactMatch } from '../../evaluators/exact-match.ts';
import { expectedTools } from '../../evaluators/expected-tools.ts';
import { hallucination } from '../../evaluators/hallucination.ts';
import { planAdherence } from '../../evaluators/plan-adherence.ts';
import { taskCompletion } from '../../evaluators/task-completion.ts';
import { toolCallCount } from '../../evaluators/tool-call-count.ts';
import { toolCallOrder } from '../../evaluators/tool-call-order.ts';
import { toolCallOutput } from '../../evaluators/tool-call-output.ts';
import { toolTrajectory } from '../../evaluators/tool-trajectory.ts';
import { trajectoryMatch } from '../../evaluators/trajectory-match.ts';
import type { AnyEvaluator } from '../../evaluators/evaluator.ts';

/** In the order of the table of all evaluators. */
export const switchable: readonly AnyEvaluator[] = [
  expectedTools,
  toolTrajectory,
  toolCallOutput,
  toolCallCount,
  toolCallOrder,
  trajectoryMatch,
  taskCompletion,
  planAdherence,
  hallucination,
  exactMatch,
  contains,
];
