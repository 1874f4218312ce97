/** The report of a replay, and the sentences that every format shares. */
import type { EvaluatorResult, ReplayResults, ResultWord, SideRate } from './results.ts';
import { notJoinedTexts, turnPrefix } from './session-reader.ts';
import { goneTexts } from './stored-runs.ts';
import type { Measure, ReplayExample } from './tally.ts';
import { runsText, thousands } from '../../report/text.ts';
import type { CostForecast } from '../judge/forecast.ts';
import type { RevisionFate } from '../../model/store/replay-store.ts';
import type { Estimate } from '../../statistics/estimate.ts';

export interface ReplayReport {
  readonly results: ReplayResults;
  /** The name of the new configuration. */
  readonly config: string;
  /** The other configuration; `undefined` when the stored verdicts are the side before. */
  readonly against: string | undefined;
  /** Names of files; empty for the store. */
  readonly files: readonly string[];
  readonly judges: string;
  /** US dollars that the replay has spent on judges. */
  readonly spentUsd: number;
  /** Evaluators of whole sessions. */
  readonly ofSessions: readonly string[];
  /** `undefined` without judges, or without a store. */
  readonly forecast: CostForecast | undefined;
  /** `undefined` unless it wrote. */
  readonly written: { readonly [fate in RevisionFate]: number } | undefined;
  readonly warnings: readonly string[];
}

const measureTexts: { readonly [measure in Measure]: string } = { pass_rate: 'pass rate', mean_score: 'mean score' };

export const resultTexts: { readonly [word in ResultWord]: string } = {
  worse: 'worse',
  better: 'better',
  no_difference_shown: 'no difference shown',
  not_tested: 'not tested',
};

export function headline({ results, config, against, files }: ReplayReport): string {
  const source = files.length === 0 ? 'stored runs' : `runs of ${files.join(', ')}`;
  const beside =
    against ?? (files.length === 0 ? 'the stored verdicts' : 'nothing, as files hold no verdicts; --against scores them first');
  return `${runsText(results.looked)} scored again, ${source} under ${config} beside ${beside}.`;
}

export const notChangedYet = 'closed too recently: the service may still give them a revision; a later replay writes them';

/** Runs that no result claims, by reason. */
export function goneLines({
  gone,
}: ReplayResults): readonly { readonly reason: string; readonly runs: number; readonly text: string; readonly named: readonly string[] }[] {
  return Object.entries(gone)
    .map(([reason, { runs, named }]) => ({
      reason,
      runs,
      named,
      text: Object.hasOwn(goneTexts, reason) ? goneTexts[reason as keyof typeof goneTexts] : notChangedYet,
    }))
    .toSorted((one, other) => other.runs - one.runs || (one.reason < other.reason ? -1 : 1));
}

export function goneRuns(results: ReplayResults): number {
  return Object.values(results.gone).reduce((sum, { runs }) => sum + runs, 0);
}

function shareText(measure: Measure, value: number): string {
  return measure === 'pass_rate' ? `${(value * 100).toFixed(1)} %` : value.toFixed(3);
}

export function rateText(side: SideRate | undefined): string {
  if (side === undefined) return 'no score';
  const { measure, rate, runs, capped } = side;
  const cut = capped === 0 ? '' : `, the weight of ${capped} cut`;
  if (rate.kind === 'not_estimable') return `${measureTexts[measure]} not estimable of ${runsText(runs)}: ${rate.explanation}`;
  const [point, low, high] = [rate.point, rate.low, rate.high].map((value) => shareText(measure, value));
  return `${measureTexts[measure]} ${point} (${low} to ${high}) of ${runsText(runs)}${cut}`;
}

export function differenceText({ paired, p, word }: EvaluatorResult): string {
  if (paired === undefined) return 'no run has both verdicts';
  const { difference, measure, n } = paired;
  if (difference.kind === 'not_estimable') {
    const shown = word === 'worse' ? ` ${paired.worse} of these runs became worse and ${paired.better} better: ${resultTexts.worse}.` : '';
    return `not estimable of ${runsText(n)}: ${difference.explanation}${shown}`;
  }
  const points = (value: number): string =>
    `${value < 0 ? '−' : '+'}${measure === 'pass_rate' ? Math.abs(value * 100).toFixed(1) : Math.abs(value).toFixed(3)}`;
  const unit = measure === 'pass_rate' ? ' points' : '';
  const probability = p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`;
  return `${points(difference.point)}${unit} (${points(difference.low)} to ${points(difference.high)}) on the same ${runsText(n)}, ${probability}: ${resultTexts[word]}`;
}

/** Counts what happened to the verdicts of an evaluator, without the counts that are 0. */
export function changesText({ changes, noLonger, notAsked }: EvaluatorResult): string {
  const reasons = (counts: { readonly [reason: string]: number }): string =>
    ` (${Object.entries(counts)
      .toSorted(([, one], [, other]) => other - one)
      .map(([reason, runs]) => `${reason} ${thousands(runs)}`)
      .join(', ')})`;
  const parts: readonly (readonly [count: number, text: string])[] = [
    [changes.to_fail, 'to fail'],
    [changes.to_pass, 'to pass'],
    [changes.newly_scored, 'newly scored'],
    [changes.no_longer_scored, `no longer scored${reasons(noLonger)}`],
    [changes.measure_changed, 'with another measure'],
    [changes.changed, 'with the same outcome and another score or explanation'],
    [changes.not_asked, `not asked${reasons(notAsked)}`],
    [changes.same, 'as before'],
    [changes.unscored, 'unscored before and after'],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, text]) => `${thousands(count)} ${text}`)
    .join('; ');
}

/** True when every verdict is as before, so that one line is enough. */
export function isUnchanged({ changes }: EvaluatorResult): boolean {
  return Object.entries(changes).every(([word, count]) => word === 'same' || word === 'unscored' || count === 0);
}

export function examplesOf({ examples }: EvaluatorResult): readonly { readonly title: string; readonly example: ReplayExample }[] {
  const titled = (title: string, list: readonly ReplayExample[]) => list.map((example) => ({ title, example }));
  return [
    ...titled('pass → fail', examples.to_fail),
    ...titled('fail → pass', examples.to_pass),
    ...titled('newly scored', examples.newly_scored),
    ...titled('no longer scored', examples.no_longer_scored),
  ];
}

export function sideText({ verdict, score, explanation }: ReplayExample['before']): string {
  return `${verdict === 'none' ? '' : `${verdict}${score === null ? '' : ` ${Number(score.toFixed(3))}`}: `}${explanation}`;
}

export function writtenText({ written }: ReplayReport): string {
  if (written === undefined) return 'Nothing is written; --write makes the new verdicts revisions of the stored ones.';
  const { changed, gone } = written;
  return [
    `${runsText(written.written)} got a revision.`,
    ...(changed === 0 ? [] : [`${runsText(changed)} got a revision of the service meanwhile, and keep it.`]),
    ...(gone === 0 ? [] : [`${runsText(gone)} were deleted meanwhile.`]),
  ].join(' ');
}

/** Notes on what the results do not cover. */
export function notesOf({ results, ofSessions, spentUsd, written, warnings }: ReplayReport): readonly string[] {
  const cached = results.evaluators.some(({ notAsked }) => (notAsked['no_cached_answer'] ?? 0) > 0);
  return [
    ...(written === undefined || ofSessions.length === 0
      ? []
      : [`Not written, because they are verdicts on whole sessions: ${ofSessions.join(', ')}.`]),
    ...missingTurns(results),
    ...(cached ? ['Rates of judges cover only the runs with a cached answer, which may differ from the others.'] : []),
    ...(results.uncounted === 0 ? [] : [`${thousands(results.uncounted)} verdicts of further evaluators are not counted.`]),
    ...(spentUsd === 0 ? [] : [`The judges cost ${spentUsd.toFixed(4)} USD, with requests of interrupted replays at their most.`]),
    ...warnings,
  ];
}

/** Reasons for which sessions could not be joined, with their meaning. */
function missingTurns({ evaluators }: ReplayResults): readonly string[] {
  const reasons = new Set(evaluators.flatMap(({ notAsked }) => Object.keys(notAsked)));
  return [...reasons].sort().flatMap((reason) => {
    if (Object.hasOwn(notJoinedTexts, reason)) return [`${reason}: ${notJoinedTexts[reason as keyof typeof notJoinedTexts]}.`];
    const turn = reason.startsWith(turnPrefix) ? reason.slice(turnPrefix.length) : '';
    return Object.hasOwn(goneTexts, turn) ? [`${reason}: of a turn of the session, ${goneTexts[turn as keyof typeof goneTexts]}.`] : [];
  });
}

export function estimateJson(estimate: Estimate): { readonly [member: string]: number | string | null } {
  if (estimate.kind === 'not_estimable') return { point: null, low: null, high: null, reason: estimate.reason };
  const { point, low, high, n, effectiveN } = estimate;
  return { point, low, high, n, effective_n: Number.isFinite(effectiveN) ? effectiveN : null };
}
