/**
 * Votes on one run → what they come to. It is always the verdict of one of those who voted, so its score, label, parts and explanation go together: of labels the one with the
 * most votes, of scores the middle one. A tie goes to the lower score: who is not shown to be good does not pass.
 */
import type { Verdict } from '../../model/verdict.ts';
import { type Escalation, type Slot, quorumOf } from './jury-panel.ts';
import type { AskEnd } from './judge-driver.ts';
import type { JsonObject } from '../../model/json.ts';
import { errorWord } from '../evaluation/evaluate.ts';

export interface Ballot extends Slot {
  readonly end: AskEnd;
  /** The lowest that stood in its answers, 0..1. */
  readonly confidence?: number;
}

export type Count =
  | {
      readonly kind: 'counted';
      readonly verdict: Verdict;
      /** `rules`: no judge gave an answer, and an evaluator found something without one. */
      readonly by: 'votes' | 'tie' | 'rules';
      /** Votes that were given; those of judges that failed or were not asked are none. */
      readonly answered: number;
      /** Number of votes that agree with the verdict. */
      readonly agreeing: number;
      /** Between the highest score and the lowest. */
      readonly spread: number;
      /** The median of the confidences that votes gave; of an even number the lower of the two. */
      readonly confidence: number | undefined;
    }
  /** Too few votes were given. */
  | { readonly kind: 'missing'; readonly end: AskEnd };

type Scored = Extract<Verdict, { readonly kind: 'scored' }>;

export function countOf(ballots: readonly Ballot[]): Count {
  const voted = ballots.flatMap(({ end, confidence }) =>
    end.kind === 'judged' && isVote(end.verdict) ? [{ verdict: end.verdict, confidence }] : [],
  );
  if (voted.length < quorumOf(ballots.length)) return missing(ballots);
  const { verdict, isTie } = chosen(voted.map((one) => one.verdict));
  const scores = voted.flatMap((one) => (one.verdict.kind === 'scored' ? [one.verdict.score] : []));
  return {
    kind: 'counted',
    verdict,
    by: isTie ? 'tie' : 'votes',
    answered: voted.length,
    agreeing: voted.filter((one) => agrees(one.verdict, verdict)).length,
    spread: scores.length === 0 ? 0 : Math.max(...scores) - Math.min(...scores),
    confidence: lowerMiddle(voted.flatMap(({ confidence }) => (confidence === undefined ? [] : [confidence]))),
  };
}

type EscalationReason = 'disagreement' | 'low_confidence';

/** Undefined: the votes decide. */
export function reasonToEscalate(
  { below, onDisagreement }: Escalation,
  count: Extract<Count, { readonly kind: 'counted' }>,
): EscalationReason | undefined {
  if (count.by === 'rules') return undefined;
  if (onDisagreement && count.agreeing < count.answered) return 'disagreement';
  return below !== undefined && count.confidence !== undefined && count.confidence < below ? 'low_confidence' : undefined;
}

/** Where a judge gave no usable answer to a rule that can do without one, the finding of the rule is not a vote. */
export function isVote(verdict: Verdict): boolean {
  return verdict.kind !== 'failed' && !isOfRulesAlone(verdict);
}

function isOfRulesAlone({ kind, details }: Verdict): boolean {
  return kind === 'scored' && details['judge_error'] === true;
}

export function agrees(one: Verdict, other: Verdict): boolean {
  return says(one) === says(other);
}

/**
 * The content of a verdict that makes votes equal: an evaluator's custom label, else whether it passes; of a raw score, whether it reaches the
 * middle.
 */
function says(verdict: Verdict): string {
  if (verdict.kind !== 'scored') return verdict.kind;
  if (isOwnLabel(verdict.label)) return `label ${verdict.label}`;
  return (verdict.passed ?? verdict.score >= 0.5) ? 'pass' : 'fail';
}

function isOwnLabel(label: string): boolean {
  return label !== '' && label !== 'pass' && label !== 'fail';
}

function chosen(verdicts: readonly Verdict[]): { readonly verdict: Verdict; readonly isTie: boolean } {
  const scored = verdicts.filter((verdict) => verdict.kind === 'scored');
  const skipped = verdicts.find((verdict) => verdict.kind === 'skipped');
  // As many that score as that see nothing to score: something was there.
  if (skipped !== undefined && (verdicts.length - scored.length) * 2 > verdicts.length) return { verdict: skipped, isTie: false };
  const isTied = scored.length * 2 === verdicts.length;
  const own = scored.some(({ label }) => isOwnLabel(label)) ? ofMostLabel(scored) : ofMiddle(scored);
  return { verdict: own.verdict, isTie: isTied || own.isTie };
}

function ofMiddle(scored: readonly Scored[]): { readonly verdict: Scored; readonly isTie: boolean } {
  const byScore = scored.toSorted((one, other) => one.score - other.score);
  const [lower, upper] = [byScore[Math.floor((byScore.length - 1) / 2)], byScore[Math.floor(byScore.length / 2)]];
  if (lower === undefined || upper === undefined) throw new Error('no vote has a score');
  return { verdict: scored.find(({ score }) => score === lower.score) ?? lower, isTie: says(lower) !== says(upper) };
}

function ofMostLabel(scored: readonly Scored[]): { readonly verdict: Scored; readonly isTie: boolean } {
  const groups = [...Map.groupBy(scored, ({ label }) => label).values()];
  const most = Math.max(...groups.map((group) => group.length));
  const leading = groups.filter((group) => group.length === most).map((group) => ofMiddle(group).verdict);
  const [lowest] = leading.toSorted((one, other) => one.score - other.score || (one.label < other.label ? -1 : 1));
  if (lowest === undefined) throw new Error('no vote has a label');
  return { verdict: lowest, isTie: leading.length > 1 };
}

function lowerMiddle(values: readonly number[]): number | undefined {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)];
}

/** The only reason that kept a quorum from voting ends it; a pair may wait only where a judge is down, for else it would be asked again and again. */
function missing(ballots: readonly Ballot[]): Count {
  const quorum = quorumOf(ballots.length);
  const reasons = (kind: 'overload' | 'over_budget'): readonly string[] =>
    ballots.flatMap(({ end }) => (end.kind === kind ? [end.reason] : []));
  const [overload, overBudget] = [reasons('overload'), reasons('over_budget')];
  const [down, spent] = [overload.find((reason) => reason !== 'no_such_judge') ?? overload[0], overBudget[0]];
  if (down !== undefined && ballots.length - overload.length < quorum) return { kind: 'missing', end: { kind: 'overload', reason: down } };
  if (spent !== undefined && ballots.length - overload.length - overBudget.length < quorum)
    return { kind: 'missing', end: { kind: 'over_budget', reason: spent } };
  const verdicts = ballots.flatMap(({ end }) => (end.kind === 'judged' ? [end.verdict] : []));
  const ofRules = verdicts.find(isOfRulesAlone);
  if (ofRules !== undefined)
    return { kind: 'counted', verdict: ofRules, by: 'rules', answered: 0, agreeing: 0, spread: 0, confidence: undefined };
  const [only] = verdicts;
  if (ballots.length === 1 && only !== undefined) return { kind: 'missing', end: { kind: 'judged', verdict: only } };
  return { kind: 'missing', end: { kind: 'judged', verdict: incomplete(ballots, verdicts) } };
}

function incomplete(ballots: readonly Ballot[], verdicts: readonly Verdict[]): Verdict {
  const given = verdicts.filter(isVote).length;
  const because = [
    ...new Set(
      ballots.flatMap(({ judge, end }) =>
        end.kind !== 'judged'
          ? [`${judge}: ${end.reason}`]
          : end.verdict.kind === 'failed'
            ? [`${judge}: ${errorWord(end.verdict.error)}`]
            : [],
      ),
    ),
  ];
  const votes = `${given} of ${ballots.length} votes were given, and ${quorumOf(ballots.length)} are needed (${because.join(', ')})`;
  return {
    kind: 'failed',
    error: `jury_incomplete: ${votes}`,
    explanation: verdicts.some(({ explanation }) => explanation !== '') ? `The judges reached no verdict: ${votes}.` : '',
    details: {},
  };
}

/** The verdict of a jury: that of one of its judges, with an account of who said what, who decided and why, and what it cost. */

/** The question to the judge that the votes were passed on to. */
export interface Escalated {
  readonly because: EscalationReason;
  /** Below which confidence it was asked. */
  readonly below?: number;
  readonly ballot: Ballot;
}

/** Costs of all questions, including those to judges whose vote did not count. */
export interface JuryCosts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Undefined: a judge that was asked has no price. */
  readonly usd: number | undefined;
  /** Answers that had been given before. */
  readonly cached: number;
}

interface JuryReport {
  readonly ballots: readonly Ballot[];
  readonly count: Count;
  readonly escalated: Escalated | undefined;
  readonly costs: JuryCosts;
  /** Replaces the model. */
  readonly model: string;
}

const explanationCharsMax = 300;

/** `verdict`: that of the votes, or of the judge that they were passed on to. */
export function juryVerdict(verdict: Verdict, told: JuryReport): Verdict {
  const { costs, model } = told;
  const { cached: _own, ...details } = verdict.details;
  const confidence = confidenceIn(verdict, told);
  const sentence = sentenceOf(told);
  const explanation = verdict.explanation === '' || sentence === undefined ? verdict.explanation : `${verdict.explanation} ${sentence}`;
  return {
    ...verdict,
    explanation,
    details: {
      ...details,
      ...(confidence === undefined ? {} : { confidence }),
      ...(costs.cached === 0 ? {} : { cached: costs.cached }),
      model,
      jury: juryDetails(told),
    },
  };
}

/**
 * How sure a scored verdict is, 0..1: the share of the votes that agree, from two votes on, or the confidence that the judges gave, the lower of the
 * two. A judge that the votes were passed on to has one vote, and only its confidence counts. `undefined` for one vote without a confidence.
 */
function confidenceIn(verdict: Verdict, { ballots, count, escalated }: JuryReport): number | undefined {
  if (verdict.kind !== 'scored' || count.kind !== 'counted' || count.by === 'rules') return undefined;
  const decider = escalated !== undefined && verdictOfEscalation(escalated) !== undefined ? escalated.ballot : undefined;
  const votes = [...ballots, ...(decider === undefined ? [] : [decider])].flatMap(({ end }) =>
    end.kind === 'judged' && isVote(end.verdict) ? [end.verdict] : [],
  );
  const agreement = votes.length < 2 ? undefined : votes.filter((vote) => agrees(vote, verdict)).length / votes.length;
  const given = decider === undefined ? count.confidence : decider.confidence;
  const known = [agreement, given].filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Verdict of the judge that the votes were passed on to; `undefined` when it gave none, so that the votes decide after all. */
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
