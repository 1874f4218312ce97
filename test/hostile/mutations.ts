/** Damage to recorded bodies, all of it from one seed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { OtlpEncoding } from '../../src/otlp/read/read.ts';

export interface Body {
  readonly name: string;
  readonly signal: 'traces' | 'logs';
  readonly encoding: OtlpEncoding;
  readonly bytes: Buffer;
}

const folder = fileURLToPath(new URL('../fixtures/recordings', import.meta.url));
/** Larger recordings would only make each case slower. */
const bytesMax = 40_000;

/** The recorded bodies, inflated. */
export function recordedBodies(): readonly Body[] {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (one) => one.isFile() && /^request.*\.(binpb|json)(\.gz)?$/.test(one.name),
  );
  return paths
    .map((one): Body => {
      const raw = readFileSync(join(one.parentPath, one.name));
      const bytes = one.name.endsWith('.gz') ? gunzipSync(raw) : raw;
      const encoding = bytes[0] === 0x7b ? 'json' : 'protobuf';
      return { name: one.name, signal: isLogs(bytes) ? 'logs' : 'traces', encoding, bytes };
    })
    .filter(({ bytes }) => bytes.length > 0 && bytes.length <= bytesMax);
}

function isLogs(bytes: Buffer): boolean {
  return bytes.subarray(0, 40).includes('"resourceLogs"');
}

export type Random = () => number;

/** Below 1, from a seed: mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The body with one to four kinds of damage. Every other one keeps its length, or the frame around its spans would nearly always be broken. */
export function damaged({ bytes }: Body, others: readonly Body[], random: Random): Buffer {
  const kinds = random() < 0.5 ? inPlace : damages;
  let current = bytes;
  for (let left = 1 + below(random, 4); left > 0; left--) current = pick(random, kinds)(current, random, pick(random, others).bytes);
  return current;
}

type Damage = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

/** Bytes that mean something to the one format or to the other. */
const telling = [
  0x00, 0x01, 0x0a, 0x0b, 0x12, 0x4a, 0x7f, 0x80, 0xff, 0x22, 0x2c, 0x2d, 0x30, 0x39, 0x3a, 0x5b, 0x5c, 0x5d, 0x65, 0x7b, 0x7d,
];

const inPlace: readonly Damage[] = [
  (bytes, random) => changed(bytes, random, (byte) => byte ^ (1 << below(random, 8))),
  (bytes, random) => changed(bytes, random, () => pick(random, telling)),
];

const damages: readonly Damage[] = [
  ...inPlace,
  (bytes, random) => bytes.subarray(0, below(random, bytes.length + 1)),
  (bytes, random) => bytes.subarray(below(random, bytes.length + 1)),
  (bytes, random) => spliced(bytes, random, Buffer.from(Array.from({ length: 1 + below(random, 12) }, () => pick(random, telling)))),
  (bytes, random, other) => spliced(bytes, random, piece(other, random)),
  (bytes, random) => Buffer.concat([bytes, piece(bytes, random)]),
  (bytes, random) =>
    spliced(bytes, random, Buffer.concat(Array.from({ length: 1 + below(random, 50) }, () => piece(bytes, random).subarray(0, 16)))),
  (bytes, random) => {
    const at = below(random, bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(random, 16))]);
  },
];

function changed(bytes: Buffer, random: Random, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  for (let left = 1 + below(random, 4); left > 0 && copy.length > 0; left--) {
    const at = below(random, copy.length);
    copy[at] = change(copy[at] ?? 0);
  }
  return copy;
}

function spliced(bytes: Buffer, random: Random, inserted: Buffer): Buffer {
  const at = below(random, bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at)]);
}

function piece(bytes: Buffer, random: Random): Buffer {
  const at = below(random, bytes.length + 1);
  return bytes.subarray(at, at + below(random, 400));
}

export function below(random: Random, end: number): number {
  return Math.floor(random() * end);
}

function pick<One>(random: Random, from: readonly One[]): One {
  const found = from[below(random, from.length)];
  if (found === undefined) throw new Error('there is nothing to pick from');
  return found;
}
