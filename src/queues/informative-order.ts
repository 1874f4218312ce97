/**
 * The order by what teaches most. The priority of a run is the sum of three parts from 0 to 1 each; a part that is not known is 0.
 *
 *     disagreement   the share of judges whose verdict differs from that of the rules, which fail when one of them fails
 *     doubt          1 − the lowest confidence of a judge
 *     closeness      1 − |score − threshold| / max(threshold, 1 − threshold), the largest of all judges, for scores between 0 and 1
 *
 * A score of exactly 0 or 1 is a decision rather than a close call, at any threshold.
 */
import { member } from '../model/json.ts';
import type { CandidateVerdict, QueueCandidate } from '../model/store/queue-store.ts';

/** Limit of the items that one choice compares: the free ones that entered first. */
export const informativeItemsMax = 200;

/** `thresholds`: by name of the evaluator. */
export function priorityOf(verdicts: readonly CandidateVerdict[], thresholds: ReadonlyMap<string, number>): number {
  const judged = verdicts.filter(({ kind }) => kind === 'judge');
  return disagreement(verdicts, judged) + doubt(judged) + closeness(judged, thresholds);
}

/** Ids, the highest priority first; of equal ones the item that entered first. */
export function informativeOrder(candidates: readonly QueueCandidate[], thresholds: ReadonlyMap<string, number>): readonly number[] {
  return candidates
    .map(({ id, enteredAt, verdicts }) => ({ id, enteredAt, priority: priorityOf(verdicts, thresholds) }))
    .toSorted((one, other) => other.priority - one.priority || one.enteredAt - other.enteredAt || one.id - other.id)
    .map(({ id }) => id);
}

function disagreement(verdicts: readonly CandidateVerdict[], judged: readonly CandidateVerdict[]): number {
  const rules = verdicts.filter(({ kind }) => kind === 'rule').filter(decides);
  const judges = judged.filter(decides);
  if (rules.length === 0 || judges.length === 0) return 0;
  const ruled = rules.some(({ verdict }) => verdict === 'fail') ? 'fail' : 'pass';
  return judges.filter(({ verdict }) => verdict !== ruled).length / judges.length;
}

function decides({ verdict }: CandidateVerdict): boolean {
  return verdict === 'pass' || verdict === 'fail';
}

function doubt(judged: readonly CandidateVerdict[]): number {
  const known = judged.flatMap(({ score, details }) => {
    const confidence = score === undefined ? undefined : member(details, 'confidence');
    return typeof confidence === 'number' && confidence >= 0 && confidence <= 1 ? [confidence] : [];
  });
  return known.length === 0 ? 0 : 1 - Math.min(...known);
}

function closeness(judged: readonly CandidateVerdict[], thresholds: ReadonlyMap<string, number>): number {
  return judged.reduce((most, { name, score }) => {
    const threshold = thresholds.get(name);
    if (threshold === undefined || score === undefined || score <= 0 || score >= 1) return most;
    return Math.max(most, 1 - Math.abs(score - threshold) / Math.max(threshold, 1 - threshold));
  }, 0);
}
