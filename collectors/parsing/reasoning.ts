/** The thoughts of a model before its answer, as APIs and SDKs write them. They are not part of the answer. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';

export interface Thought {
  readonly texts: readonly string[];
  /** True when the item is only a thought; false for a message that holds one beside its text. */
  readonly isAll: boolean;
}

/** The names of a thought inside a message or a part. */
const memberNames = ['reasoning', 'thinking', 'reasoning_content', 'reasoningContent', 'reasoning_text', 'reasoningText'] as const;
const types: ReadonlySet<unknown> = new Set(['reasoning', 'thinking', 'redacted_thinking', 'redacted-reasoning']);
/** Thoughts are wrapped a few times at most. */
const wrappersMax = 4;

/** Undefined: the item holds no thought. `type` is the item's own. */
export function reasoningIn(item: JsonObject, type: JsonValue | undefined): Thought | undefined {
  const named = hasThought(item) ? memberNames.flatMap((name) => textsOf(member(item, name))) : [];
  if (types.has(type))
    return {
      texts: named.length > 0 ? named : [...textsOf(member(item, 'content') ?? member(item, 'text')), ...textsOf(member(item, 'summary'))],
      isAll: true,
    };
  // Gemini marks the part.
  if (member(item, 'thought') === true) return { texts: textsOf(member(item, 'text')), isAll: true };
  if (named.length === 0) return undefined;
  const speaks = ['content', 'text', 'parts', 'tool_calls', 'toolCalls'].some((name) => Object.hasOwn(item, name));
  return { texts: named, isAll: !speaks };
}

/** A text in which a model wrote down its thoughts, and what it said. */
export interface Spoken {
  readonly thought?: string;
  /** Absent when the model has not answered yet. */
  readonly text?: string;
}

/** The marks around thoughts at the beginning of a text. Sources: DeepSeek R1 and Qwen, Kimi, Magistral, Seed. */
const THOUGHT = /^\s*(?:<((?:seed:)?think|thinking|thoughts?|reasoning)>|(◁)think▷|(\[)THINK\])/;
/** The mark that ends them, on a separate line where the chat template wrote the first mark and left it out of the text. */
const END_ALONE = /(?:^|\n)\s*<\/think>[ \t]*(?=\n|$)|<\/think>[ \t]*\n/;

/** The answer of a model without the thoughts that it writes before it. Thoughts that go on to the end are all that there is. */
export function spoken(text: string): Spoken {
  const opening = THOUGHT.exec(text);
  if (opening === null) {
    const end = text.includes('</think>') && !text.includes('<think>') ? END_ALONE.exec(text) : null;
    return end === null ? { text } : parted(text.slice(0, end.index), text.slice(end.index + end[0].length));
  }
  const [mark, word, kimi] = opening;
  const closing = word === undefined ? (kimi === undefined ? '[/THINK]' : '◁/think▷') : `</${word}>`;
  const end = text.indexOf(closing, mark.length);
  return end === -1 ? parted(text.slice(mark.length), '') : parted(text.slice(mark.length, end), text.slice(end + closing.length));
}

function parted(thought: string, said: string): Spoken {
  const [inner, outer] = [thought.trim(), said.trimStart()];
  return { ...(inner === '' ? {} : { thought: inner }), ...(outer === '' ? {} : { text: outer }) };
}

function hasThought(item: JsonObject): boolean {
  for (const name of memberNames) if (Object.hasOwn(item, name)) return true;
  return false;
}

/** A text, a list of them, or an object that holds one under a telling name. */
function textsOf(value: JsonValue | undefined, depth = 0): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (depth >= wrappersMax) return [];
  if (isJsonArray(value)) return value.flatMap((inner) => textsOf(inner, depth + 1));
  if (!isJsonObject(value)) return [];
  return ['text', 'content', ...memberNames].flatMap((name) => textsOf(member(value, name), depth + 1));
}
