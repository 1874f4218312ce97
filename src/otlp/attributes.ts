/** Attributes whose values are decoded when they are asked for, once. */
import type { Attributed, AttributeMap, AttributeValue } from '../model/span.ts';

/** `places` is called once, on first use; of equal keys it holds the last. `valueAt` may not throw: what it reads was checked in the walk. */
export function lazyAttributes<Place>(places: () => ReadonlyMap<string, Place>, valueAt: (place: Place) => AttributeValue): Attributed {
  let table: ReadonlyMap<string, Place> | undefined;
  let keys: readonly string[] | undefined;
  const values = new Map<string, AttributeValue>();
  return {
    attribute(key) {
      table ??= places();
      const known = values.get(key);
      if (known !== undefined) return known;
      const place = table.get(key);
      if (place === undefined) return undefined;
      const value = valueAt(place);
      values.set(key, value);
      return value;
    },
    attributeKeys() {
      table ??= places();
      keys ??= [...table.keys()];
      return keys;
    },
  };
}

export const noAttributes: Attributed = { attribute: () => undefined, attributeKeys: () => [] };

export function isValueList(value: readonly AttributeValue[] | AttributeMap): value is readonly AttributeValue[] {
  return Array.isArray(value);
}

/** A map without a prototype: any key is an ordinary one. */
export function emptyMap(): { [key: string]: AttributeValue } {
  return Object.create(null) as { [key: string]: AttributeValue };
}
