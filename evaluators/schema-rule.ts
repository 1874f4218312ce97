/** The contract of a schema keyword: data plus the check that it makes of its operand. Checks are closures, and no code is generated. */
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Pattern } from './evaluator.ts';

/** A place in the value that is checked; undefined is its root. Written out only when something is wrong there. */
export type Place = { readonly above: Place; readonly step: string } | undefined;

export function inside(above: Place, step: string | number): Place {
  return { above, step: String(step) };
}

export interface Failure {
  readonly keyword: string;
  readonly place: Place;
  /** The member that is missing or too many, when the value at the place is the object around it. */
  readonly name?: string;
  readonly params: JsonObject;
  readonly message: string;
}

/** One value on its way through a schema. */
export interface Checking {
  /** Steps that are left: what a check costs is counted, not timed, so that every host comes to the same end. */
  steps: number;
  /** Schemas that are entered and not yet left. */
  depth: number;
  readonly failures: Failure[];
}

/** What other keywords of a schema have looked at: `unevaluatedProperties` and `unevaluatedItems` are about the rest. */
export interface Seen {
  readonly names: Set<string>;
  allNames: boolean;
  /** So many items from the first one on. */
  items: number;
}

export type Check = (value: JsonValue, place: Place, checking: Checking, seen: Seen | undefined) => void;

export type Draft = '2020-12' | 'draft-07';

/** What a keyword needs to make its check. */
export interface Compiling {
  readonly node: (schema: JsonValue) => Check;
  readonly reference: (reference: string) => Check;
  readonly pattern: (source: string) => Pattern;
}

export interface SchemaRule {
  readonly keyword: string;
  /** Values of other types pass. */
  readonly on: 'number' | 'string' | 'any' | 'array' | 'object';
  /** Absent: in both. */
  readonly draft?: Draft;
  check(operand: JsonValue, schema: JsonObject, compiling: Compiling): Check;
}

/** The steps, or the depth, are used up. */
export class OutOfSteps extends Error {}

export function spend(checking: Checking, steps: number): void {
  checking.steps -= steps;
  if (checking.steps < 0) throw new OutOfSteps();
}

/** A failure is made, kept and told: dearer than a check that passes. */
const failureSteps = 8;

export function fail(checking: Checking, failure: Failure): void {
  spend(checking, failureSteps);
  checking.failures.push(failure);
}

export function freshSeen(): Seen {
  return { names: new Set(), allNames: false, items: 0 };
}

export function addSeen(seen: Seen, more: Seen): void {
  for (const name of more.names) seen.names.add(name);
  seen.allNames ||= more.allNames;
  seen.items = Math.max(seen.items, more.items);
}
