/** What a model thought before it spoke, as APIs and SDKs write it. It is no part of the answer. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';

export interface Thought {
  readonly texts: readonly string[];
  /** True: the item is a thought and nothing else. False: a message that holds one beside its text. */
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
