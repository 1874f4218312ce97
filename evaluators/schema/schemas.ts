/**
 * JSON Schemas of tools, compiled behind guards: they come over the network, written by many generators, and one that is faulty must
 * neither fail the calls of its tool nor cost more than it is worth.
 */
import type { JsonValue } from '../../src/model/json.ts';
import type { CheckedValue, CompiledSchema, Pattern, SchemaProblem, Work } from '../evaluator.ts';
import { lostReference, schemaCheck } from './check.ts';
import { normalisedSchema } from './normaliser.ts';
import { tooLongToSearch } from './rules-plain.ts';
import { OutOfSteps, tooMuchWork, type Check, type Checking, type Failure, type Place } from './rule.ts';

/** Characters of a schema as JSON text; a larger one is not used. */
export const schemaTextMax = 65_536;
/** Problems told of one value. */
const problemsMax = 50;
/** Gaps told of one value. */
const gapsMax = 20;
/** Steps of checking one value: some thousandths of a second for most schemas, and some hundredths for the worst. */
const valueStepsMax = 20_000;

/** Undefined: the schema is beyond the limits. */
export function compileSchema(schema: JsonValue, pattern: (source: string) => Pattern): CompiledSchema | undefined {
  const normalised = normalisedSchema(schema, pattern);
  if (normalised === undefined) return undefined;
  const { check, lost } = schemaCheck(normalised.schema, normalised.draft, pattern);
  return {
    check: (value, work = { steps: Infinity }) => checkedValue(check, value, work),
    problems(value, work) {
      const { problems, isWhole } = pass(check, value, work ?? { steps: Infinity }, false);
      return isWhole ? told(problems) : undefined;
    },
    faults: [...normalised.faults, ...lost.map(lostReference)],
    steps: normalised.steps,
  };
}

/** Of a gap in a check: the value is too large. Otherwise a part of the schema cannot be applied. */
export function isSizeGap(gap: string): boolean {
  return gap === tooMuchWork || gap === tooLongToSearch;
}

interface Pass {
  readonly problems: readonly Failure[];
  readonly gaps: readonly string[];
  /** False: the steps ended before. */
  readonly isWhole: boolean;
}

/** A value that takes too many steps is checked once more, each part of it with a share of the steps: what is wrong in the other parts is found. */
function checkedValue(check: Check, value: JsonValue, work: Work): CheckedValue {
  const first = pass(check, value, work, false);
  if (first.isWhole) return { problems: told(first.problems), gaps: [...new Set(first.gaps)].slice(0, gapsMax) };
  const second = pass(check, value, work, true);
  return { problems: told([...first.problems, ...second.problems]), gaps: [...new Set([...second.gaps, tooMuchWork])].slice(0, gapsMax) };
}

function pass(check: Check, value: JsonValue, work: Work, sharing: boolean): Pass {
  const steps = Math.max(0, Math.min(valueStepsMax, work.steps));
  const checking: Checking = { steps, depth: 0, failures: [], gaps: [], sharing };
  let isWhole = true;
  try {
    check(value, undefined, checking, undefined);
  } catch (error) {
    if (!(error instanceof OutOfSteps)) throw error;
    isWhole = false;
  }
  work.steps -= isWhole ? steps - checking.steps : steps;
  return { problems: checking.failures, gaps: checking.gaps, isWhole };
}

/** Each problem once, however many parts of the schema come to it. */
function told(failures: readonly Failure[]): readonly SchemaProblem[] {
  if (failures.length === 0) return [];
  const once = new Map<string, SchemaProblem>();
  for (const { keyword, place, name, params, message } of failures) {
    const path = [...stepsTo(place), ...(name === undefined ? [] : [name])];
    const key = JSON.stringify([keyword, path]);
    if (!once.has(key)) once.set(key, { path, keyword, params, message });
    if (once.size === problemsMax) break;
  }
  return [...once.values()];
}

function stepsTo(place: Place): readonly string[] {
  const steps: string[] = [];
  for (let at = place; at !== undefined; at = at.above) steps.push(at.step);
  return steps.reverse();
}

/** The steps of a JSON pointer (RFC 6901). */
export function pointerSteps(pointer: string): readonly string[] {
  return pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
