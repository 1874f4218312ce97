/** Tool definitions from and to the form of the OpenAI API. */
import { definitionsMax, readDefinitions } from '../../collectors/parsing/definitions.ts';
import type { ToolDefinition } from '../model/agent-trace.ts';
import { jsonOf } from './json-of.ts';

/** A tool of the chat API, or flat as the Responses API takes it. */
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

/** Definitions of either form. Throws a TypeError for what is no definition, or for more than a model is ever offered. */
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
