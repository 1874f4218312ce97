/** The contract of an exporter: it takes the evaluations of one run and says what became of them. */
import type { Run } from '../model/agent-trace.ts';
import type { Decision, Evaluation, EvaluatorKind } from '../model/verdict.ts';

/** Everything that one revision of a run brought: rules come together, each judge verdict comes by itself. */
export interface ScoredRun {
  readonly run: Run;
  readonly evaluations: readonly Evaluation[];
  readonly decisions: readonly RunDecision[];
  /** True: evaluators are asking about this revision; each of their verdicts comes as an item of its own. */
  readonly asked?: true;
}

/** How one (run, evaluator) pair ended. */
export interface RunDecision {
  readonly name: string;
  readonly evaluator: string;
  readonly evaluatorKind: EvaluatorKind;
  readonly decision: Decision;
  readonly reason?: string;
}

export type ExportOutcome = { readonly kind: 'sent' } | { readonly kind: 'failed'; readonly retryable: boolean; readonly error: string };

export interface Exporter {
  readonly id: string;
  /** Resolves, never rejects. Called again with the same item after a retryable failure: the same item must give the same ids. */
  send(item: ScoredRun): Promise<ExportOutcome>;
  /** May be called twice. */
  stop(): Promise<void>;
}
