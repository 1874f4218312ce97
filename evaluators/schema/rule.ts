/** The contract of a schema keyword: data plus the check that it makes of its operand. Checks are closures, and no code is generated. */
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import type { Pattern } from '../evaluator.ts';

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
  /** Certain: no part that was left out could take them back. */
  readonly failures: Failure[];
  /** Why parts of the value were not checked: a part of the schema cannot be applied, or asks for too much work. */
  readonly gaps: string[];
  /** When true, each member and item has a share of the steps, so that a large one does not keep the others from being checked. */
  readonly sharing: boolean;
}

/** The members that other keywords of a schema have evaluated: `unevaluatedProperties` and `unevaluatedItems` are about the rest. */
export interface Seen {
  readonly names: Set<string>;
  allNames: boolean;
  /** So many items from the first one on. */
  items: number;
}

export type Check = (value: JsonValue, place: Place, checking: Checking, seen: Seen | undefined) => void;

export type Draft = '2020-12' | 'draft-07';

/** The services that a keyword needs to make its check. */
export interface Compiling {
  readonly node: (schema: JsonValue) => Check;
  readonly reference: (reference: string) => Check;
  readonly pattern: (source: string) => Pattern;
}

export interface SchemaRule {
  readonly keyword: string;
  /** Values of other types pass. */
  readonly on: 'number' | 'string' | 'any' | 'array' | 'object';
  /** Omitted when both drafts have it. */
  readonly draft?: Draft;
  check(operand: JsonValue, schema: JsonObject, compiling: Compiling): Check;
}

export function schemaRule(on: SchemaRule['on'], keyword: string, check: SchemaRule['check'], draft?: Draft): SchemaRule {
  return { keyword, on, check, ...(draft === undefined ? {} : { draft }) };
}

type SizeOf = (value: JsonValue, checking: Checking) => number;
type Holds = (size: number, limit: number) => boolean;

/** A keyword that bounds a size: a number, or the count of characters, items or members. */
export function bound(
  on: SchemaRule['on'],
  keyword: string,
  size: SizeOf,
  holds: Holds,
  fault: (limit: number) => Pick<Failure, 'params' | 'message'>,
): SchemaRule {
  return schemaRule(on, keyword, (operand) => {
    const limit = Number(operand);
    return (value, place, checking) => {
      if (!holds(size(value, checking), limit)) fail(checking, { keyword, place, ...fault(limit) });
    };
  });
}

/** The most and the least of a count, in this order. */
export function countBounds(on: SchemaRule['on'], what: string, things: string, size: SizeOf): readonly SchemaRule[] {
  const one = (word: 'max' | 'min', comparative: string, holds: Holds): SchemaRule =>
    bound(on, `${word}${what}`, size, holds, (limit) => ({
      params: { limit },
      message: `must NOT have ${comparative} than ${limit} ${things}`,
    }));
  return [one('max', 'more', (found, most) => found <= most), one('min', 'fewer', (found, least) => found >= least)];
}

/** The steps, or the depth, are used up. */
export class OutOfSteps extends Error {}

export function spend(checking: Checking, steps: number): void {
  checking.steps -= steps;
  if (checking.steps < 0) throw new OutOfSteps();
}

/** A failure is made, kept and reported: dearer than a check that passes. */
const failureSteps = 8;

export function fail(checking: Checking, failure: Failure): void {
  checking.failures.push(failure);
  spend(checking, failureSteps);
}

/** A part of the value stays unchecked. Its members count as seen: a missing part of the schema is not a fault of the value. */
export function leaveOut(checking: Checking, gap: string, seen?: Seen): void {
  spend(checking, 1);
  addGaps(checking, [gap]);
  if (seen !== undefined) seeAll(seen);
}

/** Many items of one list have the same gap: it is noted once. */
export function addGaps(checking: Checking, gaps: readonly string[]): void {
  for (const gap of gaps) if (checking.gaps.at(-1) !== gap) checking.gaps.push(gap);
}

function seeAll(seen: Seen): void {
  seen.allNames = true;
  seen.items = Infinity;
}

export const tooMuchWork = 'the check takes too much work';
/** A share is at least this long while steps are left: most scalars take fewer. */
const shareMin = 40;

/** Runs one of several checks; `left` of them share the steps that are left, this one included. */
export function withShare(checking: Checking, left: number, run: () => void, seen?: Seen): void {
  if (!checking.sharing) return run();
  const { steps, depth } = checking;
  if (steps <= 0) throw new OutOfSteps();
  const share = Math.min(steps, Math.max(shareMin, Math.floor(steps / left)));
  checking.steps = share;
  try {
    run();
  } catch (error) {
    if (!(error instanceof OutOfSteps)) throw error;
    checking.depth = depth;
    addGaps(checking, [tooMuchWork]);
    if (seen !== undefined) seeAll(seen);
  }
  checking.steps = steps - share + Math.max(0, checking.steps);
}

export interface Trial {
  readonly failures: readonly Failure[];
  readonly gaps: readonly string[];
}

/** Checks a value without reporting the findings yet. When the steps end inside, none of them count. */
export function trial(check: Check, value: JsonValue, place: Place, checking: Checking, seen: Seen | undefined): Trial {
  const [failed, left] = [checking.failures.length, checking.gaps.length];
  try {
    check(value, place, checking, seen);
  } catch (error) {
    checking.failures.length = failed;
    checking.gaps.length = left;
    throw error;
  }
  return { failures: checking.failures.splice(failed), gaps: checking.gaps.splice(left) };
}

export function freshSeen(): Seen {
  return { names: new Set(), allNames: false, items: 0 };
}

export function addSeen(seen: Seen, more: Seen): void {
  for (const name of more.names) seen.names.add(name);
  seen.allNames ||= more.allNames;
  seen.items = Math.max(seen.items, more.items);
}
