/**
 * A 64-bit fingerprint of a JSON value; the order of members has no influence. Fast, as every closed run has one. Not collision-resistant,
 * as it only decides whether a late span brings news.
 *
 * Mixing steps of MurmurHash3 (Austin Appleby, public domain) over UTF-16 units and kinds, in two lanes.
 */

/** Absent members may be undefined. */
export type Printable =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | readonly Printable[]
  | { readonly [key: string]: Printable };

interface Lanes {
  /** Always 32-bit integers, which engines store unboxed. */
  a: number;
  b: number;
  /** One 64-bit integer, and the same memory as two halves. */
  readonly whole: BigInt64Array;
  readonly halves: Int32Array;
}

export function fingerprint(value: Printable): string {
  return fingerprinting()(value);
}

/** A function that reuses its lanes for many values. */
export function fingerprinting(): (value: Printable) => string {
  const whole = new BigInt64Array(1);
  const lanes: Lanes = { a: 0, b: 0, whole, halves: new Int32Array(whole.buffer) };
  return (value) => {
    lanes.a = 0x9e3779b9 | 0;
    lanes.b = 0x7f4a7c15;
    print(value, lanes);
    return hex(finished(lanes.a)) + hex(finished(lanes.b));
  };
}

const kinds = { null: 1, false: 2, true: 3, number: 4, bigint: 5, string: 6, list: 7, object: 8 } as const;

function print(value: Printable, lanes: Lanes): void {
  switch (typeof value) {
    case 'string':
      mix(lanes, kinds.string);
      return printText(value, lanes);
    case 'number':
      return printNumber(value, lanes);
    case 'bigint':
      return printInteger(value, lanes);
    case 'boolean':
      return mix(lanes, value ? kinds.true : kinds.false);
    case 'undefined':
      return mix(lanes, kinds.null);
    default:
      if (value === null) return mix(lanes, kinds.null);
      if (isList(value)) return printList(value, lanes);
      return printMembers(value, lanes);
  }
}

function printList(list: readonly Printable[], lanes: Lanes): void {
  mix(lanes, kinds.list);
  for (const item of list) print(item, lanes);
  mix(lanes, list.length);
}

/** Sums the members, so that their order has no influence. Skips undefined members. */
function printMembers(object: { readonly [key: string]: Printable }, lanes: Lanes): void {
  const { a: outerA, b: outerB } = lanes;
  let a = 0;
  let b = 0;
  let count = 0;
  for (const key in object) {
    const value = object[key];
    if (value === undefined) continue;
    lanes.a = 0x2545f491;
    lanes.b = 0x4f6cdd1d;
    printText(key, lanes);
    print(value, lanes);
    a = (a + finished(lanes.a)) | 0;
    b = (b + finished(lanes.b)) | 0;
    count++;
  }
  lanes.a = outerA;
  lanes.b = outerB;
  mix(lanes, kinds.object);
  lanes.a ^= a;
  lanes.b ^= b;
  mix(lanes, count);
}

function printText(text: string, lanes: Lanes): void {
  let { a, b } = lanes;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0xcc9e2d51);
    a = (a << 13) | (a >>> 19);
    b = Math.imul(b ^ unit, 0x1b873593);
    b = (b << 15) | (b >>> 17);
  }
  lanes.a = a;
  lanes.b = b;
  mix(lanes, text.length);
}

/** Hashes 32-bit integers by their bits, other numbers by their shortest text. */
function printNumber(value: number, lanes: Lanes): void {
  mix(lanes, kinds.number);
  if ((value | 0) === value) mix(lanes, value);
  else printText(String(value), lanes);
}

function printInteger(value: bigint, lanes: Lanes): void {
  mix(lanes, kinds.bigint);
  lanes.whole[0] = value;
  if (lanes.whole[0] !== value) return printText(value.toString(36), lanes);
  mix(lanes, lanes.halves[0] ?? 0);
  mix(lanes, lanes.halves[1] ?? 0);
}

function mix(lanes: Lanes, word: number): void {
  const a = lanes.a ^ Math.imul(word, 0xcc9e2d51);
  const b = lanes.b ^ Math.imul(word, 0x1b873593);
  lanes.a = (Math.imul((a << 13) | (a >>> 19), 5) + 0xe6546b64) | 0;
  lanes.b = (Math.imul((b << 15) | (b >>> 17), 5) + 0x38495ab5) | 0;
}

function finished(lane: number): number {
  let hash = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function hex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, '0');
}

function isList(value: object): value is readonly Printable[] {
  return Array.isArray(value);
}
