/**
 * Where the attributes of a whole request lie in its body, four numbers each: key start, key end, value start, value end. One table a request:
 * most of what is held of a span would else be lists of numbers.
 */
export interface AttributeTable {
  readonly body: { readonly bytes: Buffer; readonly view: DataView };
  ranges: Int32Array;
  /** Numbers in use. */
  length: number;
}

/** While one item is walked: its ranges, four numbers an attribute. */
export type AttributeRanges = number[];

const firstLength = 1_024;

export function attributeTable(body: AttributeTable['body']): AttributeTable {
  return { body, ranges: new Int32Array(firstLength), length: 0 };
}

/** Takes over the ranges of one item; gives where they begin. */
export function addRanges(table: AttributeTable, ranges: AttributeRanges): number {
  const from = table.length;
  const length = from + ranges.length;
  if (length > table.ranges.length) {
    const larger = new Int32Array(Math.max(length, table.ranges.length * 2));
    larger.set(table.ranges);
    table.ranges = larger;
  }
  for (let at = 0; at < ranges.length; at++) table.ranges[from + at] = ranges[at] ?? 0;
  table.length = length;
  return from;
}

/** Lets go of what was set aside for more. */
export function closeTable(table: AttributeTable): void {
  table.ranges = table.ranges.slice(0, table.length);
}
