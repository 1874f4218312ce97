/** Divides examples into parts such as `train` and `test`. Near-duplicates come into one part, so that none leaks from one to another. */
import { hash } from 'node:crypto';
import type { DatasetExample } from '../model/example.ts';
import { inputFingerprint } from '../model/example-fingerprint.ts';

export interface SplitPart {
  readonly name: string;
  /** Share of the examples, above 0; the shares add up to 1. */
  readonly share: number;
}

/** The part follows from only the input and the seed: a new example moves no other one. */
export function partOf(example: DatasetExample, parts: readonly SplitPart[], seed: string): string {
  const digits = hash('sha256', `${seed}\n${inputFingerprint(example.input)}`).slice(0, 12);
  const place = Number.parseInt(digits, 16) / 2 ** 48;
  let upTo = 0;
  for (const { name, share } of parts) {
    upTo += share;
    if (place < upTo) return name;
  }
  // Shares in decimal fractions may add up to a little less than 1.
  return parts.at(-1)?.name ?? '';
}
