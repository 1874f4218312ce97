/** Recordings of this folder that are not read as the agent did it. One that becomes equal must leave the list: `recorded.test.ts` holds it to that. */
import type { Field } from '../fields.ts';

interface OpenRecording {
  readonly recording: string;
  /** What differs; nothing else may. */
  readonly fields: readonly Field[];
  readonly because: string;
}

export const openRecordings: readonly OpenRecording[] = [
  {
    recording: 'js-laminar-openai/agent-as-tool',
    fields: ['tool_calls', 'sub_agents'],
    because: "the second agent is a plain span below the tool span that calls it",
  },
  {
    recording: 'js-langfuse-langgraph/agent-as-tool',
    fields: ['tool_calls', 'sub_agents'],
    because: "the graph's root span has LangGraph's own name; agents stand in the names of inner chains and in langgraph_checkpoint_ns",
  },
  {
    recording: 'js-langfuse-langgraph/handoff',
    fields: ['agent_name', 'tool_calls', 'sub_agents'],
    because: "the graph's root span has LangGraph's own name; agents stand in the names of inner chains and in langgraph_checkpoint_ns",
  },
  {
    recording: 'js-langfuse-langgraph/supervisor',
    fields: ['agent_name', 'tool_calls', 'sub_agents'],
    because: "the graph's root span has LangGraph's own name; agents stand in the names of inner chains and in langgraph_checkpoint_ns",
  },
  {
    recording: 'js-langfuse-openai/stream',
    fields: ['tool_calls'],
    because: "the tool calls of a streamed answer have no id in the generation's output, so each counts beside its tool span",
  },
  {
    recording: 'js-langsmith-ai-sdk/agent-as-tool',
    fields: ['tool_calls', 'sub_agents'],
    because: "each call counts as a tool span and again as a part of the model's message",
  },
  {
    recording: 'js-langsmith-ai-sdk/multiturn',
    fields: ['tool_calls'],
    because: "each call counts as a tool span and again as a part of the model's message",
  },
  {
    recording: 'js-langsmith-ai-sdk/nonascii',
    fields: ['tool_calls'],
    because: "each call counts as a tool span and again as a part of the model's message",
  },
  {
    recording: 'js-langsmith-ai-sdk/parallel',
    fields: ['tool_calls'],
    because: "each call counts as a tool span and again as a part of the model's message",
  },
  {
    recording: 'js-langsmith-ai-sdk/repeat',
    fields: ['tool_calls'],
    because: "each call counts as a tool span and again as a part of the model's message",
  },
  {
    recording: 'js-langsmith-ai-sdk/sequential',
    fields: ['tool_calls'],
    because: "each call counts as a tool span and again as a part of the model's message",
  },
  {
    recording: 'js-langsmith-ai-sdk/stream',
    fields: ['agent_name', 'tool_calls'],
    because: "a streamed model call has no span of its own; what it says overwrites the span around it",
  },
  {
    recording: 'js-langsmith-ai-sdk/toolerror',
    fields: ['tool_calls'],
    because: "each call counts as a tool span and again as a part of the model's message",
  },
  {
    recording: 'js-langsmith-openai/agent-as-tool',
    fields: ['tool_calls', 'sub_agents'],
    because: "the second agent is a chain span below the tool span that calls it",
  },
  {
    recording: 'js-langsmith-openai/stream',
    fields: ['agent_name', 'final_response', 'tool_calls'],
    because: "a streamed model call has no span of its own; what it says overwrites the span around it",
  },
  {
    recording: 'js-openinference-anthropic/agent-as-tool',
    fields: ['system_prompt', 'tool_calls', 'sub_agents'],
    because: "the prompt and the tool calls of Anthropic's messages stand in input.value and output.value only",
  },
  {
    recording: 'js-openinference-anthropic/multiturn',
    fields: ['system_prompt', 'tool_calls'],
    because: "the prompt and the tool calls of Anthropic's messages stand in input.value and output.value only",
  },
  {
    recording: 'js-openinference-anthropic/nonascii',
    fields: ['system_prompt', 'tool_calls'],
    because: "the prompt and the tool calls of Anthropic's messages stand in input.value and output.value only",
  },
  {
    recording: 'js-openinference-anthropic/parallel',
    fields: ['system_prompt', 'tool_calls'],
    because: "the prompt and the tool calls of Anthropic's messages stand in input.value and output.value only",
  },
  {
    recording: 'js-openinference-anthropic/repeat',
    fields: ['system_prompt', 'tool_calls'],
    because: "the prompt and the tool calls of Anthropic's messages stand in input.value and output.value only",
  },
  {
    recording: 'js-openinference-anthropic/sequential',
    fields: ['system_prompt', 'tool_calls'],
    because: "the prompt and the tool calls of Anthropic's messages stand in input.value and output.value only",
  },
  {
    recording: 'js-openinference-anthropic/stream',
    fields: ['system_prompt', 'llm_calls', 'tokens.input', 'tokens.output', 'tool_calls'],
    because: "as without streaming; the client's own spans count as further model calls",
  },
  {
    recording: 'js-openinference-anthropic/toolerror',
    fields: ['system_prompt', 'tool_calls'],
    because: "the prompt and the tool calls of Anthropic's messages stand in input.value and output.value only",
  },
  {
    recording: 'js-openinference-bedrock/agent-as-tool',
    fields: ['tool_calls', 'tools', 'sub_agents'],
    because: "calls, results and tools stand in Converse's form (toolUse, toolResult, toolSpec) in input.value and output.value",
  },
  {
    recording: 'js-openinference-bedrock/multiturn',
    fields: ['tool_calls', 'tools'],
    because: "calls, results and tools stand in Converse's form (toolUse, toolResult, toolSpec) in input.value and output.value",
  },
  {
    recording: 'js-openinference-bedrock/nonascii',
    fields: ['tool_calls', 'tools'],
    because: "calls, results and tools stand in Converse's form (toolUse, toolResult, toolSpec) in input.value and output.value",
  },
  {
    recording: 'js-openinference-bedrock/parallel',
    fields: ['tool_calls', 'tools'],
    because: "calls, results and tools stand in Converse's form (toolUse, toolResult, toolSpec) in input.value and output.value",
  },
  {
    recording: 'js-openinference-bedrock/repeat',
    fields: ['tool_calls', 'tools'],
    because: "calls, results and tools stand in Converse's form (toolUse, toolResult, toolSpec) in input.value and output.value",
  },
  {
    recording: 'js-openinference-bedrock/sequential',
    fields: ['tool_calls', 'tools'],
    because: "calls, results and tools stand in Converse's form (toolUse, toolResult, toolSpec) in input.value and output.value",
  },
  {
    recording: 'js-openinference-bedrock/toolerror',
    fields: ['tool_calls', 'tools'],
    because: "calls, results and tools stand in Converse's form (toolUse, toolResult, toolSpec) in input.value and output.value",
  },
  {
    recording: 'js-openinference-langgraph/agent-as-tool',
    fields: ['tool_calls', 'sub_agents'],
    because: "the second agent is a chain below the tool span that calls it",
  },
  {
    recording: 'js-openinference-langgraph/handoff',
    fields: ['agent_name', 'tool_calls', 'sub_agents'],
    because: "the graph's root span has LangGraph's own name; agents stand in the names of inner chains and in langgraph_checkpoint_ns",
  },
  {
    recording: 'js-openinference-langgraph/multiturn',
    fields: ['system_prompt'],
    because: "the prompt of createAgent stands in the model's input only",
  },
  {
    recording: 'js-openinference-langgraph/parallel',
    fields: ['system_prompt'],
    because: "the prompt of createAgent stands in the model's input only",
  },
  {
    recording: 'js-openinference-langgraph/stream',
    fields: ['system_prompt'],
    because: "the prompt of createAgent stands in the model's input only",
  },
  {
    recording: 'js-openinference-langgraph/supervisor',
    fields: ['agent_name', 'tool_calls', 'sub_agents'],
    because: "the graph's root span has LangGraph's own name; agents stand in the names of inner chains and in langgraph_checkpoint_ns",
  },
  {
    recording: 'js-openinference-langgraph/toolerror',
    fields: ['system_prompt', 'tool_calls'],
    because: "the prompt of createAgent stands in the model's input only",
  },
  {
    recording: 'js-strands/agent-as-tool',
    fields: ['tool_calls', 'sub_agents'],
    because: "results arrive as [{json: …}]",
  },
  {
    recording: 'js-strands/multiturn',
    fields: ['tool_calls'],
    because: "results arrive as [{json: …}]",
  },
  {
    recording: 'js-strands/nonascii',
    fields: ['tool_calls'],
    because: "results arrive as [{json: …}]",
  },
  {
    recording: 'js-strands/parallel',
    fields: ['tool_calls'],
    because: "results arrive as [{json: …}]",
  },
  {
    recording: 'js-strands/repeat',
    fields: ['tool_calls'],
    because: "results arrive as [{json: …}]",
  },
  {
    recording: 'js-strands/sequential',
    fields: ['tool_calls'],
    because: "results arrive as [{json: …}]",
  },
  {
    recording: 'js-strands/toolerror',
    fields: ['tool_calls'],
    because: "results arrive as [{json: …}]",
  },
  {
    recording: 'js-voltagent/agent-as-tool',
    fields: ['input', 'system_prompt', 'final_response', 'model', 'tokens.input', 'tokens.output', 'tool_calls', 'tools', 'sub_agents'],
    because: "nothing reads VoltAgent's bare keys (input, output, entity.name, llm.messages) yet",
  },
  {
    recording: 'js-voltagent/multiturn',
    fields: ['session_id', 'input', 'system_prompt', 'final_response', 'model', 'tokens.input', 'tokens.output', 'tool_calls', 'tools'],
    because: "nothing reads VoltAgent's bare keys (input, output, entity.name, llm.messages) yet",
  },
  {
    recording: 'js-voltagent/nonascii',
    fields: ['input', 'system_prompt', 'final_response', 'model', 'tokens.input', 'tokens.output', 'tool_calls', 'tools'],
    because: "nothing reads VoltAgent's bare keys (input, output, entity.name, llm.messages) yet",
  },
  {
    recording: 'js-voltagent/parallel',
    fields: ['input', 'system_prompt', 'final_response', 'model', 'tokens.input', 'tokens.output', 'tool_calls', 'tools'],
    because: "nothing reads VoltAgent's bare keys (input, output, entity.name, llm.messages) yet",
  },
  {
    recording: 'js-voltagent/repeat',
    fields: ['input', 'system_prompt', 'final_response', 'model', 'tokens.input', 'tokens.output', 'tool_calls', 'tools'],
    because: "nothing reads VoltAgent's bare keys (input, output, entity.name, llm.messages) yet",
  },
  {
    recording: 'js-voltagent/sequential',
    fields: ['input', 'system_prompt', 'final_response', 'model', 'tokens.input', 'tokens.output', 'tool_calls', 'tools'],
    because: "nothing reads VoltAgent's bare keys (input, output, entity.name, llm.messages) yet",
  },
  {
    recording: 'js-voltagent/stream',
    fields: ['input', 'system_prompt', 'final_response', 'model', 'tokens.input', 'tokens.output', 'tool_calls', 'tools'],
    because: "nothing reads VoltAgent's bare keys (input, output, entity.name, llm.messages) yet",
  },
  {
    recording: 'js-voltagent/toolerror',
    fields: ['input', 'system_prompt', 'final_response', 'model', 'tokens.input', 'tokens.output', 'tool_calls', 'tools'],
    because: "nothing reads VoltAgent's bare keys (input, output, entity.name, llm.messages) yet",
  },
  { recording: 'openinference-litellm/multiturn', fields: ['model'], because: "not read yet" },
  { recording: 'openinference-litellm/parallel', fields: ['model'], because: "not read yet" },
  { recording: 'openinference-litellm/sequential', fields: ['model'], because: "not read yet" },
  { recording: 'openinference-litellm/toolerror', fields: ['model'], because: "not read yet" },
  { recording: 'openlit-agno/handoff', fields: ['tool_calls'], because: "the span holds the repr of a generator; the result stands in the next model call only" },
  { recording: 'openlit-agno/stream', fields: ['model', 'tokens.input', 'tokens.output'], because: "streamed model calls arrive as traces of their own, beside the agent's" },
  { recording: 'openlit-agno/toolerror', fields: ['tool_calls'], because: "the span says 'Tool execution failed'; the message stands in the next model call only" },
  { recording: 'openlit-crewai/handoff', fields: ['system_prompt', 'tool_calls', 'sub_agents'], because: "steps of CrewAI's flow arrive as agent spans; calls stand only in chat spans, and the prompt is the backstory with additions" },
  { recording: 'openlit-crewai/nonascii', fields: ['system_prompt', 'model', 'llm_calls', 'tokens.input', 'tokens.output', 'tool_calls'], because: "steps of CrewAI's flow arrive as agent spans; calls stand only in chat spans, and the prompt is the backstory with additions" },
  { recording: 'openlit-crewai/parallel', fields: ['system_prompt', 'model', 'llm_calls', 'tokens.input', 'tokens.output', 'tool_calls'], because: "steps of CrewAI's flow arrive as agent spans; calls stand only in chat spans, and the prompt is the backstory with additions" },
  { recording: 'openlit-crewai/sequential', fields: ['system_prompt', 'model', 'llm_calls', 'tokens.input', 'tokens.output', 'tool_calls'], because: "steps of CrewAI's flow arrive as agent spans; calls stand only in chat spans, and the prompt is the backstory with additions" },
  { recording: 'openlit-crewai/stream', fields: ['system_prompt', 'model', 'llm_calls', 'tokens.input', 'tokens.output', 'tool_calls'], because: "steps of CrewAI's flow arrive as agent spans; calls stand only in chat spans, and the prompt is the backstory with additions" },
  { recording: 'openlit-crewai/toolerror', fields: ['system_prompt', 'model', 'llm_calls', 'tokens.input', 'tokens.output', 'tool_calls'], because: "steps of CrewAI's flow arrive as agent spans; calls stand only in chat spans, and the prompt is the backstory with additions" },
  { recording: 'openlit-openai-agents/handoff', fields: ['input', 'system_prompt', 'sub_agents'], because: "input, prompt and calls stand in response spans as OpenAI's items; tool spans hold a name without arguments" },
  { recording: 'openlit-openai-agents/multiturn', fields: ['input', 'system_prompt', 'tool_calls'], because: "input, prompt and calls stand in response spans as OpenAI's items; tool spans hold a name without arguments" },
  { recording: 'openlit-openai-agents/nonascii', fields: ['input', 'system_prompt', 'tool_calls'], because: "input, prompt and calls stand in response spans as OpenAI's items; tool spans hold a name without arguments" },
  { recording: 'openlit-openai-agents/parallel', fields: ['input', 'system_prompt', 'tool_calls'], because: "input, prompt and calls stand in response spans as OpenAI's items; tool spans hold a name without arguments" },
  { recording: 'openlit-openai-agents/sequential', fields: ['input', 'system_prompt', 'tool_calls'], because: "input, prompt and calls stand in response spans as OpenAI's items; tool spans hold a name without arguments" },
  { recording: 'openlit-openai-agents/stream', fields: ['system_prompt', 'model', 'tool_calls'], because: "input, prompt and calls stand in response spans as OpenAI's items; tool spans hold a name without arguments" },
  { recording: 'openlit-openai-agents/toolerror', fields: ['input', 'system_prompt', 'tool_calls'], because: "input, prompt and calls stand in response spans as OpenAI's items; tool spans hold a name without arguments" },
];

export function isOpen(name: string): boolean {
  return openRecordings.some(({ recording }) => recording === name);
}
