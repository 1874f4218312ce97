/**
 * Tools that the provider of a model runs itself, such as a search of the web: its API reports call and result beside each other in one
 * answer. Sources: the GenAI conventions, the APIs of Anthropic, OpenAI (Responses), Google.
 */
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { textIn } from './members.ts';

/** One part of an answer: a call, a result, or both. */
export interface ProviderPart {
  readonly id?: string;
  readonly name: string;
  /** Absent when the part is a result. */
  readonly given?: JsonValue;
  /** Absent when the part is a call whose result it does not hold. */
  readonly result?: JsonValue;
  readonly isError?: true;
}

/** Items of OpenAI's Responses with the name of their tool, and the members that hold arguments and results. */
const items: {
  readonly [type: string]: { readonly name?: string; readonly given: readonly string[]; readonly result: readonly string[] };
} = {
  web_search_call: { name: 'web_search', given: ['action'], result: ['results'] },
  file_search_call: { name: 'file_search', given: ['queries'], result: ['results'] },
  code_interpreter_call: { name: 'code_interpreter', given: ['code'], result: ['outputs'] },
  image_generation_call: { name: 'image_generation', given: ['revised_prompt'], result: ['result'] },
  mcp_call: { given: ['arguments'], result: ['error', 'output'] },
};

/** Undefined: the part is of another kind. */
export function providerPart(item: JsonObject, type: JsonValue | undefined): ProviderPart | undefined {
  if (typeof type !== 'string') return type === undefined ? geminiPart(item) : undefined;
  if (type === 'server_tool_call' || type === 'server_tool_call_response') return conventionsPart(item, type);
  if (type === 'server_tool_use' || type === 'mcp_tool_use') {
    const name = textIn(item, 'name');
    return name === undefined ? undefined : { ...idIn(item, 'id'), name, given: member(item, 'input') ?? {} };
  }
  if (type.endsWith('_tool_result')) {
    const content = member(item, 'content') ?? null;
    const failed = member(item, 'is_error') === true || (isJsonObject(content) && textIn(content, 'error_code') !== undefined);
    return {
      ...idIn(item, 'tool_use_id'),
      name: type.slice(0, -'_tool_result'.length),
      result: content,
      ...(failed ? { isError: true } : {}),
    };
  }
  const form = type.endsWith('_call') && Object.hasOwn(items, type) ? items[type] : undefined;
  const name = form?.name ?? textIn(item, 'name');
  if (form === undefined || name === undefined) return undefined;
  const given = argumentsOf(item, form.given);
  const told = form.result.find((key) => (member(item, key) ?? null) !== null);
  const result = told === undefined ? undefined : member(item, told);
  const failed = told === 'error' || member(item, 'status') === 'failed';
  return {
    ...idIn(item, 'id'),
    name,
    given,
    ...(result === undefined ? {} : { result }),
    ...(failed ? { isError: true, result: result ?? 'failed' } : {}),
  };
}

function idIn(item: JsonObject, key: string): Pick<ProviderPart, 'id'> {
  const id = textIn(item, key);
  return id === undefined ? {} : { id };
}

/** `{type, id, name, server_tool_call: {type, …}}`, and the same for the response. */
function conventionsPart(item: JsonObject, type: string): ProviderPart {
  const held = member(item, type);
  const { type: kind, ...content } = isJsonObject(held) ? held : {};
  const name = textIn(item, 'name') ?? (typeof kind === 'string' ? kind : '');
  const value = isJsonObject(held) ? content : (held ?? null);
  return { ...idIn(item, 'id'), name, ...(type === 'server_tool_call' ? { given: value } : { result: value }) };
}

/** An action is the arguments, with its type as the choice of the model; any other value keeps its name. */
function argumentsOf(item: JsonObject, keys: readonly string[]): JsonValue {
  const found = keys.flatMap((key) => {
    const value = member(item, key) ?? null;
    return value === null ? [] : [[key, value] as const];
  });
  const [only] = found;
  return only !== undefined && (isJsonObject(only[1]) || only[0] === 'arguments') ? only[1] : Object.fromEntries(found);
}

/** `{executableCode: {code, language}}`, `{codeExecutionResult: {outcome, output}}`. */
function geminiPart(item: JsonObject): ProviderPart | undefined {
  const code = member(item, 'executableCode') ?? member(item, 'executable_code');
  if (isJsonObject(code)) return { name: 'code_execution', given: code };
  const outcome = member(item, 'codeExecutionResult') ?? member(item, 'code_execution_result');
  if (!isJsonObject(outcome)) return undefined;
  const failed = textIn(outcome, 'outcome')?.endsWith('OK') === false;
  return { name: 'code_execution', result: member(outcome, 'output') ?? null, ...(failed ? { isError: true } : {}) };
}

/** Frameworks mark such a call beside their own: `builtin` in Pydantic AI, `providerExecuted` in the AI SDK. */
export function isMarkedProviders(item: JsonObject): boolean {
  return member(item, 'providerExecuted') === true || member(item, 'builtin') === true;
}
