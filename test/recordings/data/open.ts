/** Recordings of this folder that are not read as the agent ran. One that becomes equal must leave the list: `recorded.test.ts` holds it to that. */
import type { Field } from '../fields.ts';

interface OpenRecording {
  readonly recording: string;
  /** All fields that differ. */
  readonly fields: readonly Field[];
  readonly because: string;
  /** Texts that would give the fields and that no byte has: `excuses.test.ts` searches the recording for them. */
  readonly absent?: readonly Absent[];
}

/** A text that the agent's run had, and that some trace of the recording lacks. */
export interface Absent {
  readonly text: string;
  /** A value that has it elsewhere than at its start does not count. */
  readonly at?: 'start';
  /** Only spans of this name would have it. */
  readonly span?: string;
  /** This key holds what could be called, not what was. */
  readonly besides?: string;
}

const callIds: readonly Absent[] = [{ text: 'call_00Rk27x' }, { text: 'call_10Rk27x' }];
const namesOfStock = (besides: string): readonly Absent[] => [
  { text: 'check_stock', besides },
  { text: 'reserve_stock', besides },
];
const descriptions: readonly Absent[] = [
  { text: 'Tell how many pieces of an article a warehouse holds.' },
  { text: 'Put pieces of an article aside for a customer.' },
];
const modelAlone: readonly Absent[] = [{ text: 'gpt-4o-mini', at: 'start' }];

export const openRecordings: readonly OpenRecording[] = [
  { recording: 'agentops-google-adk/parallel', fields: ['system_prompt'], because: "Google ADK adds a paragraph after the instructions; the reader leaves it out, and the recording has the unchanged prompt" },
  { recording: 'agentops-google-adk/sequential', fields: ['system_prompt'], because: "Google ADK adds a paragraph after the instructions; the reader leaves it out, and the recording has the unchanged prompt" },
  { recording: 'autogen-swarm/multiturn', fields: ['input'], because: "the dialogue is in bus messages, spread over many traces that links join" },
  { recording: 'autogen-swarm/toolerror', fields: ['input'], because: "the dialogue is in bus messages, spread over many traces that links join" },
  { recording: 'genai-otel-openai/stream', fields: ['system_prompt', 'tool_calls'], because: "a streamed request has the first message as gen_ai.request.first_message, no other one, and no answer; only llm.tools names the tools" },
  { recording: 'genai-smolagents/handoff', fields: ['tool_calls', 'sub_agents'], because: "absent in the bytes: two invoke_agent spans hold the question, the answer and definitions; no attribute, event or record has a call", absent: [...callIds, { text: 'book_pickup', besides: 'gen_ai.tool.definitions' }] },
  { recording: 'haystack/handoff', fields: ['sub_agents'], because: "no byte names the agent inside the tool: its span has the operation's name, and only the tool has one" },
  { recording: 'js-langwatch-langgraph/toolerror', fields: ['tool_calls'], because: "the id of a failed call is only in the states of steps, which hold the whole conversation" },
  { recording: 'js-openinference-beeai/agent-as-tool', fields: ['sub_agents'], because: "no byte names the agent inside the tool: its events have the name of the framework's class" },
  { recording: 'js-traceloop-langgraph/toolerror', fields: ['agent_name', 'tool_calls'], because: "the workflow span has the user's name for the workflow; tool spans have the class's name, and inner spans are named after agents" },
  { recording: 'langfuse-llama-index/handoff', fields: ['input', 'system_prompt', 'tool_calls', 'tools'], because: "the workflow and its steps take the agents' place; input, prompt and calls are in the steps' JSON" },
  { recording: 'langsmith-anthropic/sequential', fields: ['llm_calls'], because: "the client of Anthropic traces its requests too, in a separate trace whose parents are never sent; no id links the two" },
  { recording: 'langsmith-openai-agents/handoff', fields: ['agent_name', 'system_prompt', 'model', 'tokens.input', 'tokens.output', 'tool_calls', 'sub_agents'], because: "the root is sent twice, once as a separate trace; response spans hold OpenAI's items" },
  { recording: 'langsmith-openai-agents/multiturn', fields: ['agent_name', 'system_prompt', 'model', 'tokens.input', 'tokens.output'], because: "the root is sent twice, once as a separate trace; response spans hold OpenAI's items" },
  { recording: 'langsmith-openai-agents/sequential', fields: ['agent_name', 'system_prompt', 'model', 'tokens.input', 'tokens.output'], because: "the root is sent twice, once as a separate trace; response spans hold OpenAI's items" },
  { recording: 'langsmith-openai-agents/toolerror', fields: ['agent_name', 'system_prompt', 'model', 'tokens.input', 'tokens.output'], because: "the root is sent twice, once as a separate trace; response spans hold OpenAI's items" },
  { recording: 'langtrace-crewai/handoff', fields: ['sub_agents'], because: "the second agent's calls are in no message: the history has [{id: '', type: ''}] in their place, and results have only a name" },
  { recording: 'langtrace-openai/stream', fields: ['tool_calls'], because: "absent in the bytes: a streamed completion is one text of the arguments, {role: assistant, content: '{\"sku\": …}'}; no member names the tool or the call", absent: namesOfStock('gen_ai.request.tools') },
  { recording: 'langwatch-langchain/handoff', fields: ['model'], because: "requests to models have only gen_ai.request.model openai/gpt-4o-mini; the bare name is in messages that a chain returns" },
  { recording: 'langwatch-langchain/multiturn', fields: ['model'], because: "requests to models have only gen_ai.request.model openai/gpt-4o-mini; the bare name is in messages that a chain returns" },
  { recording: 'langwatch-langchain/sequential', fields: ['model'], because: "requests to models have only gen_ai.request.model openai/gpt-4o-mini; the bare name is in messages that a chain returns" },
  { recording: 'langwatch-langchain/toolerror', fields: ['model'], because: "requests to models have only gen_ai.request.model openai/gpt-4o-mini; the bare name is in messages that a chain returns" },
  { recording: 'langwatch-openai/multiturn', fields: ['model'], because: "absent in the bytes: gen_ai.request.model is openai/gpt-4o-mini on every span, and a router's model has such a name too", absent: modelAlone },
  { recording: 'langwatch-openai/nonascii', fields: ['model'], because: "absent in the bytes: gen_ai.request.model is openai/gpt-4o-mini on every span, and a router's model has such a name too", absent: modelAlone },
  { recording: 'langwatch-openai/sequential', fields: ['model'], because: "absent in the bytes: gen_ai.request.model is openai/gpt-4o-mini on every span, and a router's model has such a name too", absent: modelAlone },
  { recording: 'langwatch-openai/stream', fields: ['model'], because: "absent in the bytes: gen_ai.request.model is openai/gpt-4o-mini on every span, and a router's model has such a name too", absent: modelAlone },
  { recording: 'langwatch-openai/toolerror', fields: ['model'], because: "absent in the bytes: gen_ai.request.model is openai/gpt-4o-mini on every span, and a router's model has such a name too", absent: modelAlone },
  { recording: 'llm-tracekit-langchain/handoff', fields: ['sub_agents'], because: "absent in the bytes: requests to models are separate traces, and nothing names an agent", absent: [{ text: 'pickup_planner' }] },
  { recording: 'loongsuite-crewai/sequential', fields: ['input'], because: "model and tokens are on the agent's span; no model call has a span" },
  { recording: 'mlflow-smolagents/handoff', fields: ['sub_agents'], because: "the span of a call has the class's name, and there is no request to a model that would name the tool" },
  { recording: 'mlflow-smolagents/multiturn', fields: ['tool_calls'], because: "the span of a call has the class's name, and there is no request to a model that would name the tool" },
  { recording: 'mlflow-smolagents/sequential', fields: ['tool_calls'], because: "the span of a call has the class's name, and there is no request to a model that would name the tool" },
  { recording: 'mlflow-smolagents/toolerror', fields: ['tool_calls'], because: "the span of a call has the class's name, and there is no request to a model that would name the tool" },
  { recording: 'monocle-google-adk/handoff', fields: ['session_id', 'system_prompt', 'llm_calls', 'tokens.input', 'tokens.output', 'tool_calls', 'sub_agents'], because: "the framework's own tracer and Monocle's each send the whole run, as two traces; scope.agentic.turn and gcp.vertex.agent.invocation_id hold the same id" },
  { recording: 'monocle-strands/handoff', fields: ['llm_calls', 'tokens.input', 'tokens.output', 'tool_calls', 'sub_agents'], because: "the framework's own tracer and Monocle's each send the whole run, as two traces" },
  { recording: 'monocle-strands/parallel', fields: ['llm_calls', 'tool_calls'], because: "the framework's own tracer and Monocle's each send the whole run, as two traces; Monocle's mixes two parallel calls into one" },
  { recording: 'neatlogs-openai-agents/handoff', fields: ['tool_calls', 'sub_agents'], because: "absent in the bytes: messages have no calls; a tool span has name and result, which repeats some arguments by chance", absent: callIds },
  { recording: 'neatlogs-openai-agents/parallel', fields: ['tool_calls'], because: "absent in the bytes: messages have no calls; a tool span has name and result, which repeats some arguments by chance", absent: [{ text: 'call_00Rk27x' }, { text: 'call_01Rk27x' }] },
  { recording: 'netra-agno/handoff', fields: ['agent_name'], because: "only gen_ai.agno.team.name has the name of the team" },
  { recording: 'netra-agno/multiturn', fields: ['tools'], because: "absent in the bytes: a tool is described only by gen_ai.tool.description on the span of its call, and each turn calls one of the two", absent: descriptions },
  { recording: 'netra-pydantic-ai/handoff', fields: ['sub_agents'], because: "absent in the bytes: nothing names an agent", absent: [{ text: 'pickup_planner' }] },
  { recording: 'nvidia-nat/sequential', fields: ['tool_calls'], because: "tools, agents and the workflow all have the kinds FUNCTION and CHAIN, and no request to a model names the tools" },
  { recording: 'openinference-autogen-swarm/multiturn', fields: ['tools'], because: "absent in the bytes: a tool is described only by tool.description on the span of its call, and each turn calls one of the two", absent: descriptions },
  { recording: 'openinference-smolagents-managed/handoff', fields: ['tools'], because: "the schema of the managed agent is only in the prose of the framework's system prompt" },
  { recording: 'openlit-agno/stream', fields: ['tokens.input', 'tokens.output'], because: "streamed model calls arrive as separate traces, beside the agent's" },
  { recording: 'openlit-crewai/handoff', fields: ['tool_calls', 'sub_agents'], because: "steps of CrewAI's flow arrive as agent spans; only chat spans have calls, and the prompt is the backstory with additions" },
  { recording: 'openlit-haystack/handoff', fields: ['sub_agents'], because: "requests to models are separate traces; no byte names the agent inside the tool, and only the tool has a name" },
  { recording: 'openlit-litellm/toolerror', fields: ['model'], because: "both names are right: the request asks for openai/gpt-4o-mini, and gpt-4o-mini-2024-07-18 answers" },
  { recording: 'openlit-llama-index/handoff', fields: ['agent_name'], because: "requests to models are separate traces, and their calls have only the other agent's name" },
  { recording: 'openlit-llama-index/stream', fields: ['tools'], because: "tool definitions are only in log records without a trace id" },
  { recording: 'openlit-openai-agents/stream', fields: ['system_prompt', 'model'], because: "input, prompt and calls are in response spans as OpenAI's items; tool spans hold a name without arguments" },
  { recording: 'openlit-pydantic-ai/handoff', fields: ['sub_agents'], because: "absent in the bytes: requests to models are separate traces, and nothing names an agent", absent: [{ text: 'pickup_planner' }] },
  { recording: 'openlit-smolagents/handoff', fields: ['tool_calls', 'tools', 'sub_agents'], because: "the tool that gives the answer has a span like any other, and its argument has the type any; parameters are a map of properties" },
  { recording: 'openlit-smolagents/sequential', fields: ['tool_calls', 'tools'], because: "the tool that gives the answer has a span like any other, and its argument has the type any; parameters are a map of properties" },
  { recording: 'respan-agno/handoff', fields: ['agent_name', 'tools'], because: "no span names the team" },
  { recording: 'respan-llama-index/handoff', fields: ['agent_name', 'tools'], because: "names of agents and definitions of tools are in the states that LlamaIndex's steps return, as JSON of the framework's classes" },
  { recording: 'splunk-langchain/handoff', fields: ['system_prompt'], because: "the instructions have the user's role, as every message has" },
  { recording: 'splunk-langchain/multiturn', fields: ['system_prompt'], because: "the instructions have the user's role, as every message has" },
  { recording: 'splunk-langchain/parallel', fields: ['system_prompt'], because: "the instructions have the user's role, as every message has" },
  { recording: 'splunk-langchain/sequential', fields: ['system_prompt'], because: "the instructions have the user's role, as every message has" },
  { recording: 'splunk-langchain/toolerror', fields: ['system_prompt'], because: "the instructions have the user's role, as every message has" },
  { recording: 'splunk-llama-index/handoff', fields: ['sub_agents'], because: "the result of a call is a text in a message of role tool, without the call's id or name" },
  { recording: 'traceai-pydantic-ai/multiturn', fields: ['llm_calls'], because: "the agent's span sums up its requests, which have no spans" },
  { recording: 'traceai-smolagents/handoff', fields: ['input', 'final_response', 'tool_calls', 'tools', 'sub_agents'], because: "both agents have the name of the class, and no span is the call of one by the other" },
  { recording: 'traceai-smolagents/multiturn', fields: ['tools', 'tokens.input', 'tokens.output'], because: "the second turn counts the tokens of the first again" },
  { recording: 'traceloop-agno/handoff', fields: ['tool_calls'], because: "absent in the bytes: the tool's span ends with its generator, whose address traceloop.entity.output holds instead of the result", absent: [{ text: 'Slot PU-77 on Friday.', span: 'delegate_task_to_member.tool' }] },
  { recording: 'traceloop-agno/multiturn', fields: ['tools'], because: "absent in the bytes: a tool is described only by tool.description on the span of its call, and each turn calls one of the two", absent: descriptions },
  { recording: 'traceloop-haystack/sequential', fields: ['tool_calls'], because: "absent in the bytes: a request has gen_ai.completion.0.content = 'replies' and nothing else; haystack.agent.tools names the tools, but nothing shows a call", absent: [...callIds, ...namesOfStock('haystack.agent.tools')] },
  { recording: 'traceloop-haystack/toolerror', fields: ['tool_calls'], because: "absent in the bytes: a request has gen_ai.completion.0.content = 'replies' and nothing else; haystack.agent.tools names the tools, but nothing shows a call", absent: [...callIds, ...namesOfStock('haystack.agent.tools')] },
  { recording: 'upsonic/handoff', fields: ['final_response', 'tool_calls', 'sub_agents'], because: "the agent inside the tool has a separate trace, which nothing links to the first one's" },
];

export function isOpen(name: string): boolean {
  return openRecordings.some(({ recording }) => recording === name);
}
