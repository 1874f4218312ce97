/** Keys whose feature does not exist yet. They are refused: ignoring them would lose data, money or safety. */
import { isJsonArray, isJsonObject, type JsonValue } from '../model/json.ts';
import type { Finding, Path } from './fault.ts';

interface UnbuiltKey {
  /** `*` stands for any item of a list or any name. */
  readonly path: readonly string[];
  readonly why: string;
}

const unbuiltKeys: readonly UnbuiltKey[] = [
  { path: ['export', '*', 'tls'], why: 'Own certificates for backends are not used yet. NODE_EXTRA_CA_CERTS adds certificate authorities.' },
];

/** What the configuration asks for in vain. */
export function unbuilt(value: JsonValue): readonly Finding[] {
  return unbuiltKeys.flatMap(({ path, why }) => placesOf(value, path, []).map((place): Finding => ({ path: place.path, at: 'key', problem: 'is not available yet', todo: why })));
}

/** What is told of a key, for the reference page; the path has `*` for items and names. */
export function unbuiltAt(path: readonly string[]): UnbuiltKey | undefined {
  return unbuiltKeys.find((row) => row.path.join('.') === path.join('.'));
}

function placesOf(value: JsonValue, pattern: readonly string[], path: Path): readonly { readonly path: Path; readonly value: JsonValue }[] {
  const [part, ...rest] = pattern;
  if (part === undefined) return [{ path, value }];
  if (isJsonArray(value)) return part === '*' ? value.flatMap((item, index) => placesOf(item, rest, [...path, index])) : [];
  if (!isJsonObject(value)) return [];
  const names = part === '*' ? Object.keys(value) : Object.hasOwn(value, part) ? [part] : [];
  return names.flatMap((name) => placesOf(value[name] ?? null, rest, [...path, name]));
}
