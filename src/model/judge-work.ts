/** Work of judges on a scored run: questions about the run, and its turn in a session that is evaluated as a whole. */
import type { Micros } from './timestamp.ts';
import type { Decision, EvaluatorKind, SampledBy } from './verdict.ts';

/** A pending evaluation by a judge. It is written with the run. */
export interface NewJudgeJob extends SampledBy {
  /** Name of the configured evaluator. */
  readonly name: string;
  readonly evaluator: string;
  readonly evaluatorKind: EvaluatorKind;
  /**
   * Queue key: the name of a judge, followed by a blank and the evaluator when that has its own budget; or `jury:` or `http:` and the name
   * of the evaluator.
   */
  readonly queueKey: string;
  /** Options hash of the evaluator when the run was chosen. */
  readonly optionsHash: string;
  /** Probability with which the run was chosen. */
  readonly probability: number;
  readonly offeredAt: Micros;
}

/**
 * The choice that a run makes about its session for one evaluator. The first written turn decides for the whole session whether it is evaluated, and
 * with which probability, or why not. Later turns only add themselves.
 */
export interface SessionChoice {
  /** Name of the configured evaluator. */
  readonly name: string;
  readonly evaluator: string;
  readonly evaluatorKind: EvaluatorKind;
  /** Queue key, as in `NewJudgeJob`. */
  readonly queueKey: string;
  readonly optionsHash: string;
  /** Probability with which a new session is chosen. */
  readonly probability: number;
  /** Why a new session is not evaluated; `undefined` when it is. */
  readonly end: { readonly decision: Decision; readonly reason?: string } | undefined;
  /** False when this session id cannot have been chosen at any probability, so that the turn is not needed. */
  readonly mayBeChosen: boolean;
}

/** A run as a turn of its session. It is written with the run. */
export interface NewTurn {
  readonly sessionId: string;
  readonly at: Micros;
  readonly choices: readonly SessionChoice[];
}
