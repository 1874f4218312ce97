/**
 * The judges of a run where one answer of one judge is not enough: several judges, or one several times, and the judge that decides when these are
 * not sure.
 */
export interface Panel {
  /** Names of judges, each once, in the order in which reports list them. */
  readonly judges: readonly string[];
  /** Number of questions to each of them. */
  readonly votes: number;
  readonly escalate?: Escalation;
}

export interface Escalation {
  /** Name of a judge that has no vote. */
  readonly to: string;
  /** Asked when the confidence of the votes is below it, 0..1. When omitted, no vote is asked for its confidence. */
  readonly below?: number;
  /** Asked when the votes differ. */
  readonly onDisagreement: boolean;
}

export interface Slot {
  readonly judge: string;
  /** Number of the vote of this judge, from 1. */
  readonly vote: number;
}

export const panelJudgesMax = 9;
export const votesMax = 9;
/** Limit over all judges: each slot is a question, or several, that is paid for. */
export const slotsMax = 15;

export function slotsOf({ judges, votes }: Panel): readonly Slot[] {
  return judges.flatMap((judge) => Array.from({ length: votes }, (_, at) => ({ judge, vote: at + 1 })));
}

/** All that may be asked. */
export function judgesOf({ judges, escalate }: Panel): readonly string[] {
  return escalate === undefined ? judges : [...judges, escalate.to];
}

/** Fewer votes do not make a verdict. */
export function quorumOf(seats: number): number {
  return Math.floor(seats / 2) + 1;
}

/** The value that a quorum reaches at least: the greatest number that a quorum of the values is not below. */
export function ofQuorum(values: readonly number[]): number {
  return values.toSorted((one, other) => other - one)[quorumOf(values.length) - 1] ?? 0;
}

/** Replaces the model of a verdict: the same for every judge that answered or decided, and for every order of the judges. */
export function panelModel({ judges, votes, escalate }: Panel, modelOf: (judge: string) => string | undefined): string {
  const named = (judge: string): string => modelOf(judge) ?? judge;
  const models = judges.map((judge) => `${named(judge)}${votes === 1 ? '' : `*${votes}`}`);
  return `${models.toSorted().join(' + ')}${escalate === undefined ? '' : ` -> ${named(escalate.to)}`}`;
}
