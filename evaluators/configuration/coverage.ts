/** The expectations that evaluators check, the evaluators that a dataset adds for the others, and the parts without a check. */
import type { Expectation } from '../../src/model/expectation.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { configuredEvaluator, type ConfiguredEvaluator } from './configured.ts';
import type { AnyEvaluator, ExpectedPart } from '../evaluator.ts';
import { refinedPart, statedParts } from '../expectation/expectation.ts';

export interface Coverage {
  /** Evaluators that the expectation adds, in the order of its parts. */
  readonly switchedOn: readonly SwitchedOn[];
  /** Parts that no evaluator checks. */
  readonly unchecked: readonly UncheckedPart[];
  /** Refinements, such as arguments, that the configured evaluators leave out of their comparison. */
  readonly notCompared: readonly ExpectedPart[];
  /** Parts that only metrics without a threshold check, so no verdict passes or fails. */
  readonly undecided: readonly ExpectedPart[];
}

export interface SwitchedOn {
  readonly part: ExpectedPart;
  readonly configured: ConfiguredEvaluator;
}

export interface UncheckedPart {
  readonly part: ExpectedPart;
  /** Evaluators that would check the part. */
  readonly use: readonly string[];
}

export interface CoverageWith {
  readonly table: readonly AnyEvaluator[];
  /** True when a judge is available. */
  readonly canAsk: boolean;
  /** Cache of added evaluators, as validating options takes milliseconds. */
  readonly made: Map<string, ConfiguredEvaluator>;
}

/** `configured`: the evaluators of the run. */
export function coverageOf(
  expected: Expectation,
  configured: readonly ConfiguredEvaluator[],
  { table, canAsk, made }: CoverageWith,
): Coverage {
  const switchedOn: SwitchedOn[] = [];
  const unchecked: UncheckedPart[] = [];
  const notCompared: ExpectedPart[] = [];
  const undecided: ExpectedPart[] = [];
  for (const part of statedParts(expected)) {
    const isChecking = (one: ConfiguredEvaluator): boolean => one.checks?.(expected).includes(part) === true;
    const checking = configured.filter(isChecking);
    if (checking.length > 0 && checking.every(({ threshold }) => threshold === null)) undecided.push(part);
    if (checking.length > 0 || switchedOn.some((one) => isChecking(one.configured))) continue;
    const refined = refinedPart(part);
    if (refined !== undefined && configured.some((one) => one.checks?.(expected).includes(refined) === true)) {
      notCompared.push(part);
      continue;
    }
    const taken = new Set([...configured, ...switchedOn.map((one) => one.configured)].map(({ name }) => name));
    const evaluator = table.find(({ kind, switchedOnBy }) => switchedOnBy?.[part] !== undefined && (kind === 'rule' || canAsk));
    if (evaluator === undefined) unchecked.push({ part, use: checkersOf(part, table) });
    else switchedOn.push({ part, configured: switchedOnEvaluator(evaluator, evaluator.switchedOnBy?.[part] ?? {}, taken, made) });
  }
  return { switchedOn, unchecked, notCompared, undecided };
}

/** Parts whose evaluators gave no score, each with their verdicts. */
export function partsWithoutScore<Checked extends { readonly configured: ConfiguredEvaluator; readonly verdict: Verdict }>(
  expected: Expectation,
  verdicts: readonly Checked[],
): readonly { readonly part: ExpectedPart; readonly checking: readonly Checked[] }[] {
  return statedParts(expected)
    .filter((part) => refinedPart(part) === undefined)
    .map((part) => ({ part, checking: verdicts.filter(({ configured }) => configured.checks?.(expected).includes(part) === true) }))
    .filter(({ checking }) => checking.length > 0 && checking.every(({ verdict }) => verdict.kind !== 'scored'));
}

/** Evaluators that a dataset adds for a part. */
function checkersOf(part: ExpectedPart, table: readonly AnyEvaluator[]): readonly string[] {
  if (part === 'by_turn') return ['a rule with turns'];
  return table.filter(({ switchedOnBy }) => switchedOnBy?.[part] !== undefined).map(({ id }) => id);
}

/** An added metric gets the threshold 1, as it must decide. */
function switchedOnEvaluator(
  evaluator: AnyEvaluator,
  options: JsonObject,
  taken: ReadonlySet<string>,
  made: Map<string, ConfiguredEvaluator>,
): ConfiguredEvaluator {
  const name =
    [evaluator.id, `${evaluator.id}_expected`, ...Array.from({ length: taken.size }, (_, at) => `${evaluator.id}_expected_${at + 2}`)].find(
      (one) => !taken.has(one),
    ) ?? evaluator.id;
  const key = JSON.stringify([name, evaluator.id, options]);
  const before = made.get(key);
  if (before !== undefined) return before;
  const configuration = configuredEvaluator({ use: evaluator.id, name, options, threshold: evaluator.defaultThreshold ?? 1 }, [evaluator]);
  if (configuration.kind === 'faulty')
    throw new TypeError(
      `${evaluator.id} switches itself on with faulty options: ${configuration.faults.map(({ path, problem }) => `${path.join('.')} ${problem}`).join('; ')}`,
    );
  made.set(key, configuration.evaluator);
  return configuration.evaluator;
}
