/** Recordings of this folder that are not read as the agent did it. One that becomes equal must leave the list: `recorded.test.ts` holds it to that. */
import type { Field } from '../fields.ts';

interface OpenRecording {
  readonly recording: string;
  /** What differs; nothing else may. */
  readonly fields: readonly Field[];
  readonly because: string;
}

export const openRecordings: readonly OpenRecording[] = [
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
