/** What is expected of a run, under the names and in the forms that files and attributes use. */
import type { Expectation, ExpectedCount, ExpectedMessage, ExpectedToolCall, ExpectedToolOutput } from '../../src/model/expectation.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

/** How each member is written; what it is called follows from its name. */
const writers: { readonly [Name in keyof Expectation]-?: (expectation: Expectation) => JsonValue | undefined } = {
  toolCalls: ({ toolCalls }) => toolCalls?.map(writtenTool),
  toolOutputs: ({ toolOutputs }) => toolOutputs?.map(writtenTool),
  toolCallsCount: ({ toolCallsCount }) => toolCallsCount && Object.fromEntries(toolCallsCount.map((one) => [one.name, writtenCount(one)])),
  toolCallsOrder: ({ toolCallsOrder }) => toolCallsOrder,
  messages: ({ messages }) => messages?.map(writtenMessage),
  tasks: ({ tasks }) => tasks,
  constraints: ({ constraints }) => constraints,
  plan: ({ plan }) => plan,
  output: ({ output }) => output,
  context: ({ context }) => context,
  searchText: ({ searchText }) => searchText,
  byTurn: ({ byTurn }) => byTurn?.map(writtenExpectation),
};

export function writtenExpectation(expectation: Expectation): JsonObject {
  const names = Object.keys(expectation) as readonly (keyof Expectation)[];
  return Object.fromEntries(
    names.flatMap((name) => {
      // A name that is none of ours is passed on, so that whoever reads it says so.
      const written = Object.hasOwn(writers, name) ? writers[name](expectation) : null;
      return written === undefined ? [] : [[snake(name), written] as const];
    }),
  );
}

function writtenTool({ toolId, ...tool }: ExpectedToolCall | ExpectedToolOutput): JsonValue {
  return { ...tool, ...(toolId === undefined ? {} : { tool_id: toolId }) };
}

function writtenCount({ least, most, not }: ExpectedCount): JsonValue {
  if (not !== undefined) return ['!=', not];
  return { ...(least === undefined ? {} : { min: least }), ...(most === undefined ? {} : { max: most }) };
}

function writtenMessage({ role, toolCalls }: ExpectedMessage): JsonValue {
  return { role, tool_calls: toolCalls.map(writtenTool) };
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
