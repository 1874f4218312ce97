/** A scored run, its part for exporters, and the decision of each evaluator. */
import type { AgentTrace, Run } from './agent-trace.ts';
import type { JudgeCall } from './judge-call.ts';
import type { NewJudgeJob, NewTurn } from './judge-work.ts';
import type { Decision, Evaluation, EvaluatorKind } from './verdict.ts';

/** The result of one revision of a run: rules come together, each judge verdict comes in an item of its own. */
export interface ScoredRun {
  readonly run: Run;
  readonly evaluations: readonly Evaluation[];
  readonly decisions: readonly RunDecision[];
  /** True: judge evaluators are working on this revision; each verdict comes as an item of its own. */
  readonly asked?: true;
  /** Pending evaluations by judges, which are written with the run. */
  readonly jobs?: readonly NewJudgeJob[];
  /** The turn that the run adds to its session. */
  readonly turn?: NewTurn;
  /** True: the item carries verdicts of judges and removes their jobs. */
  readonly answered?: true;
  /** Judge requests for these verdicts. */
  readonly calls?: readonly JudgeCall[];
  /** What figures about versions need of the run beside its verdicts. */
  readonly figures?: RunFigures;
}

/** An absent member is unknown. */
export interface RunFigures {
  /** Hash of the system prompt. */
  readonly prompt?: string;
  /** By `groups.task_key`. */
  readonly task?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Of all model calls of the agent, in US dollars. Absent when the cost of one of them is unknown. */
  readonly costUsd?: number;
  /** By model; absent when the spans carry no model call. */
  readonly models?: readonly ModelCounts[];
}

/** What one run asked of one model. An absent member is unknown. */
export interface ModelCounts {
  /** Empty: the spans name none. */
  readonly model: string;
  readonly calls: number;
  /** Calls that ended in an error. */
  readonly errors: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** In US dollars. */
  readonly costUsd?: number;
  /** Microseconds of the calls with times. */
  readonly took: readonly number[];
}

/** How one pair of run and evaluator ended. */
export interface RunDecision {
  readonly name: string;
  readonly evaluator: string;
  readonly evaluatorKind: EvaluatorKind;
  readonly decision: Decision;
  readonly reason?: string;
  /** Probability with which the run was chosen, when it was chosen without a verdict. */
  readonly probability?: number;
}

/** The part of a run that exporters get. It contains no input or output of the agent. */
export interface ExportedRun extends Omit<Run, 'trace' | 'expected' | 'contentHash'> {
  /** An item that an earlier release stored has no status. */
  readonly trace: Pick<AgentTrace, 'agent' | 'sessionId'> & Partial<Pick<AgentTrace, 'status'>>;
}

/** Revision of the run, or of the session that it stands for. */
export function itemRevision({ run: { session, revision } }: Pick<ExportItem, 'run'>): number {
  return session?.revision ?? revision;
}

/** What an exporter gets. It may come from the store long after the run has left memory. */
export interface ExportItem extends Pick<ScoredRun, 'evaluations' | 'decisions' | 'calls'> {
  readonly run: ExportedRun;
}
