/** Reads agent traces from messages, and tool definitions from and to the form of the OpenAI API. */
import { definitionsMax, readDefinitions } from '../../collectors/parsing/definitions.ts';
import { readMessages } from '../../evaluators/expectation/messages.ts';
import type { AgentTrace, ToolDefinition } from '../model/agent-trace.ts';
import { isJsonArray, jsonDepthMax, type JsonValue } from '../model/json.ts';

export interface FromMessages {
  readonly trace: AgentTrace;
  /** Results without a call. */
  readonly orphanResults: number;
}

/** Reads a conversation of the OpenAI chat API; the input is the last message of the user. Throws at the first invalid message. */
export function fromMessages(messages: JsonValue, members: Partial<AgentTrace> = {}): FromMessages {
  const read = readMessages(messages);
  const [fault] = read.faults;
  if (fault !== undefined)
    throw new TypeError(
      `messages${fault.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')} ${fault.problem}`,
    );
  const input = lastText(read.messages, ['user']);
  const systemPrompt = lastText(read.messages, ['system', 'developer']);
  const trace: AgentTrace = {
    status: 'ok',
    ...(input === undefined ? {} : { input }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(read.finalResponse === undefined ? {} : { finalResponse: read.finalResponse }),
    toolCalls: read.toolCalls,
    toolDefinitions: [],
    modelCalls: [],
    documents: [],
    messages: read.messages,
    reasoningSteps: read.reasoningSteps,
    subAgents: [],
    toolCallsCarried: true,
    ...members,
  };
  return { trace, orphanResults: read.orphanResults };
}

function lastText(messages: NonNullable<AgentTrace['messages']>, roles: readonly string[]): string | undefined {
  return messages.findLast(({ role, text }) => roles.includes(role) && text !== undefined)?.text;
}

/** A tool of the chat API, or of the flat Responses API. */
export type OpenAiTool =
  | {
      readonly type: 'function';
      readonly function: {
        readonly name: string;
        readonly description?: string;
        readonly parameters?: object;
        readonly strict?: boolean | null;
      };
    }
  | {
      readonly type: 'function';
      readonly name: string;
      readonly description?: string | null;
      readonly parameters?: object | null;
      readonly strict?: boolean | null;
    };

/** Reads definitions of either form. Throws a TypeError for an invalid definition, or for too many. */
export function fromOpenAiTools(tools: readonly (ToolDefinition | OpenAiTool)[]): readonly ToolDefinition[] {
  if (tools.length > definitionsMax) throw new TypeError(`There are more than ${definitionsMax} tools.`);
  return tools.map((tool, at) => {
    const [read] = readDefinitions(jsonOf(tool));
    if (read === undefined) throw new TypeError(`tools[${at}] has no name.`);
    return read;
  });
}

export function toOpenAiTools(definitions: readonly ToolDefinition[]): readonly OpenAiTool[] {
  return definitions.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(typeof inputSchema === 'object' && inputSchema !== null ? { parameters: inputSchema } : {}),
    },
  }));
}

/**
 * Converts a value as JSON.stringify does, with exact big integers; `undefined` for functions, symbols and `undefined`. Throws a TypeError for
 * endless nesting.
 */
export function jsonOf(value: unknown): JsonValue | undefined {
  return read(value, '', 0);
}

function read(given: unknown, key: string, depth: number): JsonValue | undefined {
  if (depth > jsonDepthMax) throw new TypeError(`A value is nested deeper than ${jsonDepthMax} levels, or holds itself.`);
  const value = written(given, key);
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'object':
      return value === null ? null : container(value, depth);
    default:
      return undefined;
  }
}

function container(value: object, depth: number): JsonValue {
  const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (list !== undefined) return list.map((item, at) => read(item, String(at), depth + 1) ?? null);
  // Programs keep arguments with foreign names in maps.
  const entries: readonly (readonly [unknown, unknown])[] = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(
    entries.flatMap(([name, item]) => {
      const inner = read(item, String(name), depth + 1);
      return inner === undefined ? [] : [[String(name), inner] as const];
    }),
  );
}

/** Dates and similar objects have `toJSON`. */
function written(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || isJsonArray(value) || !('toJSON' in value) || typeof value.toJSON !== 'function')
    return value;
  return (value.toJSON as (key: string) => unknown).call(value, key);
}
