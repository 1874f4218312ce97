/** What of a scored run waits for a judge: questions about the run itself, and its turn in a session that is judged as a whole. */
import type { Micros } from './timestamp.ts';
import type { Decision, EvaluatorKind } from './verdict.ts';

/** An evaluator that was chosen to be asked about a run, and is not done. It is written with the run. */
export interface NewJudgeJob {
  /** Of the configured evaluator. */
  readonly name: string;
  readonly evaluator: string;
  readonly evaluatorKind: EvaluatorKind;
  /** Whose places it takes: name of a judge, with a blank and the name of the evaluator where that has a budget of its own; `jury:` and the name of an evaluator that asks several, or `http:` and that of one that asks an endpoint. */
  readonly party: string;
  /** Of the evaluator as it was chosen. */
  readonly optionsHash: string;
  /** With which it was chosen. */
  readonly probability: number;
  readonly offeredAt: Micros;
}

/**
 * What a run says of its session for one evaluator. The first turn that is written decides for the whole session whether it is judged, with which probability, or why
 * not; of later ones only the turn counts.
 */
export interface SessionChoice {
  /** Of the configured evaluator. */
  readonly name: string;
  readonly evaluator: string;
  readonly evaluatorKind: EvaluatorKind;
  /** As of a job. */
  readonly party: string;
  readonly optionsHash: string;
  /** With which a session that begins now is chosen. */
  readonly probability: number;
  /** Undefined: one that begins now is judged. */
  readonly end: { readonly decision: Decision; readonly reason?: string } | undefined;
  /** False: no session with this id has been chosen, by whatever probability, so that nobody needs the turn. */
  readonly mayBeChosen: boolean;
}

/** A run as a turn of its session. It is written with the run. */
export interface NewTurn {
  readonly sessionId: string;
  readonly at: Micros;
  readonly choices: readonly SessionChoice[];
}
