/** The parts that an expectation states, and those that an evaluator takes by its schema. */
import type { Expectation } from '../../src/model/expectation.ts';
import { isJsonObject, member } from '../../src/model/json.ts';
import type { ExpectedPart, JsonSchema } from '../evaluator.ts';

/** Whether an expectation states the part. An empty list expects nothing, but no tool call at all is something to expect. */
const isStated: { readonly [part in ExpectedPart]: (expected: Expectation) => boolean } = {
  tool_calls: ({ toolCalls }) => toolCalls !== undefined,
  'tool_calls.arguments': ({ toolCalls = [] }) => toolCalls.some((call) => call.arguments !== undefined),
  'tool_calls.result': ({ toolCalls = [] }) => toolCalls.some(({ result }) => result !== undefined),
  tool_outputs: ({ toolOutputs = [] }) => toolOutputs.length > 0,
  tool_calls_count: ({ toolCallsCount }) => toolCallsCount !== undefined,
  tool_calls_order: ({ toolCallsOrder }) => toolCallsOrder !== undefined,
  messages: ({ messages = [] }) => messages.length > 0,
  tasks: ({ tasks = [] }) => tasks.length > 0,
  constraints: ({ constraints }) => constraints !== undefined,
  plan: ({ plan = [] }) => plan.length > 0,
  output: ({ output }) => output !== undefined,
  context: ({ context = [] }) => context.length > 0,
  search_text: ({ searchText }) => searchText !== undefined,
  by_turn: ({ byTurn = [] }) => byTurn.length > 0,
};

export const expectedParts = Object.keys(isStated) as readonly ExpectedPart[];

/** In the order of the table: a part stands before what refines it. */
export function statedParts(expected: Expectation): readonly ExpectedPart[] {
  return expectedParts.filter((part) => isStated[part](expected));
}

/** The part that this one refines, as the arguments of calls refine the calls. */
export function refinedPart(part: ExpectedPart): ExpectedPart | undefined {
  return part.startsWith('tool_calls.') ? 'tool_calls' : undefined;
}

/** A schema without members takes whatever is expected of the run. */
export function schemaParts(schema: JsonSchema | undefined): readonly ExpectedPart[] {
  if (schema === undefined) return [];
  const properties = member(schema, 'properties');
  return isJsonObject(properties)
    ? expectedParts.filter((part) => Object.hasOwn(properties, refinedPart(part) ?? part))
    : expectedParts.filter((part) => part !== 'by_turn');
}
