/** Reads from a request to a model only what no earlier request of its trace reported. */
import { exactCharsMax, isJsonArray, isJsonObject, parseJson, type JsonValue } from '../../src/model/json.ts';
import type { Attributed, WrittenAttributes, WrittenBytes } from '../../src/model/span.ts';
import type { Flattened, Message, RepeatedTexts, Repeats } from '../collector.ts';
import { outlineOf, valueOf, type Row } from './flattened.ts';
import { messagesIn, messagesMax, readMessages } from './messages.ts';
import { eachText } from './values.ts';

/** Agents whose requests alternate in one trace; of each the last request is kept. */
const keptMax = 4;

const nothing = { members: [] };
const none: readonly never[] = [];

/** For spans that have nothing to do with each other. */
export const noRepeats: Repeats = {
  ...eachText,
  conversation: (from, key, role) => readMessages(from.attribute(key), role),
  same: (from, key, read) => read(from, key),
  items: (from, list, read) => outlineOf(from, list).items.flatMap((item) => read(valueOf(item, from), eachText)),
  every: (from, list, holds) => outlineOf(from, list).keys.every((keys) => keys.every((key) => holds(from, key))),
  value: (_from, _where, read) => read(),
};

/** For the spans of one trace; `shared` are those of all. */
export function repeats(shared: SharedValues = sharedValues()): Repeats {
  return new TraceRepeats(shared);
}

/** The last few values of each key. */
class LastFew<Key, Value> {
  #kept: Map<Key, Value[]> | undefined;

  of(key: Key): readonly Value[] {
    return this.#kept?.get(key) ?? none;
  }

  keep(key: Key, value: Value): void {
    this.#kept ??= new Map<Key, Value[]>();
    const few = this.#kept.get(key);
    if (few === undefined) {
      this.#kept.set(key, [value]);
      return;
    }
    few.unshift(value);
    if (few.length > keptMax) few.pop();
  }
}

/** A longer text is read each time. */
const textCharsMax = 64 * 1024;
/** Limit of remembered texts per trace. At the limit the reader drops all of them. */
const textsMax = 1_000;

/** The values of texts, by the function that read them. */
class ReadTexts {
  #known: Map<unknown, Map<string, unknown>> | undefined;

  of<T>(text: string, read: (text: string) => T): T {
    if (text.length > textCharsMax) return read(text);
    this.#known ??= new Map();
    let known = this.#known.get(read);
    if (known === undefined) this.#known.set(read, (known = new Map<string, unknown>()));
    const found = known.get(text) as T | undefined;
    if (found !== undefined) return found;
    const told = read(text);
    if (known.size >= textsMax) known.clear();
    known.set(text, told);
    return told;
  }
}

/** Made for every scan of a trace: a closure for each method would be made as often. */
class TraceRepeats implements Repeats {
  readonly #shared: SharedValues;
  readonly #conversations = new LastFew<string, Conversation>();
  readonly #lists = new LastFew<Flattened, List>();
  readonly #held = new LastFew<string, WrittenRow>();
  readonly #texts = new LastFew<string, Text>();
  readonly #read = new ReadTexts();

  constructor(shared: SharedValues) {
    this.#shared = shared;
  }

  conversation(from: Attributed, key: string, role: Message['role']): readonly Message[] {
    const text = from.writtenText?.(key);
    if (text === undefined || text.end - text.start > exactCharsMax) return noRepeats.conversation(from, key, role);
    const told = grown(this.#conversations.of(key), text, role, this) ?? fresh(from, key, text, role, this);
    if (told.items > 0) this.#conversations.keep(key, told);
    return told.messages;
  }

  same<T>(from: Attributed, key: string, read: (from: Attributed, key: string) => T): T {
    const text = from.writtenText?.(key);
    if (text === undefined) return read(from, key);
    for (const one of this.#texts.of(key)) if (isSame(one, text)) return one.told as T;
    const told = read(from, key);
    this.#texts.keep(key, { ...text, told });
    return told;
  }

  items<T>(from: Attributed, list: Flattened, read: (item: JsonValue, texts: RepeatedTexts) => readonly T[]): readonly T[] {
    const { items, row } = outlineOf(from, list);
    if (items.length === 0) return none;
    const written = row === undefined ? undefined : from.written?.();
    if (row === undefined || written === undefined) return noRepeats.items(from, list, read);
    const known = begunWith(this.#lists.of(list), written, row);
    if (known?.items === items.length) return known.told as readonly T[];
    const told = (known === undefined ? [] : known.told.slice()) as T[];
    for (let at = known?.items ?? 0; at < items.length; at++)
      for (const one of read(valueOf(items[at] ?? nothing, from), this)) told.push(one);
    const { bytes } = written;
    this.#lists.keep(list, { bytes, start: startOf(written, row), end: endOf(written, row, items.length), items: items.length, told });
    return told;
  }

  every(from: Attributed, list: Flattened, holds: (from: Attributed, key: string) => boolean): boolean {
    const { keys, row } = outlineOf(from, list);
    if (keys.length === 0) return true;
    const written = row === undefined ? undefined : from.written?.();
    if (row === undefined || written === undefined) return noRepeats.every(from, list, holds);
    const known = begunWith(this.#held.of(list.prefix), written, row);
    if (known?.items === keys.length) return true;
    for (let at = known?.items ?? 0; at < keys.length; at++) for (const key of keys[at] ?? none) if (!holds(from, key)) return false;
    this.#held.keep(list.prefix, {
      bytes: written.bytes,
      start: startOf(written, row),
      end: endOf(written, row, keys.length),
      items: keys.length,
    });
    return true;
  }

  text<T>(text: string, read: (text: string) => T): T {
    return this.#read.of(text, read);
  }

  value<T>(from: Attributed, where: string | Flattened, read: () => T): T {
    const written = typeof where === 'string' ? from.writtenText?.(where) : writtenRow(from, outlineOf(from, where).row);
    return written === undefined ? read() : this.#shared.of(where, written, read);
  }
}

interface Conversation {
  readonly text: WrittenBytes;
  readonly role: Message['role'];
  /** In the text, each an object. */
  readonly items: number;
  readonly messages: readonly Message[];
}

/** `[…]` from an earlier request, with more items behind it. */
function grown(known: readonly Conversation[], text: WrittenBytes, role: Message['role'], texts: RepeatedTexts): Conversation | undefined {
  const before = known.find((one) => one.role === role && goesOn(one.text, text));
  if (before === undefined) return undefined;
  const length = before.text.end - before.text.start;
  if (length === text.end - text.start) return before;
  const more = objectsIn(`[${text.bytes.toString('utf8', text.start + length, text.end)}`);
  const items = before.items + (more?.length ?? 0);
  return more === undefined || items > messagesMax
    ? undefined
    : { text, role, items, messages: [...before.messages, ...messagesIn(more, role, texts)] };
}

function fresh(from: Attributed, key: string, text: WrittenBytes, role: Message['role'], texts: RepeatedTexts): Conversation {
  const list =
    text.bytes[text.start] === bracket && text.bytes[text.end - 1] === closingBracket
      ? objectsIn(text.bytes.toString('utf8', text.start, text.end))
      : undefined;
  if (list === undefined || list.length > messagesMax)
    return { text, role, items: 0, messages: readMessages(from.attribute(key), role, texts) };
  return { text, role, items: list.length, messages: messagesIn(list, role, texts) };
}

const bracket = 0x5b;
const closingBracket = 0x5d;
const comma = 0x2c;

/** True when the other list begins with all of the list, up to its closing bracket, and a next item begins there; or when they are the same. */
function goesOn(list: WrittenBytes, other: WrittenBytes): boolean {
  const length = list.end - list.start;
  if (length >= other.end - other.start) return isSame(list, other);
  const last = other.start + length - 1;
  return other.bytes[last] === comma && list.bytes.compare(other.bytes, other.start, last, list.start, list.end - 1) === 0;
}

function objectsIn(json: string): readonly JsonValue[] | undefined {
  const list = parseJson(json);
  return isJsonArray(list) && list.length > 0 && list.every(isJsonObject) ? list : undefined;
}

interface Text extends WrittenBytes {
  readonly told: unknown;
}

/** The first items of a list, keys and all. */
interface WrittenRow extends WrittenBytes {
  readonly items: number;
}

interface List extends WrittenRow {
  readonly told: readonly unknown[];
}

/** Where the items lie; undefined: apart from each other, or nowhere in a body. */
function writtenRow(from: Attributed, row: Row | undefined): WrittenBytes | undefined {
  const written = row === undefined ? undefined : from.written?.();
  return row === undefined || written === undefined
    ? undefined
    : { bytes: written.bytes, start: startOf(written, row), end: endOf(written, row, row.lasts.length) };
}

function startOf({ ranges, from }: WrittenAttributes, { first }: Row): number {
  return ranges[from + first * 4] ?? 0;
}

/** Position in the request where the first `items` items of the list end. */
function endOf({ ranges, from }: WrittenAttributes, { first, lasts }: Row, items: number): number {
  return ranges[from + (lasts[items - 1] ?? first) * 4 + 3] ?? 0;
}

/** A list that this one begins with, all of it. */
function begunWith<Known extends WrittenRow>(known: readonly Known[], written: WrittenAttributes, row: Row): Known | undefined {
  const start = startOf(written, row);
  for (const one of known) {
    if (one.items > row.lasts.length) continue;
    const end = endOf(written, row, one.items);
    if (one.end - one.start === end - start && one.bytes.compare(written.bytes, start, end, one.start, one.end) === 0) return one;
  }
  return undefined;
}

function isSame(a: WrittenBytes, b: WrittenBytes): boolean {
  return a.end - a.start === b.end - b.start && a.bytes.compare(b.bytes, b.start, b.end, a.start, a.end) === 0;
}

export interface SharedValues {
  /** The value of these bytes; `where` keeps apart values that are read in different ways. The value must not be changed. */
  of<T>(where: object | string, written: WrittenBytes, read: () => T): T;
}

interface Remembered {
  readonly bytes: Buffer;
  readonly value: unknown;
}

/** A larger value is read each time. */
const valueBytesMax = 64 * 1024;
/** Beyond it everything is forgotten and learned anew. */
const bytesMax = 4 * 1024 * 1024;
/** An entry counts for this much even when it is small. */
const entryBytes = 256;
/** Number of a value's bytes in its mark, which is compared before all bytes are. */
const samples = 16;

/** Remembers values that spans of many traces carry in the same words, above all tool definitions. */
export function sharedValues(): SharedValues {
  const known = new Map<object | string, Map<number, Remembered>>();
  let bytes = 0;
  return {
    of<T>(where: object | string, written: WrittenBytes, read: () => T) {
      const length = written.end - written.start;
      if (length > valueBytesMax) return read();
      const mark = markOf(written);
      const found = known.get(where)?.get(mark);
      if (found?.bytes.length === length && written.bytes.compare(found.bytes, 0, length, written.start, written.end) === 0)
        return found.value as T;
      const value = read();
      if (bytes > bytesMax) {
        known.clear();
        bytes = 0;
      }
      const own = known.get(where) ?? new Map<number, Remembered>();
      known.set(where, own.set(mark, { bytes: Buffer.from(written.bytes.subarray(written.start, written.end)), value }));
      bytes += length + entryBytes;
      return value;
    },
  };
}

/** When two values have the same mark, the later one is remembered. */
function markOf({ bytes, start, end }: WrittenBytes): number {
  const step = Math.max(1, Math.floor((end - start) / samples));
  let mark = end - start;
  for (let at = start; at < end; at += step) mark = Math.imul(mark ^ (bytes[at] ?? 0), 0x01000193);
  return mark;
}
