/** Names that frameworks give to the span of any tool: the name of none. */

/** Classes that frameworks make tools of. Source: LangChain in Python and JavaScript, LlamaIndex, AutoGen, smolagents. */
const toolClasses: ReadonlySet<string> = new Set([
  'DynamicStructuredTool',
  'DynamicTool',
  'StructuredTool',
  'FunctionTool',
  'SimpleTool',
  'BaseTool',
  'Tool',
]);

const IN_BRACKETS = /^\(.*\)$/;

/** `SimpleTool.__call__`: the method that runs a tool, traced. Source: smolagents in MLflow. */
const CLASS_CALL = /^[A-Z]\w{0,100}\.__call__$/;

export function isToolName(name: string): boolean {
  return !toolClasses.has(name) && !isOverTools(name) && !CLASS_CALL.test(name);
}

/** A class or a method, after which a framework may name the span of a call; a tool may be called so too. */
export function isClassName(name: string): boolean {
  return !isToolName(name) || CLASS.test(name);
}

const CLASS = /^[A-Z]\w{0,100}Tool(?:\.\w{1,100}|\(\))?$/;

/** `(merged tools)`: a span over the calls of several tools. */
export function isOverTools(name: string): boolean {
  return IN_BRACKETS.test(name);
}

const ANSWER =
  /^(?:final_?answer(?:Tool)?(?:\.__call__)?|final_result(?:_\w{1,100})?|StructuredOutput|set_model_response|json_tool_call)$/i;

/**
 * A call that frameworks offer a model to give its answer looks like a tool, but no tool runs. Sources: smolagents, BeeAI, Pydantic AI, Claude Agent
 * SDK, Agent Development Kit, LiteLLM.
 */
export function isAnswerTool(name: string): boolean {
  return ANSWER.test(name);
}

const EVENT = /^(?:start|success|finish|error|retry|update)$/;

/** Some send a span for an event of a call, with the kind of the call and the name of the event. Source: BeeAI. */
export function isEventName(name: string): boolean {
  return EVENT.test(name);
}
