/** Attributes whose values are decoded when they are asked for. Values are not kept: spans are held for long, and each is read once. */
import type { Attributed, AttributeMap, AttributeValue } from '../../model/span.ts';

/** `places` is called once, on first use; of equal keys it holds the last. `valueAt` may not throw: what it reads was checked in the walk. */
export function lazyAttributes<Place>(places: () => ReadonlyMap<string, Place>, valueAt: (place: Place) => AttributeValue): Attributed {
  let table: ReadonlyMap<string, Place> | undefined;
  let keys: readonly string[] | undefined;
  return {
    attribute(key) {
      table ??= places();
      const place = table.get(key);
      return place === undefined ? undefined : valueAt(place);
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
