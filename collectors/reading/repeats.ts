/** Reads of a request to a model only what no earlier request of its trace told. */
import { exactCharsMax, isJsonArray, isJsonObject, parseJson, type JsonValue } from '../../src/model/json.ts';
import type { Attributed, WrittenAttributes, WrittenText } from '../../src/model/span.ts';
import type { Flattened, Message, Repeats } from '../collector.ts';
import { outlineOf, valueOf, type Row } from './flattened.ts';
import { messagesIn, messagesMax, readMessages } from './messages.ts';
import { sharedValues, type SharedValues } from './shared-values.ts';

/** Agents whose requests alternate in one trace; of each the last request is kept. */
const keptMax = 4;

/** For spans that have nothing to do with each other. */
export const noRepeats: Repeats = {
  conversation: (from, key, role) => readMessages(from.attribute(key), role),
  items: (from, list, read) => outlineOf(from, list).items.flatMap((item) => read(valueOf(item, from))),
  value: (_from, _where, read) => read(),
};

/** For the spans of one trace; `shared` are those of all. */
export function repeats(shared: SharedValues = sharedValues()): Repeats {
  const conversations = lastFew<string, Conversation>();
  const lists = lastFew<Flattened, List>();

  return {
    conversation(from, key, role) {
      const text = from.writtenText?.(key);
      if (text === undefined || text.end - text.start > exactCharsMax) return noRepeats.conversation(from, key, role);
      const told = grown(conversations.of(key), text, role) ?? fresh(from, key, text, role);
      if (told.items > 0) conversations.keep(key, told);
      return told.messages;
    },
    items<T>(from: Attributed, list: Flattened, read: (item: JsonValue) => readonly T[]) {
      const { items, row } = outlineOf(from, list);
      const written = row === undefined ? undefined : from.written?.();
      if (row === undefined || written === undefined) return noRepeats.items(from, list, read);
      const known = lists.of(list).find((one) => one.told.length <= items.length && isSame(one, writtenRow(written, row, one.told.length)));
      const told = [...((known?.told ?? []) as readonly (readonly T[])[])];
      for (let at = told.length; at < items.length; at++) told.push(read(valueOf(items[at] ?? nothing, from)));
      lists.keep(list, { ...writtenRow(written, row, items.length), told });
      return told.flat();
    },
    value(from, where, read) {
      const written = typeof where === 'string' ? from.writtenText?.(where) : writtenList(from, where);
      return written === undefined ? read() : shared.of(where, written, read);
    },
  };
}

interface Conversation {
  readonly text: WrittenText;
  readonly role: Message['role'];
  /** In the text, each an object. */
  readonly items: number;
  readonly messages: readonly Message[];
}

/** `[…]` as another request told it, and now with more behind it. */
function grown(known: readonly Conversation[], text: WrittenText, role: Message['role']): Conversation | undefined {
  const before = known.find((one) => one.role === role && goesOn(one.text, text));
  if (before === undefined) return undefined;
  const length = before.text.end - before.text.start;
  if (length === text.end - text.start) return before;
  const more = objectsIn(`[${text.bytes.toString('utf8', text.start + length, text.end)}`);
  const items = before.items + (more?.length ?? 0);
  return more === undefined || items > messagesMax ? undefined : { text, role, items, messages: [...before.messages, ...messagesIn(more, role)] };
}

function fresh(from: Attributed, key: string, text: WrittenText, role: Message['role']): Conversation {
  const list = text.bytes[text.start] === bracket && text.bytes[text.end - 1] === closingBracket ? objectsIn(text.bytes.toString('utf8', text.start, text.end)) : undefined;
  if (list === undefined || list.length > messagesMax) return { text, role, items: 0, messages: readMessages(from.attribute(key), role) };
  return { text, role, items: list.length, messages: messagesIn(list, role) };
}

const bracket = 0x5b;
const closingBracket = 0x5d;
const comma = 0x2c;

/** True: all of the list, up to its closing bracket, begins the other one, and there a next item begins; or they are the same. */
function goesOn(list: WrittenText, other: WrittenText): boolean {
  const length = list.end - list.start;
  if (length > other.end - other.start) return false;
  if (length === other.end - other.start) return isSame(list, other);
  return other.bytes[other.start + length - 1] === comma && isSame({ ...list, end: list.end - 1 }, { ...other, end: other.start + length - 1 });
}

function objectsIn(json: string): readonly JsonValue[] | undefined {
  const list = parseJson(json);
  return isJsonArray(list) && list.length > 0 && list.every(isJsonObject) ? list : undefined;
}

interface List extends WrittenText {
  /** By item. */
  readonly told: readonly (readonly unknown[])[];
}

function writtenList(from: Attributed, list: Flattened): WrittenText | undefined {
  const { items, row } = outlineOf(from, list);
  const written = row === undefined ? undefined : from.written?.();
  return row === undefined || written === undefined ? undefined : writtenRow(written, row, items.length);
}

/** Where the first so many items lie. */
function writtenRow({ bytes, ranges, from }: WrittenAttributes, { first, lasts }: Row, items: number): WrittenText {
  return { bytes, start: ranges[from + first * 4] ?? 0, end: ranges[from + (lasts[items - 1] ?? first) * 4 + 3] ?? 0 };
}

const nothing = { members: [] };

function isSame(a: WrittenText, b: WrittenText): boolean {
  return a.end - a.start === b.end - b.start && a.bytes.compare(b.bytes, b.start, b.end, a.start, a.end) === 0;
}

/** The last few values of each key. */
function lastFew<Key, Value>(): { of(key: Key): readonly Value[]; keep(key: Key, value: Value): void } {
  const kept = new Map<Key, Value[]>();
  return {
    of: (key) => kept.get(key) ?? [],
    keep(key, value) {
      const few = kept.get(key);
      if (few === undefined) kept.set(key, [value]);
      else {
        few.unshift(value);
        if (few.length > keptMax) few.pop();
      }
    },
  };
}
