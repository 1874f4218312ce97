/** Runs one evaluator as the configuration would set it up. */
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import type { ConfiguredAsking, ConfiguredEvaluator, ConfiguredRule, EvaluatorEntry } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { EvaluationContextOptions } from '../../evaluators/configuration/context.ts';
import type { Answer, EvaluatorRequest, Question } from '../../evaluators/evaluator.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { AgentTrace, Run } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import type { Verdict } from '../../src/model/verdict.ts';

export interface Score {
  readonly entry: EvaluatorEntry;
  readonly trace: AgentTrace;
  readonly expected?: Expectation;
  readonly limits?: EvaluationContextOptions;
  readonly run?: Run;
}

export function score({ entry, trace, expected = {}, limits = {}, run }: Score): Verdict {
  return rule(entry).evaluate(trace, expected, evaluationContext(limits), run);
}

export function rule(entry: EvaluatorEntry): ConfiguredRule {
  const found = configured(entry);
  if (found.kind !== 'rule') throw new Error(`${entry.use} is not a rule`);
  return found;
}

/** The questions that were asked, and the verdict. */
export function judged(score: Score, answers: readonly Answer[]): { readonly questions: readonly Question[]; readonly verdict: Verdict } {
  const { requests, verdict } = asked(score, answers);
  return { questions: requests.filter((request): request is Question => request.kind === undefined || request.kind === 'ask'), verdict };
}

/** Everything that was wanted of the world, and the verdict. */
export function asked(
  score: Score,
  answers: readonly Answer[],
): { readonly requests: readonly EvaluatorRequest[]; readonly verdict: Verdict } {
  const found = configured(score.entry);
  if (found.kind === 'rule') throw new Error(`${score.entry.use} asks no judge`);
  return played(found, score, answers);
}

function played(
  evaluator: ConfiguredAsking,
  { trace, expected = {}, limits = {}, run }: Score,
  answers: readonly Answer[],
): { readonly requests: readonly EvaluatorRequest[]; readonly verdict: Verdict } {
  const running = evaluator.judge(trace, expected, evaluationContext(limits), run);
  const requests: EvaluatorRequest[] = [];
  let step = running.next();
  while (step.done !== true) {
    requests.push(step.value);
    step = running.next(answers[requests.length - 1] ?? { kind: 'failed', error: 'no answer is left' });
  }
  return { requests, verdict: step.value };
}

/** An entry that scores several runs is configured once. */
const known = new WeakMap<EvaluatorEntry, ConfiguredEvaluator>();

function configured(entry: EvaluatorEntry): ConfiguredEvaluator {
  const found = known.get(entry) ?? ready(entry);
  known.set(entry, found);
  return found;
}

function ready(entry: EvaluatorEntry): ConfiguredEvaluator {
  const configuration = configuredEvaluator(entry, evaluators);
  if (configuration.kind === 'faulty')
    throw new Error(configuration.faults.map(({ path, problem }) => `${path.join('.')} ${problem}`).join('; '));
  return configuration.evaluator;
}
