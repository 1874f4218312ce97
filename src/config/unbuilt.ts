/**
 * Keys whose feature does not exist yet. At its default such a key is accepted without a word; elsewise it is answered with one warning,
 * or refused where ignoring it would lose data, money or safety.
 */
import { isJsonArray, isJsonObject, jsonText, member, type JsonObject, type JsonValue } from '../model/json.ts';
import { pathText, type ConfigWarning, type Finding, type Path } from './fault.ts';
import { schemaAt } from './schema.ts';

interface UnbuiltKey {
  /** `*` stands for any item of a list or any name. */
  readonly path: readonly string[];
  readonly answer: 'warn' | 'refuse';
  readonly why: string;
  /** Of a key of which only some values are missing: these. */
  readonly values?: (value: JsonValue) => boolean;
}

const builtExporters: readonly JsonValue[] = ['span_events', 'metrics'];

const unbuiltKeys: readonly UnbuiltKey[] = [
  {
    path: ['export', '*', 'to'],
    answer: 'refuse',
    why: 'Scores cannot be sent there yet: they would be lost. Use span_events or metrics.',
    values: (value) => typeof value === 'string' && !builtExporters.includes(value),
  },
  { path: ['export', '*', 'tls'], answer: 'refuse', why: 'Own certificates for backends are not used yet. NODE_EXTRA_CA_CERTS adds certificate authorities.' },
];

/** What the configuration asks for in vain. `schema` tells the defaults. */
export function unbuilt(schema: JsonObject, value: JsonValue): { readonly findings: readonly Finding[]; readonly warnings: readonly ConfigWarning[] } {
  const findings: Finding[] = [];
  const warnings: ConfigWarning[] = [];
  for (const row of unbuiltKeys) {
    const asked = placesOf(value, row.path, []).filter((place) => isAsked(schema, row, place.path, place.value));
    if (row.answer === 'refuse') findings.push(...asked.map(({ path }) => ({ path, at: 'key', problem: 'is not available yet', todo: row.why }) as const));
    const first = row.answer === 'warn' ? asked[0] : undefined;
    if (first !== undefined) warnings.push({ key: pathText(first.path), message: row.why });
  }
  return { findings, warnings };
}

/** The answer to a key, for the reference page; the path has `*` for items and names. */
export function unbuiltAt(path: readonly string[]): UnbuiltKey | undefined {
  return unbuiltKeys.find((row) => row.path.join('.') === path.join('.'));
}

function isAsked(schema: JsonObject, row: UnbuiltKey, path: Path, value: JsonValue): boolean {
  if (row.values !== undefined) return row.values(value);
  const below = schemaAt(schema, path);
  return below === undefined || !isDefault(below, value);
}

/** A mapping is at its default when all that it names is. */
function isDefault(schema: JsonObject, value: JsonValue): boolean {
  const preset = member(schema, 'default');
  if (preset !== undefined && jsonText(preset, { sortKeys: true }) === jsonText(value, { sortKeys: true })) return true;
  if (!isJsonObject(value) || preset === undefined) return false;
  return Object.entries(value).every(([name, item]) => {
    const below = schemaAt(schema, [name]);
    return below !== undefined && isDefault(below, item);
  });
}

function placesOf(value: JsonValue, pattern: readonly string[], path: Path): readonly { readonly path: Path; readonly value: JsonValue }[] {
  const [part, ...rest] = pattern;
  if (part === undefined) return [{ path, value }];
  if (isJsonArray(value)) return part === '*' ? value.flatMap((item, index) => placesOf(item, rest, [...path, index])) : [];
  if (!isJsonObject(value)) return [];
  const names = part === '*' ? Object.keys(value) : Object.hasOwn(value, part) ? [part] : [];
  return names.flatMap((name) => placesOf(value[name] ?? null, rest, [...path, name]));
}
