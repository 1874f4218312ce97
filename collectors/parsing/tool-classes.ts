/** Names that frameworks give to the span of any tool: the name of none. */

/** Classes that frameworks make tools of. Source: LangChain in Python and JavaScript, LlamaIndex, AutoGen. */
const toolClasses: ReadonlySet<string> = new Set([
  'DynamicStructuredTool',
  'DynamicTool',
  'StructuredTool',
  'FunctionTool',
  'BaseTool',
  'Tool',
]);

const IN_BRACKETS = /^\(.*\)$/;

export function isToolName(name: string): boolean {
  return !toolClasses.has(name) && !isOverTools(name);
}

/** `(merged tools)`: a span over the calls of several tools. */
export function isOverTools(name: string): boolean {
  return IN_BRACKETS.test(name);
}
