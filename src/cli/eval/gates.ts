/** Gates: the share of an evaluator's verdicts that has to pass. */
import { didYouMean } from '../../model/did-you-mean.ts';
import { passedShare, tallyOf, type Tally } from '../../library/tally.ts';
import { UsageError } from '../command.ts';
import type { EvalOutcome } from './item.ts';

export interface Gate {
  readonly name: string;
  readonly share: number;
}

export interface GateResult extends Gate {
  /** Undefined: nothing passed or failed, so the gate was not reached either. */
  readonly reached: number | undefined;
  readonly held: boolean;
}

export interface EvaluatorTally extends Tally {
  readonly name: string;
}

/** `NAME=SHARE`; the share as a number from 0 to 1 or in percent. */
export function parseGate(text: string, names: readonly string[]): Gate {
  const at = text.lastIndexOf('=');
  const [name, written] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const match = /^(\d{1,3}(?:\.\d{1,15})?|\.\d{1,15})(%?)$/.exec(written);
  const share = match === null ? Number.NaN : Number(match[1]) / (match[2] === '%' ? 100 : 1);
  if (at < 1 || !(share >= 0 && share <= 1))
    throw new UsageError(`--fail-under takes NAME=SHARE with a share from 0 to 1, as in tool_error=0.95; ${JSON.stringify(text)} is none.`);
  if (names.includes(name)) return { name, share };
  const guess = didYouMean(name, names);
  throw new UsageError(
    `--fail-under: no evaluator here is called ${JSON.stringify(name)}. ${guess === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${guess}?`}`,
  );
}

export function talliesOf({ results }: EvalOutcome): readonly EvaluatorTally[] {
  const all = results.flatMap(({ verdicts }) => verdicts);
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, own]) => ({ name, ...tallyOf(own.map(({ verdict }) => verdict)) }));
}

/** Adds a row for each evaluator that gave no verdict. */
export function withoutVerdicts(tallies: readonly EvaluatorTally[], names: readonly string[]): readonly EvaluatorTally[] {
  const counted = new Set(tallies.map(({ name }) => name));
  return [...tallies, ...[...new Set(names)].filter((name) => !counted.has(name)).map((name) => ({ name, ...tallyOf([]) }))];
}

/**
 * Evaluators without a score whose judge could not be asked at all, as with a wrong key or address: their checks never ran, even when all others passed.
 * A judge that answers outside its schema was asked.
 */
export function unaskedEvaluators({ results }: EvalOutcome): readonly string[] {
  const groups = Map.groupBy(
    results.flatMap(({ verdicts }) => verdicts.filter(({ verdict }) => verdict.kind !== 'skipped')),
    ({ name }) => name,
  );
  return [...groups]
    .filter(([, own]) => own.every(({ verdict }) => verdict.kind === 'failed' && unasked.test(verdict.error)))
    .map(([name]) => name);
}

/** Errors of a verdict that say that no answer came, in `src/judges`. */
const unasked = /^(?:judge_unavailable|judge_timed_out|judge_out_of_quota|judge_down|timed_out)\b/;

export function gateResults(gates: readonly Gate[], tallies: readonly EvaluatorTally[]): readonly GateResult[] {
  return gates.map((gate) => {
    const tally = tallies.find(({ name }) => name === gate.name);
    const reached = tally === undefined ? undefined : passedShare(tally);
    return { ...gate, reached, held: reached !== undefined && reached >= gate.share };
  });
}
