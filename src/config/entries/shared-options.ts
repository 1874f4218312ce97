/**
 * Options that an entry of `evaluators` leaves out and a section of the configuration gives to all: `x-from` in the evaluator's schema
 * names the section.
 */
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { entryOf, placedEntries } from './evaluator-entry.ts';
import { asObject, objectAt } from '../partial-value.ts';
import { ownMembers } from '../schema.ts';

/** The sections that some evaluator takes options from. */
export function sharedSections(members: readonly AnyEvaluator[], value: JsonObject): JsonObject {
  const names = new Set(members.flatMap((evaluator) => takenOptions(evaluator).map(({ section }) => section)));
  return ownMembers(Object.entries(value).filter(([key]) => names.has(key)));
}

/** The configuration with the evaluators that `defaults` stands for, and with these options filled in. */
export function withSharedOptions(value: JsonObject, members: readonly AnyEvaluator[]): JsonObject {
  const shared = sharedSections(members, value);
  const entries = placedEntries(value, members).map(({ entry }) => withShared(entry, members, shared));
  return ownMembers(Object.entries(value).map(([key, below]) => [key, key === 'evaluators' ? entries : below]));
}

/** An entry with these options filled in. */
export function withShared(entry: JsonValue, members: readonly AnyEvaluator[], shared: JsonObject): JsonObject {
  const written = entryOf(entry);
  const evaluator = members.find(({ id }) => id === member(written, 'use'));
  const options = objectAt(written, 'options');
  const missing =
    evaluator === undefined
      ? []
      : takenOptions(evaluator).filter(({ option, section }) => !Object.hasOwn(options, option) && member(shared, section) !== undefined);
  if (missing.length === 0) return written;
  const filled = ownMembers([
    ...Object.entries(options),
    ...missing.map(({ option, section }) => [option, shared[section] ?? null] as const),
  ]);
  return ownMembers([...Object.entries(written).filter(([key]) => key !== 'options'), ['options', filled]]);
}

function takenOptions({ optionsSchema }: AnyEvaluator): readonly { readonly option: string; readonly section: string }[] {
  return Object.entries(asObject(member(optionsSchema, 'properties'))).flatMap(([option, schema]) => {
    const section = isJsonObject(schema) ? member(schema, 'x-from') : undefined;
    return typeof section === 'string' ? [{ option, section }] : [];
  });
}
