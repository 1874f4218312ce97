/** A dialect that the configuration describes, as a collector. It precedes the built-in ones, so its facts count first. */
import { isJsonArray, isJsonObject, member, type JsonValue } from '../../src/model/json.ts';
import type { Attributed, AttributeMap, AttributeValue, Span } from '../../src/model/span.ts';
import type { Collector, Recognition, SpanFacts, SpanRole, ToolFacts } from '../collector.ts';
import { readDefinitions } from '../parsing/definitions.ts';
import { unflattened } from '../parsing/flattened.ts';
import { readMessages } from '../parsing/messages.ts';
import { observedModel, observedRetrieval, observedRun, observedTool } from '../parsing/observation.ts';
import { jsonOf, parseText } from '../parsing/parsing.ts';
import { readSystemPrompt } from '../parsing/conventions.ts';
import { spanName, toolInName } from '../parsing/span-names.ts';
import type { Condition, Expression, Place } from './expression.ts';
import { unreachable } from '../../src/model/ids.ts';

/** The roles of a span, in the order in which the conditions are tested: the first that holds counts. */
export const dialectRoles = ['agent', 'tool', 'model', 'retriever', 'workflow', 'step'] as const satisfies readonly SpanRole[];

/** The fields that an entry can read, with their meaning for the reference page. */
export const dialectFields = {
  'tool.name': 'Name of the tool; without it the span’s name, without what SDKs put before it.',
  'tool.arguments': 'Arguments of the call; without it `input`.',
  'tool.result': 'Result of the tool; defaults to `output`.',
  'tool.call_id': 'The id under which the model asked for the call.',
  'tool.error': 'Message of a failure; where there is one, the call has failed.',
  'tool.definitions': 'Tools that an agent or a request to a model has.',
  'agent.name': 'Name of the agent; without it the span’s name, until another span has it.',
  input: 'Input of an agent, a tool or a model.',
  output: 'Output of an agent, a tool, a model or a retriever.',
  input_messages: 'Messages to a model; without it `input`.',
  output_messages: 'Messages from a model; without it `output`.',
  system_prompt: 'Instructions of an agent.',
  model: 'Name of the model.',
  input_tokens: 'Tokens of the request.',
  output_tokens: 'Tokens of the answer.',
  session_id: 'Id of the session.',
} as const;

export type DialectField = keyof typeof dialectFields;

/** An entry of `dialects`, parsed: plain data. */
export interface DialectSettings {
  readonly name: string;
  /** The dialect reads a span that one of these members matches. */
  readonly match: { readonly scope?: string; readonly keys?: readonly string[]; readonly keyPrefixes?: readonly string[] };
  readonly span: { readonly [role in (typeof dialectRoles)[number]]?: Condition };
  readonly read: { readonly [field in DialectField]?: Expression };
}

export function configuredCollector(settings: DialectSettings): Collector {
  const { name, match, span: conditions, read } = settings;
  const roles = dialectRoles.flatMap((role) => {
    const condition = conditions[role];
    return condition === undefined ? [] : [{ role, condition }];
  });
  const nowhere = (Object.keys(read) as DialectField[]).filter((field) => read[field]?.place.from === 'nowhere');
  const roleOf = (span: Span): SpanRole | undefined => roles.find(({ condition }) => holds(condition, span))?.role;
  return {
    id: name,
    // The entry describes what is particular; the reader by evidence may add the rest.
    isConvention: true,
    isConfigured: true,
    summary: 'A dialect of the configuration.',
    recognisedBy: recognition(match),
    wants: {
      keys: [
        ...new Set([
          ...roles.flatMap(({ condition }) => keysOf(condition.is === 'there' ? { from: 'attribute', ...condition } : condition.place)),
          ...Object.values(read).flatMap(({ place }) => keysOf(place)),
        ]),
      ],
      prefixes: Object.values(read).flatMap(({ place }) => (place.from === 'list' && place.event === undefined ? [place.prefix] : [])),
    },
    read: (span) => facts(roleOf(span), span, valuesOf(span, read)),
    ...(nowhere.length === 0 ? {} : { without: (all: SpanFacts) => withoutFields(all, nowhere) }),
    isAgents(span) {
      const role = roleOf(span);
      return role === undefined ? undefined : role === 'agent' || role === 'workflow';
    },
  };
}

function recognition({ scope, keys, keyPrefixes }: DialectSettings['match']): Recognition {
  return {
    ...(scope === undefined ? {} : scope.includes('*') ? { scopeMatches: globTest(scope) } : { scopes: [scope] }),
    ...(keys === undefined ? {} : { keys }),
    ...(keyPrefixes === undefined ? {} : { keyPrefixes }),
  };
}

/** `*` matches any text. Each part is searched once, from left to right, so a test takes linear time. */
function globTest(glob: string): (text: string) => boolean {
  const [first = '', ...others] = glob.split('*');
  const last = others.pop() ?? '';
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const part of others) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= text.length - last.length;
  };
}

/** The members of facts that hold the value of a field. */
const members: { readonly [field in DialectField]?: readonly (keyof SpanFacts)[] } = {
  'tool.definitions': ['toolDefinitions'],
  'agent.name': ['agentName', 'agentNameIsGuess'],
  input: ['input', 'inputDump'],
  output: ['output', 'outputDump'],
  input_messages: ['inputMessages'],
  output_messages: ['outputMessages'],
  system_prompt: ['systemPrompt'],
  model: ['model'],
  input_tokens: ['inputTokens'],
  output_tokens: ['outputTokens'],
  session_id: ['sessionId'],
};
const toolMembers: { readonly [field in DialectField]?: readonly (keyof ToolFacts)[] } = {
  'tool.arguments': ['arguments', 'argumentsText', 'argumentsPart'],
  'tool.result': ['result', 'resultPart'],
  'tool.call_id': ['id'],
  'tool.error': ['failed'],
  'tool.definitions': ['description', 'inputSchema'],
};

/** Removes the fields that the entry reads as `none`, from every collector. */
function withoutFields(all: SpanFacts, fields: readonly DialectField[]): SpanFacts {
  const { tool, ...left } = lacking(
    all,
    fields.flatMap((field) => members[field] ?? []),
  );
  return tool === undefined
    ? left
    : {
        ...left,
        tool: lacking(
          tool,
          fields.flatMap((field) => toolMembers[field] ?? []),
        ),
      };
}

function lacking<From extends object>(from: From, keys: readonly (keyof From)[]): From {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key as keyof From))) as From;
}

/** Keys of the span; those of its events are its events'. */
function keysOf(place: { readonly from: string; readonly key?: string; readonly event?: string }): readonly string[] {
  return place.key === undefined || place.event !== undefined ? [] : [place.key];
}

function holds(condition: Condition, span: Span): boolean {
  if (condition.is === 'there') {
    const { key, event } = condition;
    return carriers(span, event).some((from) => key === undefined || from.attribute(key) !== undefined);
  }
  const value = valueAt(condition.place, span);
  const isEqual = textOf(value) === condition.text;
  // A span without the attribute does not differ: it shows nothing.
  return condition.is === 'equal' ? isEqual : value !== undefined && !isEqual;
}

function valueAt(place: Place, span: Span): AttributeValue | undefined {
  switch (place.from) {
    case 'name':
      return span.name;
    case 'attribute':
      return place.event === undefined ? span.attribute(place.key) : eventAttribute(span, place.event, place.key);
    case 'list':
      return carriers(span, place.event)
        .map((from) => unflattened(from, place) as readonly AttributeValue[])
        .find((items) => items.length > 0);
    case 'events': {
      const events = carriers(span, place.event);
      return events.length === 0 ? undefined : events.map(attributesOf);
    }
    case 'nowhere':
      return undefined;
    default:
      return unreachable(place);
  }
}

/** The attribute of the first event of the name that has it. */
function eventAttribute(span: Span, event: string, key: string): AttributeValue | undefined {
  return carriers(span, event)
    .find((from) => from.attribute(key) !== undefined)
    ?.attribute(key);
}

/** The span itself, or its events of a name. */
function carriers(span: Span, event: string | undefined): readonly Attributed[] {
  return event === undefined ? [span] : span.events.filter(({ name }) => name === event);
}

function attributesOf(from: Attributed): AttributeMap {
  return Object.fromEntries(from.attributeKeys().map((key) => [key, from.attribute(key) ?? null]));
}

function textOf(value: AttributeValue | undefined): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

type Values = (field: DialectField) => AttributeValue | undefined;

function valuesOf(span: Span, read: DialectSettings['read']): Values {
  /** A payload is parsed once for all members that are read of it. */
  const payloads = new Map<string, JsonValue>();
  const keyOf = (place: Place): string => Object.values(place).join('\0');
  return (field) => {
    const expression = read[field];
    if (expression === undefined) return undefined;
    const { place, path } = expression;
    const value = valueAt(place, span);
    if (value === undefined || path === undefined) return value;
    const key = keyOf(place);
    const payload = payloads.get(key) ?? inTexts(jsonOf(value));
    payloads.set(key, payload);
    return memberAt(payload, path);
  };
}

function memberAt(payload: JsonValue, path: readonly (string | number)[]): JsonValue | undefined {
  let at: JsonValue | undefined = payload;
  for (const part of path) {
    // JSON within JSON is common: the way goes through the text.
    const value: JsonValue = inTexts(at);
    if (typeof part === 'number') at = isJsonArray(value) ? value[part] : undefined;
    else at = isJsonObject(value) ? member(value, part) : undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

function inTexts(value: JsonValue): JsonValue {
  return typeof value === 'string' ? parseText(value) : value;
}

function facts(role: SpanRole | undefined, span: Span, value: Values): SpanFacts {
  const [sessionId, agentName] = [textOf(value('session_id')), textOf(value('agent.name'))];
  return {
    ...(role === undefined ? {} : { role }),
    ...(sessionId === undefined || sessionId === '' ? {} : { sessionId }),
    ...(agentName !== undefined && agentName !== ''
      ? { agentName }
      : role === 'agent'
        ? { agentName: spanName(span) ?? span.name, agentNameIsGuess: true }
        : {}),
    ...byRole(role, span, value),
  };
}

function byRole(role: SpanRole | undefined, span: Span, value: Values): SpanFacts {
  const [input, output] = [value('input'), value('output')];
  switch (role) {
    case 'agent':
    case 'workflow':
      return { ...observedRun({ name: span.name, input, output }), ...spoken(value), ...told(value) };
    case 'model':
      return { ...observedModel({ name: span.name, input, output }), ...spoken(value), ...told(value) };
    case 'tool':
      return { tool: tool(span, value) };
    case 'retriever':
      return observedRetrieval(output);
    default:
      return {};
  }
}

function tool(span: Span, value: Values): ToolFacts {
  const [id, message] = [textOf(value('tool.call_id')), textOf(value('tool.error'))];
  const name = textOf(value('tool.name'));
  return {
    ...observedTool({
      name: name === undefined || name === '' ? (toolInName(span) ?? span.name) : name,
      input: value('tool.arguments') ?? value('input'),
      output: value('tool.result') ?? value('output'),
    }),
    ...(id === undefined || id === '' ? {} : { id }),
    ...(message === undefined || message === '' ? {} : { failed: { message } }),
  };
}

function spoken(value: Values): SpanFacts {
  const inputMessages = readMessages(value('input_messages'), 'user');
  const outputMessages = readMessages(value('output_messages'), 'assistant');
  return {
    ...(inputMessages.length === 0 ? {} : { inputMessages }),
    ...(outputMessages.length === 0 ? {} : { outputMessages }),
  };
}

function told(value: Values): SpanFacts {
  const systemPrompt = readSystemPrompt(value('system_prompt'));
  const toolDefinitions = readDefinitions(value('tool.definitions'));
  const [model, inputTokens, outputTokens] = [textOf(value('model')), count(value('input_tokens')), count(value('output_tokens'))];
  return {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
    ...(model === undefined || model === '' ? {} : { model }),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}

/** Absent tokens are unknown, never 0. */
function count(value: AttributeValue | undefined): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
