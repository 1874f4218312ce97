/** What a configuration without a fault says that its author may not mean. */
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, jsonText, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { isRule } from './cross-checks-juries.ts';
import { entryOf, placedEntries } from '../entries/evaluator-entry.ts';
import type { Finding } from '../diagnostic.ts';
import { withDefaults } from '../schema.ts';
import { defaultsEntry } from '../sections/evaluators.ts';

interface Warned {
  /** The schema of the whole configuration. */
  readonly schema: JsonObject;
  /** As it stands in the file. */
  readonly written: JsonValue;
  readonly members: readonly AnyEvaluator[];
}

export function configWarnings({ schema, written, members }: Warned): readonly Finding[] {
  if (!isJsonObject(written)) return [];
  return [...withoutRules(written, members), ...plannedKeys(schema, written)];
}

/** A list replaces the defaults: one that names a judge alone leaves every rule out. */
function withoutRules(written: JsonObject, members: readonly AnyEvaluator[]): readonly Finding[] {
  if (!isJsonArray(member(written, 'evaluators'))) return [];
  const entries = placedEntries(written, members).map(({ entry }) => entryOf(entry));
  const place = { path: ['evaluators'], at: 'key' } as const;
  if (entries.length === 0)
    return [{ ...place, problem: 'is empty, so no run is scored', todo: `Add ${defaultsEntry}, or leave evaluators out.` }];
  const used = entries.map((entry) => ({ entry, evaluator: members.find(({ id }) => id === member(entry, 'use')) }));
  if (used.some(({ entry, evaluator }) => isRule(evaluator, entry))) return [];
  const off = members.filter(({ onByDefault }) => onByDefault).map(({ id }) => id);
  return [
    {
      ...place,
      problem: `names no rule, so the rules that are on without a list are off: ${off.join(', ')}`,
      todo: `Add the entry ${defaultsEntry} to keep them.`,
    },
  ];
}

function plannedKeys(schema: JsonObject, written: JsonObject): readonly Finding[] {
  const properties = member(schema, 'properties');
  return Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([key, section]): readonly Finding[] => {
    const value = member(written, key);
    if (!isJsonObject(section) || member(section, 'x-planned') !== true || value === undefined) return [];
    const preset = withDefaults(section, member(section, 'default') ?? null);
    const isPreset = jsonText(withDefaults(section, value), { sortKeys: true }) === jsonText(preset, { sortKeys: true });
    return isPreset
      ? []
      : [{ path: [key], at: 'key', problem: 'is not in this release, so it does nothing', todo: 'Leave it out until a release has it.' }];
  });
}
