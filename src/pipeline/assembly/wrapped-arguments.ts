/** Arguments of a call that an SDK wrote one level down: `{"input": {"title": "Momo"}}`. */
import { parseContainer } from '../../../collectors/parsing/parsing.ts';
import type { ToolCall, ToolDefinition } from '../../model/agent-trace.ts';
import { isJsonObject, member, type JsonObject } from '../../model/json.ts';

/** Members under which SDKs put the arguments. */
const wrappers: ReadonlySet<string> = new Set(['input', 'kwargs', 'args', 'arguments', 'parameters', 'params']);

/** The object under the only member, if that may be a wrapper. */
export function wrappedArguments(given: ToolCall['arguments']): JsonObject | undefined {
  const wrapper = wrapperOf(given);
  const written = wrapper === undefined ? undefined : given?.[wrapper];
  const inner = typeof written === 'string' ? parseContainer(written) : written;
  return isJsonObject(inner) ? inner : undefined;
}

function wrapperOf(given: ToolCall['arguments']): string | undefined {
  const [only, ...others] = Object.keys(given ?? {});
  return only !== undefined && others.length === 0 && wrappers.has(only) ? only : undefined;
}

/** A definition without a property of the wrapper's name shows that it is a wrapper. */
export function withoutWrappers(calls: readonly ToolCall[], definitions: readonly ToolDefinition[]): readonly ToolCall[] {
  if (!calls.some((call) => wrappedArguments(call.arguments) !== undefined)) return calls;
  return calls.map((call) => {
    const inner = wrappedArguments(call.arguments);
    const schema = definitions.find(({ name }) => name === call.name)?.inputSchema;
    const properties = isJsonObject(schema) ? member(schema, 'properties') : undefined;
    return inner === undefined || !isJsonObject(properties) || Object.hasOwn(properties, wrapperOf(call.arguments) ?? '')
      ? call
      : { ...call, arguments: inner };
  });
}
