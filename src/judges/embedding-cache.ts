/** Vectors by the hash of their text, the least recently used given up first. One for each endpoint and model. */
import { createHash } from 'node:crypto';
import type { Vector } from '../../evaluators/matching/vectors.ts';

export interface EmbeddingCache {
  of(text: string): Vector | undefined;
  keep(text: string, vector: Vector): void;
}

/** Numbers of all vectors together; each takes eight bytes. */
export const cachedNumbersMax = 4_000_000;

export function embeddingCache(numbersMax: number = cachedNumbersMax): EmbeddingCache {
  const kept = new Map<string, Vector>();
  let numbers = 0;

  function drop(key: string): Vector | undefined {
    const vector = kept.get(key);
    if (kept.delete(key)) numbers -= vector?.length ?? 0;
    return vector;
  }

  function put(key: string, vector: Vector): void {
    kept.set(key, vector);
    numbers += vector.length;
    for (const oldest of kept.keys()) {
      if (numbers <= numbersMax) break;
      drop(oldest);
    }
  }

  return {
    of(text) {
      const key = hashOf(text);
      const vector = drop(key);
      if (vector !== undefined) put(key, vector);
      return vector;
    },
    keep(text, vector) {
      const key = hashOf(text);
      drop(key);
      put(key, vector);
    },
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
