/** The bytes of attributes that come again and again: of what a service tells of a run, all but a few are those of the run before. */

export type PairValue = string | number | boolean;

export interface KeptPairs {
  /** What is kept under a key of a field, by value, to be looked at only. Undefined: nothing is, and nothing will be. */
  valuesOf(field: number, key: string, asDouble: boolean): ReadonlyMap<PairValue, Uint8Array> | undefined;
  keep(field: number, key: string, asDouble: boolean, value: PairValue, bytes: Uint8Array): void;
}

/** Undefined: more came under the key than is worth looking for. */
type Keys = Map<string, Map<PairValue, Uint8Array> | undefined>;

export function keptPairs(): KeptPairs {
  let bytesLeft = bytesMax;
  const [plain, doubles] = [keysByField(), keysByField()];
  const keysOf = (field: number, asDouble: boolean): Keys | undefined => (asDouble ? doubles : plain)[field];
  return {
    valuesOf(field, key, asDouble) {
      const keys = keysOf(field, asDouble);
      if (keys === undefined) return undefined;
      return keys.get(key) ?? (keys.has(key) ? undefined : none);
    },
    keep(field, key, asDouble, value, bytes) {
      const keys = keysOf(field, asDouble);
      const cost = bytes.length + entryBytes;
      if (keys === undefined) return;
      if (cost > bytesLeft) {
        // What is sent has changed. What is still needed comes again soon.
        for (const all of [...plain, ...doubles]) all.clear();
        bytesLeft = bytesMax;
      }
      bytesLeft -= cost;
      const values = keys.get(key);
      if (values === undefined) keys.set(key, new Map([[value, bytes]]));
      else if (values.size < valuesMax) values.set(value, bytes);
      else keys.set(key, undefined);
    },
  };
}

function keysByField(): readonly Keys[] {
  return Array.from({ length: fieldMax + 1 }, () => new Map());
}

const none: ReadonlyMap<PairValue, Uint8Array> = new Map();
/** Of one writer. */
const bytesMax = 256 * 1024;
/** What an entry takes beside its bytes, about. */
const entryBytes = 150;
/** Under one key. Ids of spans and of calls are hardly ever the same. */
const valuesMax = 64;
const fieldMax = 15;
