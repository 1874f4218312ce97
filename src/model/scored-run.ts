/** A scored run, its part for exporters, and the decision of each evaluator. */
import type { AgentTrace, Run } from './agent-trace.ts';
import type { JudgeCall } from './judge-call.ts';
import type { NewJudgeJob, NewTurn } from './judge-work.ts';
import type { Decision, Evaluation, EvaluatorKind } from './verdict.ts';

/** The result of one revision of a run: rules come together, each judge verdict comes in a separate item. */
export interface ScoredRun {
  readonly run: Run;
  readonly evaluations: readonly Evaluation[];
  readonly decisions: readonly RunDecision[];
  /** True when judge evaluators are working on this revision; each verdict comes as a separate item. */
  readonly asked?: true;
  /** Pending evaluations by judges, which are written with the run. */
  readonly jobs?: readonly NewJudgeJob[];
  /** The turn that the run adds to its session. */
  readonly turn?: NewTurn;
  /** True when the item carries verdicts of judges and removes their jobs. */
  readonly answered?: true;
  /** Judge requests for these verdicts. */
  readonly calls?: readonly JudgeCall[];
  /** Its failed verdicts; omitted when there are none. */
  readonly faults?: readonly RunFault[];
  /** The figures of the run that comparisons of versions need beside its verdicts. */
  readonly figures?: RunFigures;
}

/** A failed verdict, by what all failures of its kind have in common. */
export interface RunFault {
  /** Configured name of the evaluator. */
  readonly name: string;
  /** Empty for a failure that is not of a tool. */
  readonly tool: string;
  readonly signature: string;
}

/** An absent member is unknown. */
export interface RunFigures {
  /** Hash of the system prompt. */
  readonly prompt?: string;
  /** The task by `groups.task_key`. */
  readonly task?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Cost of all model calls of the agent, in US dollars. Omitted when the cost of one of them is unknown. */
  readonly costUsd?: number;
  /** Counts by model; omitted when the spans carry no model call. */
  readonly models?: readonly ModelCounts[];
}

/** The requests of one run to one model. An omitted member is unknown. */
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

/** The end of one pair of run and evaluator. */
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

/** Revision of the run, or of the session that it represents. */
export function itemRevision({ run: { session, revision } }: Pick<ExportItem, 'run'>): number {
  return session?.revision ?? revision;
}

/** The item that an exporter gets. It may come from the store long after the run has left memory. */
export interface ExportItem extends Pick<ScoredRun, 'evaluations' | 'decisions' | 'calls'> {
  readonly run: ExportedRun;
}
