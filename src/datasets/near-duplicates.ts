/** Finds inputs that are near each other by the cosine of their vectors. */

/** A vector of length 1, so that a product is a cosine. `undefined`: it points nowhere. */
export type Direction = Float32Array;

export function directionOf(vector: readonly number[]): Direction | undefined {
  const greatest = vector.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  if (greatest === 0 || !Number.isFinite(greatest)) return undefined;
  // Scaled first, so that no square overflows.
  const length = Math.sqrt(vector.reduce((sum, one) => sum + (one / greatest) ** 2, 0));
  return Float32Array.from(vector, (one) => one / greatest / length);
}

export interface Nearest {
  readonly id: string;
  /** Cosine, -1 to 1. */
  readonly similarity: number;
}

export interface KnownInputs {
  add(id: string, direction: Direction): void;
  /** The nearest input of another id; `undefined`: there is none. */
  nearest(id: string, direction: Direction): Nearest | undefined;
}

/** Compares with every known input, so the caller bounds their number. */
export function knownInputs(): KnownInputs {
  const known: { readonly id: string; readonly direction: Direction }[] = [];
  return {
    add: (id, direction) => void known.push({ id, direction }),
    nearest(id, direction) {
      let found: Nearest | undefined;
      for (const other of known) {
        if (other.id === id || other.direction.length !== direction.length) continue;
        const similarity = product(direction, other.direction);
        if (found === undefined || similarity > found.similarity) found = { id: other.id, similarity };
      }
      return found;
    },
  };
}

function product(one: Direction, other: Direction): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return Math.min(1, Math.max(-1, sum));
}
