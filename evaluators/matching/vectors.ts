/** Vectors as lists of numbers: parsing and cosine. */
import { isJsonArray, parseJsonContainer, type JsonValue } from '../../src/model/json.ts';

export type Vector = readonly number[];

/**
 * Cosine of the angle between two vectors of the same length, -1 to 1. Both are scaled by their greatest member first, so that no square
 * overflows. A vector of zeros points nowhere: 0.
 */
export function cosine(a: Vector, b: Vector): number {
  const [greatestA, greatestB] = [a, b].map((vector) => vector.reduce((most, one) => Math.max(most, Math.abs(one)), 0));
  if (greatestA === undefined || greatestB === undefined || greatestA === 0 || greatestB === 0) return 0;
  let [dot, squaresA, squaresB] = [0, 0, 0];
  for (const [at, one] of a.entries()) {
    const [x, y] = [one / greatestA, (b[at] ?? 0) / greatestB];
    dot += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return Math.min(1, Math.max(-1, dot / Math.sqrt(squaresA * squaresB)));
}

/** At least one finite number; a string is parsed as JSON. `undefined` when the value is not a vector. */
export function vectorOf(value: JsonValue | undefined): Vector | undefined {
  const list = typeof value === 'string' ? parseJsonContainer(value) : value;
  if (list === undefined || !isJsonArray(list) || list.length === 0) return undefined;
  return list.every((one) => typeof one === 'number' && Number.isFinite(one)) ? (list as Vector) : undefined;
}

export type ReadVectors =
  | { readonly kind: 'vectors'; readonly vectors: readonly Vector[] }
  | { readonly kind: 'faulty'; readonly fault: string };

/** One vector per text, all of one length; or the fault. */
export function readVectors(value: JsonValue | undefined, texts: number): ReadVectors {
  if (value === undefined || !isJsonArray(value)) return faulty('there is no list of vectors');
  if (value.length !== texts) return faulty(`there are ${value.length} vectors for ${texts} texts`);
  const vectors = value.map((one) => (isJsonArray(one) ? vectorOf(one) : undefined)).filter((vector) => vector !== undefined);
  if (vectors.length < texts) return faulty('a vector is empty or no list of finite numbers');
  const lengths = new Set(vectors.map(({ length }) => length));
  return lengths.size > 1
    ? faulty(`the vectors have different lengths: ${[...lengths].slice(0, 3).join(', ')}`)
    : { kind: 'vectors', vectors };
}

function faulty(fault: string): ReadVectors {
  return { kind: 'faulty', fault };
}
