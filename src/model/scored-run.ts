/** A scored run: what an evaluation yields, what exporters are given of it, and how each evaluator's decision ended. */
import type { AgentTrace, Run } from './agent-trace.ts';
import type { JudgeCall } from './judge-call.ts';
import type { NewJudgeJob, NewTurn } from './judge-work.ts';
import type { Decision, Evaluation, EvaluatorKind } from './verdict.ts';

/** Everything that one revision of a run brought: rules come together, each judge verdict comes by itself. */
export interface ScoredRun {
  readonly run: Run;
  readonly evaluations: readonly Evaluation[];
  readonly decisions: readonly RunDecision[];
  /** True: evaluators are asking about this revision; each of their verdicts comes as an item of its own. */
  readonly asked?: true;
  /** What of that waits in the store: it is written with the run. */
  readonly jobs?: readonly NewJudgeJob[];
  /** It is a turn of a session that may be judged as a whole. */
  readonly turn?: NewTurn;
  /** True: this is what came of evaluators that were asked, and ends what waits for them. */
  readonly answered?: true;
  /** Requests to a judge that led to it. */
  readonly calls?: readonly JudgeCall[];
}

/** How one (run, evaluator) pair ended. */
export interface RunDecision {
  readonly name: string;
  readonly evaluator: string;
  readonly evaluatorKind: EvaluatorKind;
  readonly decision: Decision;
  readonly reason?: string;
  /** With which the run was chosen, where it was and no verdict was reached. */
  readonly probability?: number;
}

/** What of a run leaves the service with its verdicts: no text that the agent was given or gave. */
export interface ExportedRun extends Omit<Run, 'trace' | 'expected' | 'contentHash'> {
  readonly trace: Pick<AgentTrace, 'agent' | 'sessionId'>;
}

/** Of what the item says: of the run, or of the session that it stands for. */
export function itemRevision({ run: { session, revision } }: Pick<ExportItem, 'run'>): number {
  return session?.revision ?? revision;
}

/** What an exporter is given. It may come from the store, long after the run is gone from memory: there is no more to it than this. */
export interface ExportItem extends Pick<ScoredRun, 'evaluations' | 'decisions' | 'calls'> {
  readonly run: ExportedRun;
}
