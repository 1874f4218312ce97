/**
 * The meaning of attributes by their names, under any prefix of an instrumentation: `acme.span.kind`, `spanKind` and `acme.observation_type` all hold
 * the kind of a span. Computed once for all spans with the same keys.
 */
import type { Attributed, KeyShape } from '../../src/model/span.ts';
import type { Flattened } from '../collector.ts';
import { flattened } from './flattened.ts';

/** Values that one key holds. */
export type ScalarField =
  | 'kind'
  /** The kind of an entity around the span, or a word beside the kind. It counts where no key holds the kind itself. */
  | 'nearKind'
  | 'operation'
  | 'toolName'
  /** The tool itself, where the value is an identifier. */
  | 'bareTool'
  /** The name of the span's subject, for any kind of span. */
  | 'ownName'
  | 'callId'
  /** Any other id: of a call where it has the form of one. */
  | 'otherId'
  | 'toolDescription'
  | 'agentName'
  | 'handoffTo'
  | 'sessionId'
  | 'userId'
  | 'arguments'
  | 'toolParameters'
  | 'toolResult'
  | 'input'
  /** Keys of inputs that hold a user's question: the run's input, on any span. */
  | 'asked'
  | 'output'
  | 'inputMessages'
  | 'outputMessages'
  | 'events'
  | 'systemPrompt'
  | 'model'
  | 'inputTokens'
  | 'outputTokens'
  | 'cachedInputTokens'
  | 'reasoningTokens'
  | 'definitions'
  /** The agent as the framework keeps it: its name, instructions and tools in one JSON text. */
  | 'agentDump'
  | 'parameters'
  | 'inputSchema'
  | 'usage'
  | 'metadata'
  | 'graphNamespace'
  | 'graphNode'
  | 'failed'
  | 'outcome'
  | 'errorMessage';

/** Lists that are flattened into many keys: `llm.messages.0.content`. */
/** `entities`: the subjects of a span, one by one, each with a name and its kind. */
/** `others`: texts one by one under a key with any other name. */
export type ListField = 'inputMessages' | 'outputMessages' | 'definitions' | 'resultParts' | 'entities' | 'others';

/** Objects that are flattened into many keys: `completion.message.role`. */
export type ObjectField = 'answer' | 'arguments';

const objectPrefixes: readonly (readonly [prefix: RegExp, field: ObjectField])[] = [
  [/^.*(?:^|[._])(?:completion|response|output|answer)[._]message(?=\.)/, 'answer'],
  [/^.*(?:^|[._])(?:tool_request|tool_call|tool|call|function)[._](?:args|arguments|parameters|kwargs)(?=\.\D)/, 'arguments'],
];

export interface KeyEvidence {
  /** The keys that may hold a field, the most telling first. */
  readonly keys: { readonly [field in ScalarField]?: readonly string[] };
  readonly lists: { readonly [field in ListField]?: readonly Flattened[] };
  /** Prefixes of objects whose members are in many keys: `completion.message`, `tool_request.args`. */
  readonly objects: { readonly [field in ObjectField]?: readonly string[] };
  /** Bounds beyond which keys are left unread; absent: all are read. */
  readonly limits?: readonly ('keys_per_field' | 'key_length')[];
}

/** The last words of a key → the field. When two keys hold one field, the one whose row comes first is more specific. */
const endings: readonly (readonly [ending: string, field: ScalarField])[] = [
  ['span kind', 'kind'],
  ['span type', 'kind'],
  ['observation type', 'kind'],
  ['observation kind', 'kind'],
  ['run type', 'kind'],
  ['node type', 'kind'],
  ['entity type', 'nearKind'],
  ['event type', 'kind'],
  ['step type', 'kind'],
  ['operation type', 'kind'],
  ['request type', 'kind'],
  ['log type', 'kind'],
  ['subtype', 'nearKind'],
  ['kind', 'kind'],
  ['operation name', 'operation'],
  ['tool name', 'toolName'],
  ['tool call name', 'toolName'],
  ['tool request name', 'toolName'],
  ['tool definition name', 'toolName'],
  ['function name', 'toolName'],
  ['tool', 'bareTool'],
  ['function', 'bareTool'],
  ['tool call id', 'callId'],
  ['tool use id', 'callId'],
  ['tool request id', 'callId'],
  ['call id', 'callId'],
  ['id', 'otherId'],
  ['invocation id', 'otherId'],
  ['execution id', 'otherId'],
  ['tool description', 'toolDescription'],
  ['tool definition description', 'toolDescription'],
  ['input schema', 'inputSchema'],
  ['json schema', 'inputSchema'],
  ['tool schema', 'inputSchema'],
  ['definition schema', 'inputSchema'],
  ['lc agent name', 'agentName'],
  ['agent name', 'agentName'],
  ['subagent name', 'agentName'],
  ['agent role', 'agentName'],
  ['handoff to', 'handoffTo'],
  ['to agent', 'handoffTo'],
  ['target agent', 'handoffTo'],
  ['session id', 'sessionId'],
  ['agentic session', 'sessionId'],
  ['conversation id', 'sessionId'],
  ['thread id', 'sessionId'],
  ['chat id', 'sessionId'],
  ['group id', 'sessionId'],
  ['user id', 'userId'],
  ['enduser id', 'userId'],
  ['customer id', 'userId'],
  ['tool call arguments', 'arguments'],
  ['tool call args', 'arguments'],
  ['tool call input', 'arguments'],
  ['tool arguments', 'arguments'],
  ['function arguments', 'arguments'],
  ['tool args', 'arguments'],
  ['tool input', 'arguments'],
  ['tool parameters', 'toolParameters'],
  ['arguments', 'arguments'],
  ['args', 'arguments'],
  ['arg values', 'arguments'],
  ['kwargs', 'arguments'],
  ['params', 'toolParameters'],
  ['parameters', 'toolParameters'],
  ['tool call result', 'toolResult'],
  ['tool call output', 'toolResult'],
  ['tool result', 'toolResult'],
  ['tool output', 'toolResult'],
  ['tool response', 'toolResult'],
  ['function output', 'toolResult'],
  ['function result', 'toolResult'],
  ['input messages', 'inputMessages'],
  ['prompt messages', 'inputMessages'],
  ['request messages', 'inputMessages'],
  ['output messages', 'outputMessages'],
  ['choices', 'outputMessages'],
  ['response messages', 'outputMessages'],
  ['response message', 'outputMessages'],
  ['completion message', 'outputMessages'],
  ['output message', 'outputMessages'],
  ['response content', 'outputMessages'],
  ['completion messages', 'outputMessages'],
  ['messages', 'inputMessages'],
  ['input value', 'input'],
  ['input data', 'input'],
  ['input', 'input'],
  ['inputs', 'input'],
  ['user message', 'input'],
  ['user prompt', 'input'],
  ['llm request', 'input'],
  ['user input', 'input'],
  ['message content', 'input'],
  ['query', 'input'],
  ['question', 'input'],
  ['prompt', 'input'],
  ['request', 'input'],
  ['request data', 'input'],
  ['task', 'input'],
  ['output value', 'output'],
  ['output data', 'output'],
  ['final output', 'output'],
  ['llm response', 'output'],
  ['response text', 'output'],
  ['output text', 'output'],
  ['generated text', 'output'],
  ['final answer', 'output'],
  ['output', 'output'],
  ['outputs', 'output'],
  ['result', 'output'],
  ['return value', 'output'],
  ['call return', 'output'],
  ['call output', 'output'],
  ['call input', 'input'],
  ['response', 'output'],
  ['response data', 'output'],
  ['completion', 'output'],
  ['answer', 'output'],
  ['events', 'events'],
  ['system prompt', 'systemPrompt'],
  ['system message', 'systemPrompt'],
  ['system instructions', 'systemPrompt'],
  ['system instruction', 'systemPrompt'],
  ['instructions', 'systemPrompt'],
  ['signature name', 'systemPrompt'],
  ['response model', 'model'],
  ['response model name', 'model'],
  ['request model', 'model'],
  ['model name', 'model'],
  ['model id', 'model'],
  ['model', 'model'],
  ['input tokens', 'inputTokens'],
  ['prompt tokens', 'inputTokens'],
  ['input token count', 'inputTokens'],
  ['prompt token count', 'inputTokens'],
  ['token count prompt', 'inputTokens'],
  ['token count input', 'inputTokens'],
  ['tokens input', 'inputTokens'],
  ['tokens prompt', 'inputTokens'],
  ['output tokens', 'outputTokens'],
  ['completion tokens', 'outputTokens'],
  ['output token count', 'outputTokens'],
  ['completion token count', 'outputTokens'],
  ['token count completion', 'outputTokens'],
  ['token count output', 'outputTokens'],
  ['tokens output', 'outputTokens'],
  ['tokens completion', 'outputTokens'],
  ['tool definitions', 'definitions'],
  ['available tools', 'definitions'],
  ['request tools', 'definitions'],
  ['agent tools', 'definitions'],
  ['tool names', 'definitions'],
  ['tools names', 'definitions'],
  ['tools', 'definitions'],
  ['functions', 'definitions'],
  ['provided tools', 'definitions'],
  ['provided functions', 'definitions'],
  ['registered tools', 'definitions'],
  ['state snapshot', 'agentDump'],
  ['agent state', 'agentDump'],
  ['agent config', 'agentDump'],
  ['agent definition', 'agentDump'],
  ['request parameters', 'parameters'],
  ['invocation parameters', 'parameters'],
  ['invocation params', 'parameters'],
  ['model parameters', 'parameters'],
  ['usage', 'usage'],
  ['usage details', 'usage'],
  ['usage metrics', 'usage'],
  ['usage metadata', 'usage'],
  ['token usage', 'usage'],
  ['metadata', 'metadata'],
  ['langgraph checkpoint ns', 'graphNamespace'],
  ['langgraph node', 'graphNode'],
  ['is error', 'failed'],
  ['tool status', 'outcome'],
  ['tool outcome', 'outcome'],
  ['status', 'outcome'],
  ['outcome', 'outcome'],
  ['level', 'outcome'],
  ['error message', 'errorMessage'],
  ['status message', 'errorMessage'],
  ['error', 'errorMessage'],
];

/** Bare words, which say something only without anything before them. Source: the data of spans of the OpenAI Agents SDK. */
const wholeKeys: ReadonlyMap<string, ScalarField> = new Map([
  ['type', 'nearKind'],
  ['name', 'ownName'],
]);

/** Numbers beside the sums: `cache_read_input_tokens`, `usage.details.reasoning_tokens`. */
const tokenDetails: readonly (readonly [word: RegExp, field: ScalarField | undefined])[] = [
  // Counted while the answer was still coming.
  [/\bpartial\b/, undefined],
  [/\b(?:non|un) ?cached\b/, undefined],
  [/\bcache (?:read|hit)\b|\bcached\b/, 'cachedInputTokens'],
  [/\breasoning\b/, 'reasoningTokens'],
  // Written to the cache, audio, accepted predictions: parts of the sums too, which nothing uses.
  [/\bcache\b|\baudio\b|\bprediction\b|\bdetails?\b|\btotal\b|\bmax\b/, undefined],
];

/** The words before the index of a flattened list → the field. */
const listEndings: readonly (readonly [ending: RegExp, field: ListField])[] = [
  [/(?:^| )(?:output|response|completion|generated) messages?$/, 'outputMessages'],
  [/(?:^| )(?:completions?|choices?|candidates|generations|outputs?|responses?)$/, 'outputMessages'],
  [/(?:^| )(?:messages?|prompts?|history|inputs?|contents)$/, 'inputMessages'],
  [/(?:^| )(?:tools|functions|tool definitions)$/, 'definitions'],
  [/(?:^| )(?:result|output|response) contents?$/, 'resultParts'],
  [/(?:^| )entit(?:y|ies)$/, 'entities'],
];

/** Keys of other protocols: their requests and results are not an agent's. */
const FOREIGN =
  /^(?:http|https|url|graphql|rpc|grpc|db|messaging|net|network|server|client|faas|aws|k8s|otel|code|exception|thread|process|host) /;

/** Names an agent that worked before or around the span, not the span's own. */
const ANOTHER_AGENT = /\b(?:last|previous|from|parent|caller|calling|source) agent name$/;

/** Keys are split into words where SDKs part them: dots, underlines, dashes, and capitals. */
export function wordsOf(key: string): string {
  return key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[._\-/: ]+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Words that may precede a word that is vague by itself: `spanInputs`, `task_output`; in `human_input` they change its meaning. */
const QUALIFIER =
  /^(?:(?:agent|llm|model|tool|span|run|task|chain|graph|workflow|entity|trace|observation|operation|function|node|step|final|raw|request|response) )*$/;

/** A list of tools under any name: `llm.tools.0.tool.json_schema`. */
const TOOL_SCHEMA = /\.\d{1,4}\.tool[._]json_schema$/;

const ASKED = /(?:^| )(?:question|query|user (?:input|message|prompt|query|question))$/;

const INDEX = /\.(?:\d{1,4})(?:\.|$)/;

export function keyEvidenceOf(from: Attributed): KeyEvidence {
  return from.keyShape?.().keep(madeOnce, ofShape) ?? evidenceOf(from.attributeKeys());
}

/** True when a key of any name holds the kind of the span, or its operation. The conventions' operation may be beside other names. */
export function saysKind(from: Attributed): boolean {
  const { kind, nearKind, operation } = keyEvidenceOf(from).keys;
  return kind !== undefined || nearKind !== undefined || operation?.some((key) => key !== 'gen_ai.operation.name') === true;
}

/** Tells this module's findings about a shape from those of others. */
const madeOnce = {};

function ofShape({ keys }: KeyShape): KeyEvidence {
  return evidenceOf(keys);
}

/** Longer keys are not read. */
const keyCharsMax = 200;
/** Keys, and lists, that are read for one field. Reading one list walks over all keys of the span. */
const keysPerFieldMax = 16;

function evidenceOf(keys: readonly string[]): KeyEvidence {
  const ranked = new Map<ScalarField, { readonly key: string; readonly rank: number }[]>();
  const lists = new Map<ListField, Map<string, Flattened>>();
  const objects = new Map<ObjectField, Set<string>>();
  let [isTooLong, isTooMany] = [false, false];
  for (const key of keys) {
    if (key.length > keyCharsMax) {
      isTooLong = true;
      continue;
    }
    addObject(key, objects);
    const index = INDEX.exec(key);
    if (index !== null) {
      const prefix = key.slice(0, index.index);
      const isText = prefix.length + index[0].length === key.length;
      const named = TOOL_SCHEMA.test(key) ? 'definitions' : listEndings.find(([ending]) => ending.test(wordsOf(prefix)))?.[1];
      const field = named ?? (isText ? 'others' : undefined);
      if (field === undefined) continue;
      const known = lists.get(field) ?? new Map<string, Flattened>();
      if (!known.has(prefix)) {
        if (known.size < keysPerFieldMax) known.set(prefix, flattened(`${prefix}.`));
        else isTooMany ||= field !== 'others';
      }
      lists.set(field, known);
      continue;
    }
    const found = fieldOf(key);
    if (found === undefined) continue;
    const others = ranked.get(found.field);
    if (others === undefined) ranked.set(found.field, [{ key, rank: found.rank }]);
    else others.push({ key, rank: found.rank });
  }
  const asked = ranked.get('input')?.filter(({ key }) => ASKED.test(wordsOf(key)));
  if (asked !== undefined && asked.length > 0) ranked.set('asked', asked);
  isTooMany ||= [...ranked.values()].some((found) => found.length > keysPerFieldMax);
  return {
    ...(isTooLong || isTooMany
      ? { limits: [...(isTooMany ? (['keys_per_field'] as const) : []), ...(isTooLong ? (['key_length'] as const) : [])] }
      : {}),
    keys: Object.fromEntries([...ranked].map(([field, found]) => [field, mostTelling(found)])),
    lists: Object.fromEntries([...lists].map(([field, found]) => [field, [...found.values()]])),
    objects: Object.fromEntries([...objects].map(([field, found]) => [field, [...found].slice(0, keysPerFieldMax)])),
  };
}

function addObject(key: string, objects: Map<ObjectField, Set<string>>): void {
  for (const [pattern, field] of objectPrefixes) {
    const prefix = pattern.exec(key)?.[0];
    if (prefix !== undefined) objects.set(field, (objects.get(field) ?? new Set()).add(prefix));
  }
}

function mostTelling(found: readonly { readonly key: string; readonly rank: number }[]): readonly string[] {
  return found
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, keysPerFieldMax)
    .map(({ key }) => key);
}

/** The endings by their last word. Most keys end in no such word, so one lookup rejects them. */
const byLastWord: ReadonlyMap<string, readonly (readonly [ending: string, field: ScalarField, rank: number])[]> = Map.groupBy(
  endings.map(([ending, field], rank) => [ending, field, rank] as const),
  ([ending]) => ending.slice(ending.lastIndexOf(' ') + 1),
);

const WORD_CHARACTER = /[A-Za-z0-9]/;

/** The last word that `wordsOf` would give. */
function lastWordOf(key: string): string {
  let start = key.length;
  while (start > 0 && WORD_CHARACTER.test(key.charAt(start - 1))) {
    start--;
    if (/[A-Z]/.test(key.charAt(start)) && /[a-z0-9]/.test(key.charAt(start - 1))) break;
  }
  return key.slice(start).toLowerCase();
}

/** True when a field has the key by several words, such as `tool name`; false when by one, such as `args`. */
export function isExplicitKey(key: string): boolean {
  return endings[fieldOf(key)?.rank ?? endings.length]?.[0].includes(' ') === true;
}

function fieldOf(key: string): { readonly field: ScalarField; readonly rank: number } | undefined {
  const whole = wholeKeys.get(key);
  if (whole !== undefined) return { field: whole, rank: endings.length };
  const rows = byLastWord.get(lastWordOf(key));
  if (rows === undefined && !key.includes('oken')) return undefined;
  const words = wordsOf(key);
  if (FOREIGN.test(`${words} `) || ANOTHER_AGENT.test(words)) return undefined;
  const isTokens = /\btokens?\b/.test(words) && !/\busage$/.test(words);
  const details = isTokens ? tokenDetails.find(([word]) => word.test(words)) : undefined;
  if (details !== undefined) return details[1] === undefined ? undefined : { field: details[1], rank: 0 };
  let best: readonly [ending: string, field: ScalarField, rank: number] | undefined;
  // The longest ending is the most specific: request parameters are not a tool's parameters.
  for (const row of rows ?? [])
    if ((words === row[0] || words.endsWith(` ${row[0]}`)) && row[0].length > (best?.[0].length ?? 0)) best = row;
  if (best === undefined || (!best[0].includes(' ') && !standsAlone(key, best[0]))) return undefined;
  return { field: best[1], rank: best[2] };
}

/** True when the word is a segment of the key, or one with a word before it that adds nothing. */
function standsAlone(key: string, ending: string): boolean {
  const segment = wordsOf(key.slice(Math.max(key.lastIndexOf('.'), key.lastIndexOf(':')) + 1));
  return QUALIFIER.test(segment.slice(0, -ending.length));
}
