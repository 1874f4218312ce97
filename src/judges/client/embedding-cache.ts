/** Vectors by the hash of their text, the least recently used given up first. One for each endpoint and model. */
import { createHash } from 'node:crypto';
import type { Vector } from '../../../evaluators/matching/vectors.ts';
import { weighedCache } from './weighted-lru.ts';

export interface EmbeddingCache {
  of(text: string): Vector | undefined;
  keep(text: string, vector: Vector): void;
}

/** Numbers of all vectors together; each takes eight bytes. */
export const cachedNumbersMax = 4_000_000;

export function embeddingCache(numbersMax: number = cachedNumbersMax): EmbeddingCache {
  const cache = weighedCache<Vector>({ weightOf: ({ length }) => length, weightMax: numbersMax });
  return {
    of(text) {
      const key = hashOf(text);
      const vector = cache.take(key);
      if (vector !== undefined) cache.put(key, vector);
      return vector;
    },
    keep: (text, vector) => cache.put(hashOf(text), vector),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
