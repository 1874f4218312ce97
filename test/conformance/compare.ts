/** Compares what came out with what is wanted, as the vectors define it. */
import { isJsonArray, isJsonObject, member } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

const tolerance = 1e-9;
/** Lists whose order means nothing. */
const sets: ReadonlySet<string> = new Set(['problems', 'failed_checks', 'skipped_checks']);

export function near(wanted: number, got: number): boolean {
  return Math.abs(wanted - got) <= tolerance;
}

/** The place where the details differ; undefined when every wanted member is there. */
export function difference(wanted: JsonValue, got: JsonValue | undefined, path: string, isSet = false): string | undefined {
  if (isJsonArray(wanted))
    return isJsonArray(got) ? (isSet ? setDifference(wanted, got, path) : listDifference(wanted, got, path)) : `${path} is not a list`;
  if (isJsonObject(wanted)) return isJsonObject(got) ? objectDifference(wanted, got, path) : `${path} is not an object`;
  const equal = isNumber(wanted) && isNumber(got) ? near(Number(wanted), Number(got)) : wanted === got;
  return equal ? undefined : `${path} is ${shown(got)}, wanted ${shown(wanted)}`;
}

function objectDifference(wanted: JsonObject, got: JsonObject, path: string): string | undefined {
  for (const [key, value] of Object.entries(wanted)) {
    const found = difference(value, member(got, key), path === '' ? key : `${path}.${key}`, sets.has(key));
    if (found !== undefined) return found;
  }
  return undefined;
}

function listDifference(wanted: readonly JsonValue[], got: readonly JsonValue[], path: string): string | undefined {
  if (wanted.length !== got.length) return `${path} has ${got.length} entries, wanted ${wanted.length}: ${shown(got)}`;
  for (const [at, value] of wanted.entries()) {
    const found = difference(value, got[at], `${path}[${at}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function setDifference(wanted: readonly JsonValue[], got: readonly JsonValue[], path: string): string | undefined {
  const left = [...got];
  for (const value of wanted) {
    const at = left.findIndex((one) => difference(value, one, '') === undefined);
    if (at === -1) return `${path} lacks ${shown(value)}: ${shown(got)}`;
    left.splice(at, 1);
  }
  return left.length === 0 ? undefined : `${path} has ${shown(left)} besides`;
}

function isNumber(value: JsonValue | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function shown(value: JsonValue | undefined): string {
  return value === undefined ? 'absent' : JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? one.toString() : one));
}
