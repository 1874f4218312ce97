/**
 * The results of a replay so far: counts, sums and the first examples by evaluator. Its size depends on the number of evaluators, never on
 * that of the runs. Its data are JSON, so an interrupted replay continues with them.
 */
import { contentText, type After, type AfterByName } from './rescoring.ts';
import type { GoneReason } from './stored-runs.ts';
import { oneLine } from '../../model/one-line.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import type { ReplayedVerdict } from '../../model/store/replay-store.ts';
import { runTargetId } from '../../model/verdict.ts';
import { type PairedObservation, pairedSums, type PairedSums, type PairedSumsData } from '../../statistics/paired-rate.ts';

/** Evaluators with separate results; more exist only by mistake. */
const evaluatorsMax = 500;
/** Different reasons of one count. */
const reasonsMax = 50;
export const examplesDefault = 3;
const explanationChars = 300;
/** Runs that are named for each reason. */
const namedMax = 3;

/** Outcome for one verdict. `changed` keeps the word and has a new score, label or explanation. */
export const changeWords = [
  'same',
  'changed',
  'to_fail',
  'to_pass',
  'newly_scored',
  'no_longer_scored',
  'measure_changed',
  'not_asked',
  'unscored',
] as const;
export type ChangeWord = (typeof changeWords)[number];

interface ExampleSide {
  /** `none`: there is no verdict. */
  readonly verdict: ReplayedVerdict['verdict'] | 'none';
  readonly score: number | null;
  readonly label: string;
  readonly explanation: string;
}

export interface ReplayExample {
  readonly run: string;
  readonly agent: string | null;
  readonly before: ExampleSide;
  readonly after: ExampleSide;
}

type Counts = { [reason: string]: number };

/** Sums of pass rates, and of scores without a threshold. A single side counts the same value twice. */
type SumsOf<Sums> = { readonly [measure in Measure]: { readonly [side in Side]: Sums } };
const measureWords = ['pass_rate', 'mean_score'] as const;
export type Measure = (typeof measureWords)[number];
const sideWords = ['before', 'after', 'paired'] as const;
type Side = (typeof sideWords)[number];

export interface EvaluatorTallyData {
  readonly name: string;
  readonly kind: ReplayedVerdict['kind'] | null;
  readonly changes: { readonly [word in ChangeWord]: number };
  /** Counts by the reason of the missing score. */
  readonly noLonger: Counts;
  readonly notAsked: Counts;
  /** Verdicts whose evaluator has the same id, version, options and model. */
  readonly unchangedEvaluator: number;
  readonly sums: SumsOf<PairedSumsData>;
  readonly examples: { readonly [word in ExampleWord]: readonly ReplayExample[] };
}

const exampleWords = ['to_fail', 'to_pass', 'newly_scored', 'no_longer_scored'] as const;
type ExampleWord = (typeof exampleWords)[number];

export interface ReplayTallyData {
  /** Runs that were scored again. */
  readonly looked: number;
  /** Runs that would get a revision. */
  readonly revised: number;
  readonly gone: { readonly [reason: string]: { readonly runs: number; readonly named: readonly string[] } };
  readonly evaluators: readonly EvaluatorTallyData[];
  /** Verdicts beyond `evaluatorsMax` evaluators. */
  readonly uncounted: number;
}

export interface ScoredPair {
  readonly key: RunKey & { readonly agent: string | undefined; readonly sessionId: string | undefined };
  readonly before: ReadonlyMap<string, Before>;
  readonly after: AfterByName;
}

export interface Before {
  readonly verdict: ReplayedVerdict;
  readonly probability: number;
}

export interface ReplayTally {
  add(pair: ScoredPair): void;
  gone(key: RunKey, reason: GoneReason | 'may_still_change'): void;
  revised(): void;
  data(): ReplayTallyData;
}

interface EvaluatorTally {
  kind: ReplayedVerdict['kind'] | null;
  unchangedEvaluator: number;
  readonly changes: { [word in ChangeWord]: number };
  readonly noLonger: Counts;
  readonly notAsked: Counts;
  readonly sums: SumsOf<PairedSums>;
  readonly examples: { readonly [word in ExampleWord]: ReplayExample[] };
}

type Sampled = Pick<PairedObservation, 'probability' | 'upstream' | 'isRaised'>;

interface TallyOptions {
  readonly from?: ReplayTallyData;
  /** Examples of each evaluator and kind of change. */
  readonly examplesMax?: number;
}

export function replayTally({ from, examplesMax = examplesDefault }: TallyOptions = {}): ReplayTally {
  let { looked = 0, revised = 0, uncounted = 0 } = from ?? {};
  const gone = new Map(Object.entries(from?.gone ?? {}).map(([reason, { runs, named }]) => [reason, { runs, named: [...named] }]));
  const evaluators = new Map(from?.evaluators.map((one) => [one.name, restored(one)]));

  function tallyOf(name: string): EvaluatorTally | undefined {
    const found = evaluators.get(name) ?? (evaluators.size < evaluatorsMax ? restored() : undefined);
    if (found === undefined) uncounted++;
    else evaluators.set(name, found);
    return found;
  }

  return {
    add(pair) {
      looked++;
      for (const name of new Set([...pair.before.keys(), ...pair.after.keys()])) {
        const tally = tallyOf(name);
        if (tally !== undefined) addTo(tally, pair, name, examplesMax);
      }
    },
    gone(key, reason) {
      const one = gone.get(reason) ?? { runs: 0, named: [] };
      one.runs++;
      if (one.named.length < namedMax) one.named.push(runTargetId(key));
      gone.set(reason, one);
    },
    revised: () => void revised++,
    data: () => ({
      looked,
      revised,
      uncounted,
      gone: Object.fromEntries(gone),
      evaluators: [...evaluators].map(([name, { sums, ...tally }]) => ({
        name,
        ...tally,
        sums: ofSums((measure, side) => sums[measure][side].data()),
      })),
    }),
  };
}

function ofSums<Sums>(of: (measure: Measure, side: Side) => Sums): SumsOf<Sums> {
  const sides = (measure: Measure) => Object.fromEntries(sideWords.map((side) => [side, of(measure, side)]));
  return Object.fromEntries(measureWords.map((measure) => [measure, sides(measure)])) as unknown as SumsOf<Sums>;
}

function restored(from?: EvaluatorTallyData): EvaluatorTally {
  return {
    kind: from?.kind ?? null,
    unchangedEvaluator: from?.unchangedEvaluator ?? 0,
    changes: Object.fromEntries(changeWords.map((word) => [word, from?.changes[word] ?? 0])) as { [word in ChangeWord]: number },
    noLonger: { ...from?.noLonger },
    notAsked: { ...from?.notAsked },
    sums: ofSums((measure, side) => pairedSums(from?.sums[measure][side])),
    examples: Object.fromEntries(
      exampleWords.map((word) => [word, [...(from?.examples[word] ?? [])]]),
    ) as unknown as EvaluatorTally['examples'],
  };
}

function addTo(tally: EvaluatorTally, { key, before: allBefore, after: allAfter }: ScoredPair, name: string, examplesMax: number): void {
  const [before, after] = [allBefore.get(name), allAfter.get(name)];
  tally.kind = (after?.kind === 'verdict' ? after.verdict.kind : before?.verdict.kind) ?? tally.kind;
  if (after?.kind === 'verdict' && after.isStored) tally.unchangedEvaluator++;
  const word = changeOf(before?.verdict, after);
  tally.changes[word]++;
  if (word === 'no_longer_scored') count(tally.noLonger, reasonOf(after));
  if (after?.kind === 'not_asked') count(tally.notAsked, after.reason);
  addRates(tally, key, before, after);
  if (!isExampleWord(word) || tally.examples[word].length >= examplesMax) return;
  tally.examples[word].push({
    run: runTargetId(key),
    agent: key.agent ?? null,
    before: sideOf(before?.verdict, 'no stored verdict'),
    after: sideOf(after?.kind === 'verdict' ? after.verdict : undefined, reasonOf(after)),
  });
}

function isExampleWord(word: ChangeWord): word is ExampleWord {
  return (exampleWords as readonly string[]).includes(word);
}

function reasonOf(after: After | undefined): string {
  if (after === undefined) return 'not_configured';
  if (after.kind !== 'verdict') return after.reason;
  return after.verdict.reason ?? after.verdict.verdict;
}

function count(counts: Counts, reason: string): void {
  // Errors read `word: sentence`, and sentences differ by run.
  const word = /^[\w ]{1,60}/.exec(reason)?.[0] ?? 'other';
  const known = Object.hasOwn(counts, word) || Object.keys(counts).length < reasonsMax ? word : 'other';
  counts[known] = (Object.hasOwn(counts, known) ? (counts[known] ?? 0) : 0) + 1;
}

function changeOf(before: ReplayedVerdict | undefined, after: After | undefined): ChangeWord {
  const [from, to] = [measured(before), after?.kind === 'verdict' ? measured(after.verdict) : undefined];
  if (after?.kind === 'not_asked') return 'not_asked';
  if (from === undefined) return to === undefined ? 'unscored' : 'newly_scored';
  if (to === undefined) return 'no_longer_scored';
  if (from.measure !== to.measure) return 'measure_changed';
  if (from.measure === 'pass_rate' && from.value !== to.value) return to.value === 1 ? 'to_pass' : 'to_fail';
  if (before === undefined || after?.kind !== 'verdict') return 'changed';
  return before === after.verdict || contentText(before) === contentText(after.verdict) ? 'same' : 'changed';
}

/** `undefined` when there is no score. */
function measured(verdict: ReplayedVerdict | undefined): { readonly measure: Measure; readonly value: number } | undefined {
  switch (verdict?.verdict) {
    case 'pass':
      return { measure: 'pass_rate', value: 1 };
    case 'fail':
      return { measure: 'pass_rate', value: 0 };
    case 'raw':
      return verdict.score === undefined ? undefined : { measure: 'mean_score', value: verdict.score };
    default:
      return undefined;
  }
}

function addRates(
  tally: EvaluatorTally,
  { tenant, sessionId }: ScoredPair['key'],
  before: Before | undefined,
  after: After | undefined,
): void {
  const session = sessionId === undefined ? {} : { session: `${tenant} ${sessionId}` };
  const [from, to] = [measured(before?.verdict), after?.kind === 'verdict' ? measured(after.verdict) : undefined];
  const sampled = (verdict: ReplayedVerdict | undefined, probability: number): Sampled => ({
    probability,
    ...(verdict?.upstream === undefined ? {} : { upstream: verdict.upstream }),
    isRaised: verdict?.raisedBy !== undefined,
  });
  const [fromDrawn, toDrawn] = [
    sampled(before?.verdict, before?.probability ?? 1),
    after?.kind === 'verdict' ? sampled(after.verdict, after.probability) : sampled(undefined, 1),
  ];
  const add = (measure: Measure, side: Side, one: number, other: number, drawn: Sampled): void =>
    tally.sums[measure][side].add({ before: one, after: other, ...drawn, ...session });
  if (from !== undefined) add(from.measure, 'before', from.value, from.value, fromDrawn);
  if (to !== undefined) add(to.measure, 'after', to.value, to.value, toDrawn);
  // Sampling is by trace id, so the run of the smaller probability is among those of the larger one.
  if (from !== undefined && from.measure === to?.measure)
    add(from.measure, 'paired', from.value, to.value, fromDrawn.probability < toDrawn.probability ? fromDrawn : toDrawn);
}

function sideOf(verdict: ReplayedVerdict | undefined, otherwise: string): ExampleSide {
  if (verdict === undefined) return { verdict: 'none', score: null, label: '', explanation: otherwise };
  return {
    verdict: verdict.verdict,
    score: verdict.score ?? null,
    label: verdict.label,
    explanation: oneLine(verdict.explanation, explanationChars),
  };
}
