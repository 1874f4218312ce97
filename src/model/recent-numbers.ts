/**
 * Recent texts, with a number each or without, in a few large arrays. The garbage collector does not walk over their entries, and their size is final
 * after a sixteenth of them. A text is compared by 127 bits of its SHA-256, so no sender can make two texts equal.
 *
 * As `recentMap`, they keep at least the newest half of `entriesMax` entries and at most all of them, and drop whole generations.
 */
import { hash } from 'node:crypto';

export interface RecentNumbers {
  get(key: string): number | undefined;
  has(key: string): boolean;
  /** Makes the entry the newest. Gives the number before; `undefined` without one. */
  set(key: string, value: number): number | undefined;
  clear(): void;
}

export interface RecentTexts {
  has(text: string): boolean;
  /** Makes the text the newest. */
  add(text: string): void;
}

export function recentNumbers(entriesMax: number): RecentNumbers {
  const table = new DigestTable(entriesMax, true);
  return {
    get: (key) => table.get(key),
    has: (key) => table.has(key),
    set: (key, value) => table.set(key, value),
    clear: () => table.clear(),
  };
}

export function recentTexts(entriesMax: number): RecentTexts {
  const table = new DigestTable(entriesMax, false);
  return { has: (text) => table.has(text), add: (text) => void table.set(text, 0) };
}

/** A number for a text, to keep instead of it. Two texts with one number are as rare as one in 2^48. */
export function numberOfText(text: string): number {
  return Buffer.from(hash('sha256', text, 'binary'), 'binary').readUIntBE(0, 6);
}

const wordsPerKey = 4;
const bytesPerWord = 4;
const slotsFirst = 256;
const growth = 16;
/** Share of the slots; the mean search then looks at nine of them at most. */
const fullShare = 0.8;

/** Open addressing with linear probing. A slot whose first word is 0 is empty. */
interface Generation {
  readonly words: Int32Array;
  /** Omitted when the table keeps only texts. */
  readonly values: Float64Array | undefined;
}

class DigestTable {
  readonly #generationMax: number;
  readonly #slotsMax: number;
  readonly #hasValues: boolean;
  readonly #digest = new Int32Array(wordsPerKey);
  #slots = 0;
  #young!: Generation;
  #old!: Generation;
  /** Entries of the young generation. */
  #size = 0;

  constructor(entriesMax: number, hasValues: boolean) {
    this.#generationMax = Math.max(1, Math.floor(entriesMax / 2));
    this.#slotsMax = 2 ** Math.ceil(Math.log2(this.#generationMax / fullShare + 1));
    this.#hasValues = hasValues;
    this.clear();
  }

  has(key: string): boolean {
    this.#read(key);
    return this.#isIn(this.#young, this.#slotIn(this.#young)) || this.#isIn(this.#old, this.#slotIn(this.#old));
  }

  get(key: string): number | undefined {
    this.#read(key);
    return this.#valueIn(this.#young) ?? this.#valueIn(this.#old);
  }

  set(key: string, value: number): number | undefined {
    this.#read(key);
    let slot = this.#slotIn(this.#young);
    const before = this.#valueAt(this.#young, slot) ?? this.#valueIn(this.#old);
    if (!this.#isIn(this.#young, slot)) {
      if (this.#makeRoom()) slot = this.#slotIn(this.#young);
      this.#young.words.set(this.#digest, slot * wordsPerKey);
      this.#size++;
    }
    if (this.#young.values !== undefined) this.#young.values[slot] = value;
    return before;
  }

  clear(): void {
    this.#slots = Math.min(slotsFirst, this.#slotsMax);
    this.#size = 0;
    [this.#young, this.#old] = [this.#generation(), this.#generation()];
  }

  #generation(): Generation {
    return { words: new Int32Array(this.#slots * wordsPerKey), values: this.#hasValues ? new Float64Array(this.#slots) : undefined };
  }

  /** Makes room for one more entry. True when entries have moved to other slots. */
  #makeRoom(): boolean {
    if (this.#size >= this.#generationMax) {
      [this.#young, this.#old] = [this.#old, this.#young];
      this.#young.words.fill(0);
      this.#size = 0;
      return true;
    }
    if (this.#size < this.#slots * fullShare - 1) return false;
    this.#grow();
    return true;
  }

  /** The tables are as large as they get before the first generation is full, so the old one is empty. */
  #grow(): void {
    const { words, values } = this.#young;
    const added = this.#digest.slice();
    this.#slots = Math.min(this.#slots * growth, this.#slotsMax);
    [this.#young, this.#old] = [this.#generation(), this.#generation()];
    for (let at = 0; at < words.length; at += wordsPerKey) {
      if (words[at] === 0) continue;
      this.#digest.set(words.subarray(at, at + wordsPerKey));
      const slot = this.#slotIn(this.#young);
      this.#young.words.set(this.#digest, slot * wordsPerKey);
      if (this.#young.values !== undefined) this.#young.values[slot] = values?.[at / wordsPerKey] ?? 0;
    }
    this.#digest.set(added);
  }

  #read(key: string): void {
    const bytes = hash('sha256', key, 'binary');
    for (let word = 0; word < wordsPerKey; word++) {
      const at = word * bytesPerWord;
      this.#digest[word] =
        bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8) | (bytes.charCodeAt(at + 2) << 16) | (bytes.charCodeAt(at + 3) << 24);
    }
    // A slot with 0 is empty.
    this.#digest[0] = (this.#digest[0] ?? 0) | 1;
  }

  /** The slot of the digest, or an empty one for it. */
  #slotIn({ words }: Generation): number {
    const { 0: first, 1: second = 0, 2: third, 3: fourth } = this.#digest;
    const last = this.#slots - 1;
    for (let slot = second & last; ; slot = (slot + 1) & last) {
      const at = slot * wordsPerKey;
      if (words[at] === 0) return slot;
      if (words[at] === first && words[at + 1] === second && words[at + 2] === third && words[at + 3] === fourth) return slot;
    }
  }

  #isIn({ words }: Generation, slot: number): boolean {
    return words[slot * wordsPerKey] !== 0;
  }

  #valueIn(generation: Generation): number | undefined {
    return this.#valueAt(generation, this.#slotIn(generation));
  }

  #valueAt(generation: Generation, slot: number): number | undefined {
    return this.#isIn(generation, slot) ? generation.values?.[slot] : undefined;
  }
}
