/** Hashes each section of a configuration, and each key that takes effect after a restart. */
import { createHash } from 'node:crypto';
import { isJsonObject, jsonText, member, type JsonObject, type JsonValue, objectAt } from '../model/json.ts';
import { pathText } from './diagnostic.ts';

export interface Fingerprints {
  readonly sections: ReadonlyMap<string, string>;
  /** By key, as in `listen.otlp_http`. */
  readonly restart: ReadonlyMap<string, string>;
}

/** `value` has all defaults; `files`: content of the named files by key. */
export function fingerprintsOf({
  schema,
  value,
  files,
}: {
  readonly schema: JsonObject;
  readonly value: JsonObject;
  readonly files: JsonObject;
}): Fingerprints {
  const filesBelow = (key: string): JsonValue =>
    Object.entries(files).flatMap(([name, content]) => (name === key || name.startsWith(`${key}.`) ? [content] : []));
  const sections = Object.keys(objectAt(schema, 'properties')).map(
    (key) => [key, hashOf([member(value, key) ?? null, filesBelow(key)])] as const,
  );
  const restart = restartPaths(schema).map(
    ({ path, isPresence }) => [pathText(path), hashOf(isPresence ? valueAt(value, path) !== null : valueAt(value, path))] as const,
  );
  return { sections: new Map(sections), restart: new Map(restart) };
}

/** Names of differing entries, in the order of the schema. */
export function differing(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): readonly string[] {
  return [...other.keys()].filter((key) => one.get(key) !== other.get(key));
}

/** Sections that may differ between the replicas of one service. */
const ofOneReplica: ReadonlySet<string> = new Set(['listen', 'journal', 'limits', 'log', 'telemetry']);

/** A short hash of what replicas have in common. */
export function sharedFingerprint({ sections }: Fingerprints): string {
  return hashOf([...sections].filter(([name]) => !ofOneReplica.has(name)).map((one) => [...one])).slice(0, 12);
}

interface RestartPath {
  readonly path: readonly string[];
  /** `true` when only the presence of a value matters. */
  readonly isPresence: boolean;
}

/** Keys with `x-restart` in the schema; none is inside a list. */
function restartPaths(schema: JsonObject, path: readonly string[] = []): readonly RestartPath[] {
  const mark = member(schema, 'x-restart');
  const below = Object.entries(objectAt(schema, 'properties')).flatMap(([name, one]) =>
    isJsonObject(one) ? restartPaths(one, [...path, name]) : [],
  );
  return mark === undefined ? below : [{ path, isPresence: mark === 'presence' }, ...below];
}

function valueAt(value: JsonValue, path: readonly string[]): JsonValue {
  return path.reduce<JsonValue>((at, name) => (isJsonObject(at) ? (member(at, name) ?? null) : null), value);
}

function hashOf(value: JsonValue): string {
  return createHash('sha256')
    .update(jsonText(value, { sortKeys: true }))
    .digest('base64');
}
