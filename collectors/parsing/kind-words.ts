/** Words that instrumentations have for the kind of a span, as roles. */
import type { SpanRole } from '../collector.ts';

/** The meaning of the words for a span's kind. A word that is not here has none. */
const kinds: { readonly [word: string]: SpanRole | 'chain' } = {
  agent: 'agent',
  invoke_agent: 'agent',
  agent_run: 'agent',
  agent_run_sync: 'agent',
  agentic_invocation: 'agent',
  llm: 'model',
  llm_request: 'model',
  llm_call: 'model',
  call_llm: 'model',
  model_request: 'model',
  chat: 'model',
  chat_model: 'model',
  chat_completion: 'model',
  completion: 'model',
  text_completion: 'model',
  generate_content: 'model',
  generation: 'model',
  model: 'model',
  inference: 'model',
  response: 'model',
  tool: 'tool',
  tool_call: 'tool',
  execute_tool: 'tool',
  function: 'tool',
  function_call: 'tool',
  retriever: 'retriever',
  retrieval: 'retriever',
  workflow: 'chain',
  invoke_workflow: 'chain',
  chain: 'chain',
  graph: 'chain',
  crew: 'chain',
  swarm: 'chain',
  team: 'chain',
  invoke_swarm: 'chain',
  invoke_graph: 'chain',
  invoke_team: 'chain',
  invoke_crew: 'chain',
  flow: 'chain',
  pipeline: 'chain',
  trace: 'chain',
  session: 'chain',
  agentic_turn: 'chain',
  run: 'chain',
  task: 'step',
  node: 'step',
  step: 'step',
  handoff: 'step',
  guardrail: 'step',
  memory: 'step',
  embedding: 'step',
  embeddings: 'step',
  reranker: 'step',
  evaluator: 'step',
  parser: 'step',
  prompt: 'step',
};

/** `tool.v2` is a tool. */
const VERSION = /[._-]v\d$/;
/** Words around a kind that add nothing: `agentic.tool.invocation`, `inference.framework`. */
const AROUND = /^agentic_|_(?:invocation|execution|framework|modelapi)$/g;

export function kindIn(value: string | undefined): SpanRole | 'chain' | undefined {
  const word = value
    ?.toLowerCase()
    .replace(VERSION, '')
    .replaceAll(/[\s.-]/g, '_');
  if (word === undefined) return undefined;
  const bare = Object.hasOwn(kinds, word) ? word : word.replaceAll(AROUND, '');
  return Object.hasOwn(kinds, bare) ? kinds[bare] : undefined;
}
