/**
 * Guesses the meaning of spans in whose keys nothing is recognised, for a person to correct: roles from the place of spans in their trace and the
 * shape of their values, fields from single words of keys. The service never reads by such guesses.
 */
import type { SpanRole } from '../../../collectors/collector.ts';
import type { DialectField } from '../../../collectors/configured/dialect.ts';
import { parseContainer } from '../../../collectors/parsing/parsing.ts';
import { isJsonArray, isJsonObject, type JsonObject, member } from '../../model/json.ts';
import { type Span, textAttribute } from '../../model/span.ts';

/** Spans that guesses read. */
const readMax = 1_000;
/** Values of a key that divides spans by their kind. */
const kindsMax = 8;
const KIND = /^[A-Za-z][A-Za-z _.:-]{0,39}$/;
const IDENTIFIER = /^[A-Za-z_][\w.:/-]{0,99}$/;

/** The key whose values divide the spans best by the roles that their places and values suggest; `undefined` when no key does. */
export function guessedKindKey(spans: readonly Span[], roles: ReadonlyMap<Span, SpanRole | undefined>): string | undefined {
  const [first, ...others] = spans.slice(0, readMax);
  if (first === undefined) return undefined;
  const shared = first.attributeKeys().filter((key) => others.every((span) => textAttribute(span, key) !== undefined));
  const rated = shared.flatMap((key) => {
    const groups = [...Map.groupBy([first, ...others], (span) => textAttribute(span, key) ?? '')];
    if (groups.length < 2 || groups.length > kindsMax || !groups.every(([value]) => KIND.test(value))) return [];
    const divided = groups.filter(([, own]) => own.every((span) => roles.get(span) === roles.get(own[0] ?? span)));
    const found = new Set(divided.map(([, [span]]) => (span === undefined ? undefined : roles.get(span))));
    return [{ key, roles: found.size, kinds: groups.length }];
  });
  return rated.toSorted((one, other) => other.roles - one.roles || one.kinds - other.kinds)[0]?.key;
}

/** The agent is at the root, a model has messages or a model's name, and a tool is a leaf with a name and an object. */
export function guessedRoles(spans: readonly Span[]): ReadonlyMap<Span, SpanRole | undefined> {
  const ids = new Set(spans.map(({ traceId, spanId }) => `${traceId}/${spanId}`));
  const parents = new Set(spans.map(({ traceId, parentSpanId }) => `${traceId}/${parentSpanId}`));
  return new Map(
    spans.map((span) => {
      const isLeaf = !parents.has(`${span.traceId}/${span.spanId}`);
      if (isLeaf && isModel(span)) return [span, 'model'];
      if (!ids.has(`${span.traceId}/${span.parentSpanId}`)) return [span, isLeaf ? undefined : 'agent'];
      return [span, isLeaf && isTool(span) ? 'tool' : undefined];
    }),
  );
}

function isModel(span: Span): boolean {
  return span
    .attributeKeys()
    .some((key) => messagesOf(span, key) !== undefined || (hasWord(key, modelWords) && IDENTIFIER.test(textAttribute(span, key) ?? '')));
}

function isTool(span: Span): boolean {
  const keys = span.attributeKeys();
  return (
    keys.some((key) => IDENTIFIER.test(textAttribute(span, key) ?? '')) &&
    keys.some((key) => objectOf(span, key) !== undefined || hasWord(key, argumentWords))
  );
}

const modelWords = ['model', 'engine', 'llm', 'deployment'];
const argumentWords = ['args', 'arguments', 'params', 'parameters', 'payload', 'input', 'inputs', 'in', 'given', 'kwargs', 'with', 'body'];
const resultWords = ['result', 'results', 'outcome', 'output', 'outputs', 'out', 'returned', 'response', 'answer', 'reply', 'observation'];
const askWords = ['ask', 'asked', 'question', 'prompt', 'query', 'request', 'task', 'goal', 'input', 'inquiry', 'wish'];
const sayWords = [...resultWords, 'final', 'said', 'saying', 'completion', 'reaction', 'conclusion'];

interface Guess {
  readonly field: DialectField;
  readonly of: SpanRole;
  readonly words: readonly string[];
  /** Condition on a value. The first such key counts where no key has one of the words. */
  readonly fits: (span: Span, key: string) => boolean;
  readonly isShapeEnough?: true;
}

const isIdentifier: Guess['fits'] = (span, key) => IDENTIFIER.test(textAttribute(span, key) ?? '');
const isText: Guess['fits'] = (span, key) => textAttribute(span, key) !== undefined;
const isObject: Guess['fits'] = (span, key) => objectOf(span, key) !== undefined;

const guesses: readonly Guess[] = [
  { field: 'tool.arguments', of: 'tool', words: argumentWords, fits: isObject, isShapeEnough: true },
  { field: 'tool.result', of: 'tool', words: resultWords, fits: isText },
  {
    field: 'tool.name',
    of: 'tool',
    words: ['tool', 'action', 'function', 'command', 'skill', 'name', 'method', 'operation'],
    fits: isIdentifier,
    isShapeEnough: true,
  },
  {
    field: 'agent.name',
    of: 'agent',
    words: ['agent', 'who', 'name', 'crew', 'worker', 'bot', 'persona', 'assistant'],
    fits: isIdentifier,
  },
  { field: 'input', of: 'agent', words: askWords, fits: isText },
  { field: 'output', of: 'agent', words: sayWords, fits: isText },
  { field: 'input_messages', of: 'model', words: [], fits: (span, key) => isSaidBy(span, key, false), isShapeEnough: true },
  { field: 'output_messages', of: 'model', words: sayWords, fits: (span, key) => isSaidBy(span, key, true), isShapeEnough: true },
  { field: 'model', of: 'model', words: modelWords, fits: isIdentifier },
];

/** The place of each field that a key suggests; no key is used twice. */
export function guessedFields(
  spans: readonly Span[],
  roles: ReadonlyMap<Span, SpanRole | undefined>,
  kindKey: string | undefined,
): { readonly [field in DialectField]?: string } {
  const used = new Set<string>(kindKey === undefined ? [] : [kindKey]);
  const read: { [field in DialectField]?: string } = {};
  for (const { field, of, words, fits, isShapeEnough = false } of guesses) {
    const own = spans.filter((span) => roles.get(span) === of).slice(0, readMax);
    const keys = [...new Set(own.flatMap((span) => span.attributeKeys()))].filter((key) => !used.has(key));
    const fitting = keys.filter((key) => own.some((span) => fits(span, key)));
    const named = fitting.find((key) => hasWord(key, words)) ?? (isShapeEnough ? fitting[0] : undefined);
    if (named === undefined) continue;
    used.add(named);
    read[field] = field === 'tool.arguments' ? argumentsPlace(own, named) : `attributes.${named}`;
  }
  return read;
}

/** The object itself, or its only member of these words that is an object. */
function argumentsPlace(spans: readonly Span[], key: string): string {
  const objects = spans.map((span) => objectOf(span, key)).filter((one) => one !== undefined);
  const inner = argumentWords.find((word) => objects.length > 0 && objects.every((one) => isJsonObject(member(one, word))));
  return inner === undefined ? `attributes.${key}` : `json(attributes.${key}).${inner}`;
}

function isSaidBy(span: Span, key: string, byModel: boolean): boolean {
  const last = messagesOf(span, key)?.at(-1);
  return last !== undefined && ['assistant', 'ai', 'model'].includes(String(member(last, 'role')).toLowerCase()) === byModel;
}

/** Messages with a role; `undefined` for any other value. */
function messagesOf(span: Span, key: string): readonly JsonObject[] | undefined {
  const value = containerOf(span, key);
  const list = isJsonArray(value) ? value : value === undefined ? [] : [value];
  const messages = list.filter(isJsonObject).filter((one) => typeof member(one, 'role') === 'string');
  return messages.length > 0 && messages.length === list.length ? messages : undefined;
}

function objectOf(span: Span, key: string): JsonObject | undefined {
  const value = containerOf(span, key);
  return isJsonObject(value) ? value : undefined;
}

function containerOf(span: Span, key: string): ReturnType<typeof parseContainer> {
  const text = textAttribute(span, key);
  return text === undefined ? undefined : parseContainer(text);
}

function hasWord(key: string, words: readonly string[]): boolean {
  const parts = key
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return parts.some((part) => words.includes(part));
}
