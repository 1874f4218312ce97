/**
 * Tests whether an expression holds on a run. An unknown value makes a comparison neither true nor false (Kleene's three-valued logic), and an
 * expression holds only when it is true. So an unknown confidence is never below a limit, nor at or above it.
 */
import type { Run } from '../../model/agent-trace.ts';
import { member, plainText, type JsonObject } from '../../model/json.ts';
import type { RunRow } from '../../model/store/store.ts';
import { verdictWord, type Verdict, type VerdictWord } from '../../model/verdict.ts';
import type { NumberPlace, RunExpression, Sign, TextPlace } from './run-expression.ts';
import { runFields, type RunField } from './run-fields.ts';

/** The known facts of a run where an expression is tested. */
export interface RunFacts {
  /** The texts of a field. Empty or `undefined` members: not known. */
  readonly field: (name: RunField) => readonly (string | undefined)[];
  /** An attribute of the resource. */
  readonly attribute: (key: string) => string | undefined;
  /** Verdicts by the names of the evaluators. */
  readonly verdicts: ReadonlyMap<string, VerdictFacts>;
}

export interface VerdictFacts {
  readonly verdict: VerdictWord;
  /** `undefined` unless it was scored. */
  readonly score: number | undefined;
  readonly label: string;
  readonly details: JsonObject;
}

export function holds(expression: RunExpression, facts: RunFacts): boolean {
  return truthOf(expression, facts) === true;
}

/** `undefined`: not known. */
export function truthOf(expression: RunExpression, facts: RunFacts): boolean | undefined {
  switch (expression.kind) {
    case 'and':
    case 'or': {
      const decides = expression.kind === 'or';
      const truths = expression.terms.map((term) => truthOf(term, facts));
      if (truths.includes(decides)) return decides;
      return truths.includes(undefined) ? undefined : !decides;
    }
    case 'not': {
      const truth = truthOf(expression.term, facts);
      return truth === undefined ? undefined : !truth;
    }
    case 'number': {
      const known = numberAt(expression.place, facts);
      return known === undefined ? undefined : comparisons[expression.sign](known, expression.value);
    }
    case 'text': {
      const known = textsAt(expression.place, facts).filter((text) => text !== undefined);
      return known.length === 0 ? undefined : known.includes(expression.text) === (expression.sign === '=');
    }
  }
}

const comparisons: { readonly [sign in Sign]: (one: number, other: number) => boolean } = {
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
  '=': (one, other) => one === other,
  '!=': (one, other) => one !== other,
};

function numberAt(place: NumberPlace, { verdicts }: RunFacts): number | undefined {
  switch (place.part) {
    case 'score':
      return verdicts.get(place.evaluator)?.score;
    case 'confidence':
      return confidenceOf(verdicts.get(place.evaluator));
    case 'lowest_confidence': {
      const known = [...verdicts.values()].flatMap((verdict) => confidenceOf(verdict) ?? []);
      return known.length === 0 ? undefined : Math.min(...known);
    }
  }
}

/** The confidence, which `jury-tally.ts` defines; `undefined` when it is not known, and for a verdict without a score. */
export function confidenceOf(verdict: Pick<VerdictFacts, 'score' | 'details'> | undefined): number | undefined {
  const told = verdict?.score === undefined ? undefined : member(verdict.details, 'confidence');
  return typeof told === 'number' && told >= 0 && told <= 1 ? told : undefined;
}

function textsAt(place: TextPlace, { field, attribute, verdicts }: RunFacts): readonly (string | undefined)[] {
  switch (place.part) {
    case 'field':
      return field(place.field);
    case 'attribute':
      return [attribute(place.key)];
    case 'verdict':
      return [verdicts.get(place.evaluator)?.verdict];
    case 'label': {
      const verdict = verdicts.get(place.evaluator);
      return [verdict?.score === undefined ? undefined : verdict.label];
    }
  }
}

/** Facts of a run with the verdicts that it has so far. */
export function factsOf(run: Run, verdicts: ReadonlyMap<string, Verdict>): RunFacts {
  return {
    field: (name) => runFields[name](run),
    attribute(key) {
      const value = member(run.resourceAttributes, key);
      return value === undefined ? undefined : plainText(value);
    },
    verdicts: new Map([...verdicts].map(([name, verdict]) => [name, verdictFacts(verdict)])),
  };
}

function verdictFacts(verdict: Verdict): VerdictFacts {
  const scored = verdict.kind === 'scored' ? verdict : undefined;
  return { verdict: verdictWord(verdict), score: scored?.score, label: scored?.label ?? '', details: verdict.details };
}

/** Facts of a stored run without its content. */
export function factsOfRow(row: RunRow): RunFacts {
  return {
    field: (name) => (isRowField(name) ? [row[name]] : []),
    attribute: (key) => (key === 'service.name' ? row.service : key === 'service.version' ? row.version : undefined),
    verdicts: new Map(row.verdicts.map((verdict) => [verdict.name, verdict])),
  };
}

const rowFields = ['agent', 'service', 'version', 'model', 'status', 'completeness', 'tenant'] as const;

function isRowField(name: RunField): name is (typeof rowFields)[number] {
  return rowFields.some((field) => field === name);
}
