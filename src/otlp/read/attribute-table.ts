import type { Attributed, AttributeMap, AttributeValue, KeyShape } from '../../model/span.ts';

/**
 * The places of the attributes of a whole request in its body, four numbers each: key start, key end, value start, value end. There is one table for
 * a request: otherwise most of a held span would be lists of numbers.
 */
export interface AttributeTable {
  readonly body: { readonly bytes: Buffer; readonly view: DataView };
  ranges: Int32Array;
  /** Numbers in use. */
  length: number;
}

/** While one item is walked: its ranges, four numbers an attribute. The same list serves the items one after the other. */
export interface AttributeRanges {
  numbers: Int32Array;
  /** Numbers in use. */
  length: number;
}

const firstLength = 256;
/** Bytes of a body for each number of its table: the first table that is made has room for most. */
const bytesPerNumber = 32;

export function attributeTable(body: AttributeTable['body']): AttributeTable {
  return { body, ranges: new Int32Array(0), length: 0 };
}

export function attributeRanges(): AttributeRanges {
  return { numbers: new Int32Array(firstLength), length: 0 };
}

/** The list, empty, for the next item. */
export function emptied(ranges: AttributeRanges): AttributeRanges {
  ranges.length = 0;
  return ranges;
}

export function pushRange(ranges: AttributeRanges, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
  const { length } = ranges;
  if (length + 4 > ranges.numbers.length) ranges.numbers = larger(ranges.numbers, length + 4);
  const { numbers } = ranges;
  numbers[length] = keyStart;
  numbers[length + 1] = keyEnd;
  numbers[length + 2] = valueStart;
  numbers[length + 3] = valueEnd;
  ranges.length = length + 4;
}

/** Takes over the ranges of one item; gives where they begin. */
export function addRanges(table: AttributeTable, ranges: AttributeRanges): number {
  const from = table.length;
  const length = from + ranges.length;
  if (length > table.ranges.length)
    table.ranges = larger(table.ranges, Math.max(length, Math.ceil(table.body.bytes.length / bytesPerNumber)));
  for (let at = 0; at < ranges.length; at++) table.ranges[from + at] = ranges.numbers[at] ?? 0;
  table.length = length;
  return from;
}

/** Lets go of what was set aside for more. */
export function closeTable(table: AttributeTable): void {
  table.ranges = table.ranges.slice(0, table.length);
}

function larger(numbers: Int32Array, length: number): Int32Array {
  const grown = new Int32Array(Math.max(length, numbers.length * 2));
  grown.set(numbers);
  return grown;
}

/**
 * `places` is called once, on first use; of equal keys it holds the last. `valueAt` may not throw: what it reads was checked in the walk.
 * `shapeOf`: the shape that attributes with the same keys share.
 */
export function lazyAttributes<Place>(
  places: () => ReadonlyMap<string, Place>,
  valueAt: (place: Place) => AttributeValue,
  shapeOf: (keys: readonly string[]) => KeyShape,
): Attributed & Pick<Required<Attributed>, 'keyShape'> {
  let table: ReadonlyMap<string, Place> | undefined;
  let shape: KeyShape | undefined;
  const keyShape = (): KeyShape => {
    table ??= places();
    shape ??= shapeOf([...table.keys()]);
    return shape;
  };
  return {
    keyShape,
    attribute(key) {
      table ??= places();
      const place = table.get(key);
      return place === undefined ? undefined : valueAt(place);
    },
    attributeKeys: () => keyShape().keys,
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
