/** The verdict of a jury: that of one of its judges, with an account of who said what, who decided and why, and what it cost. */
import type { JsonObject } from '../../model/json.ts';
import type { Verdict } from '../../model/verdict.ts';
import { isVote, type Ballot, type Count, type EscalationReason } from './jury-tally.ts';

/** The question to the judge that the votes were passed on to. */
export interface Escalated {
  readonly because: EscalationReason;
  /** Below which confidence it was asked. */
  readonly below?: number;
  readonly ballot: Ballot;
}

/** Of all questions, those to judges whose vote did not count among them. */
export interface JuryCosts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Undefined: a judge that was asked has no price. */
  readonly usd: number | undefined;
  /** Answers that had been given before. */
  readonly cached: number;
}

export interface JuryReport {
  readonly ballots: readonly Ballot[];
  readonly count: Count;
  readonly escalated: Escalated | undefined;
  readonly costs: JuryCosts;
  /** What stands for the model. */
  readonly model: string;
}

const explanationCharsMax = 300;

/** `verdict`: that of the votes, or of the judge that they were passed on to. */
export function juryVerdict(verdict: Verdict, told: JuryReport): Verdict {
  const { costs, model } = told;
  const { cached: _own, ...details } = verdict.details;
  const sentence = sentenceOf(told);
  const explanation = verdict.explanation === '' || sentence === undefined ? verdict.explanation : `${verdict.explanation} ${sentence}`;
  return {
    ...verdict,
    explanation,
    details: { ...details, ...(costs.cached === 0 ? {} : { cached: costs.cached }), model, jury: juryDetails(told) },
  };
}

/** Of the judge that the votes were passed on to; undefined: it gave none, and the votes decide after all. */
export function verdictOfEscalation({ ballot: { end } }: Escalated): Verdict | undefined {
  return end.kind === 'judged' && isVote(end.verdict) ? end.verdict : undefined;
}

function juryDetails({ ballots, count, escalated, costs }: JuryReport): JsonObject {
  const counted = count.kind === 'counted' ? count : undefined;
  return {
    decided_by: escalated !== undefined && verdictOfEscalation(escalated) !== undefined ? 'escalation' : (counted?.by ?? 'nobody'),
    votes: ballots.length,
    answered: counted?.answered ?? ballots.filter(({ end }) => end.kind === 'judged' && isVote(end.verdict)).length,
    ...(counted === undefined || counted.answered === 0
      ? {}
      : { agreeing: counted.agreeing, agreement: counted.agreeing / counted.answered, spread: counted.spread }),
    ...(counted?.confidence === undefined ? {} : { confidence: counted.confidence }),
    ballots: ballots.map(ballotDetails),
    ...(escalated === undefined
      ? {}
      : {
          escalation: {
            because: escalated.because,
            ...(escalated.because === 'low_confidence' && escalated.below !== undefined ? { below: escalated.below } : {}),
            ...ballotDetails(escalated.ballot),
          },
        }),
    input_tokens: costs.inputTokens,
    output_tokens: costs.outputTokens,
    ...(costs.usd === undefined ? {} : { cost_usd: costs.usd }),
  };
}

function ballotDetails({ judge, vote, end, confidence }: Ballot): JsonObject {
  const own = { judge, ...(vote === 1 ? {} : { vote }) };
  if (end.kind !== 'judged') return { ...own, status: 'not_asked', reason: end.reason };
  const { verdict } = end;
  const model = verdict.details['model'];
  const explanation = verdict.explanation === '' ? {} : { explanation: cut(verdict.explanation) };
  const common = { ...own, ...(typeof model === 'string' ? { model } : {}), status: verdict.kind };
  const sure = confidence === undefined ? {} : { confidence };
  switch (verdict.kind) {
    case 'scored':
      return {
        ...common,
        score: verdict.score,
        label: verdict.label,
        passed: verdict.passed,
        ...sure,
        ...(verdict.details['judge_error'] === true ? { judge_error: true } : {}),
        ...explanation,
      };
    case 'skipped':
      return { ...common, reason: verdict.reason, ...sure, ...explanation };
    case 'failed':
      return { ...common, error: cut(verdict.error) };
  }
}

/** Undefined: there is nothing to add, for one judge was asked and has decided. */
function sentenceOf({ ballots, count, escalated }: JuryReport): string | undefined {
  if (count.kind === 'missing') return undefined;
  if (escalated !== undefined) {
    const because =
      escalated.because === 'disagreement'
        ? `${count.agreeing} of ${count.answered} votes agreed`
        : `the confidence of ${count.confidence ?? 0} was below ${escalated.below ?? 0}`;
    return verdictOfEscalation(escalated) !== undefined
      ? `(${escalated.ballot.judge} decided, since ${because}.)`
      : `(${escalated.ballot.judge} was to decide, since ${because}, and gave no verdict.)`;
  }
  if (ballots.length === 1) return undefined;
  if (count.by === 'rules') return '(No judge gave a vote.)';
  const missing = ballots.length - count.answered;
  const absent = missing === 0 ? '' : `; ${missing} of ${ballots.length} ${missing === 1 ? 'was' : 'were'} not given`;
  const agreed =
    count.agreeing === count.answered
      ? `All ${count.answered} votes agree`
      : `${count.agreeing} of ${count.answered} votes agree${count.by === 'tie' ? ', and a tie goes to the lower score' : ''}`;
  return `(${agreed}${absent}.)`;
}

function cut(text: string): string {
  return text.length <= explanationCharsMax ? text : `${text.slice(0, explanationCharsMax).toWellFormed()}…`;
}
