/** Failed verdicts of a scored run by their signatures. */
import { signaturesOf } from '../../../evaluators/explain/signature.ts';
import type { Signatures } from '../../../evaluators/evaluator.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { AgentTrace, Run } from '../../model/agent-trace.ts';
import type { RunFault } from '../../model/scored-run.ts';
import type { Evaluation, Verdict } from '../../model/verdict.ts';

/** Evaluators of a program are not among them. Their verdicts have the usual signature. */
const signatures: ReadonlyMap<string, Signatures | undefined> = new Map(
  evaluators.map((evaluator) => [evaluator.id, evaluator.signatures]),
);

/** Run and evaluations are redacted. */
export function runFaults({ trace }: Pick<Run, 'trace'>, evaluations: readonly Evaluation[]): readonly RunFault[] {
  return evaluations.flatMap(({ key: { name }, evaluator, verdict }) =>
    verdictFaults({ evaluator, verdict }, trace).map((fault) => ({ name, ...fault })),
  );
}

/** Empty for a verdict that did not fail. */
export function verdictFaults(
  { evaluator, verdict }: { readonly evaluator: string; readonly verdict: Verdict },
  trace: AgentTrace,
): readonly Omit<RunFault, 'name'>[] {
  if (verdict.kind !== 'scored' || verdict.passed !== false) return [];
  return signaturesOf(signatures.get(evaluator), verdict, trace).map(({ tool, text }) => ({ tool, signature: text }));
}
