/**
 * JSON Schemas of tools, compiled behind guards: they come over the network, written by many generators, and one that is faulty must
 * neither fail the calls of its tool nor cost more than it is worth.
 */
import type { JsonValue } from '../src/model/json.ts';
import type { CompiledSchema, Pattern, SchemaProblem, Work } from './evaluator.ts';
import { schemaCheck } from './schema-check.ts';
import { normalisedSchema } from './schema-normaliser.ts';
import { OutOfSteps, type Check, type Checking, type Failure, type Place } from './schema-rule.ts';

/** Characters of a schema as JSON text; a larger one is not used. */
export const schemaTextMax = 65_536;
/** Problems told of one value. */
const problemsMax = 50;
/** Steps of checking one value: some thousandths of a second for most schemas, and some hundredths for the worst. */
const valueStepsMax = 20_000;

/** Undefined: the schema is beyond the limits. */
export function compileSchema(schema: JsonValue, pattern: (source: string) => Pattern): CompiledSchema | undefined {
  const normalised = normalisedSchema(schema, pattern);
  if (normalised === undefined) return undefined;
  const { check, lost } = schemaCheck(normalised.schema, normalised.draft, pattern);
  return {
    problems: (value, work = { steps: Infinity }) => problemsOf(check, value, work),
    faults: [...normalised.faults, ...lost.map((reference) => `$ref ${reference} leads nowhere`)],
    steps: normalised.steps,
  };
}

function problemsOf(check: Check, value: JsonValue, work: Work): readonly SchemaProblem[] | undefined {
  const steps = Math.min(valueStepsMax, work.steps);
  const checking: Checking = { steps, depth: 0, failures: [] };
  try {
    check(value, undefined, checking, undefined);
  } catch (error) {
    if (!(error instanceof OutOfSteps)) throw error;
    work.steps -= steps;
    return undefined;
  }
  work.steps -= steps - checking.steps;
  return told(checking.failures);
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
  return pointer === '' ? [] : pointer.slice(1).split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
