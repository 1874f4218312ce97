/** LangSmith: the kind of a run, and one JSON text each for what went in and came out. */
import { describe } from 'vitest';
import { langsmith } from '../../collectors/langsmith.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import type { Attributes } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

function run(kind: string, prompt?: AttributeValue, completion?: AttributeValue, others: Attributes = {}): Attributes {
  return {
    'langsmith.span.kind': kind,
    ...(prompt === undefined ? {} : { 'gen_ai.prompt': prompt }),
    ...(completion === undefined ? {} : { 'gen_ai.completion': completion }),
    ...others,
  };
}

const message = (fields: object) =>
  JSON.stringify({ output: { content: '{"r":1}', type: 'tool', name: 't', tool_call_id: 'c2', ...fields } });
const human =
  '{"messages":[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"q","type":"human"}}]}';
const answer = '{"messages":[{"content":"q","type":"human"},{"content":"a","type":"ai","tool_calls":[]}]}';

const cases: readonly Case[] = [
  {
    name: 'details of tokens',
    attributes: run('llm', undefined, undefined, {
      'gen_ai.usage.input_token_details': '{"cache_read":4}',
      'gen_ai.usage.output_token_details': '{"reasoning":1}',
    }),
    facts: { role: 'model', cachedInputTokens: 4, reasoningTokens: 1 },
  },
  {
    name: 'a streamed request that is written over the span around it leaves the name of that span',
    span: { name: 'travel' },
    attributes: run('llm', undefined, undefined, { 'langsmith.is_root': true, 'langsmith.trace.name': 'ChatOpenAI' }),
    facts: { role: 'model', agentName: 'travel' },
  },
  {
    name: 'a request that is the whole trace has no agent',
    span: { name: 'ChatOpenAI' },
    attributes: run('llm', undefined, undefined, { 'langsmith.is_root': true, 'langsmith.trace.name': 'ChatOpenAI' }),
    facts: { role: 'model' },
    absent: ['agentName'],
  },
  {
    name: 'a chain named as its agent is the agent',
    span: { name: 'travel', parent: 9 },
    attributes: run('chain', human, answer, { 'langsmith.metadata.lc_agent_name': 'travel' }),
    facts: { role: 'agent', agentName: 'travel', input: 'q', output: 'a' },
  },
  {
    name: 'a chain inside the agent is a step, which names the agent that it works for',
    span: { name: 'model', parent: 9 },
    attributes: run('chain', human, answer, { 'langsmith.metadata.lc_agent_name': 'travel' }),
    facts: { role: 'step', agentName: 'travel' },
    absent: ['input'],
  },
  {
    name: 'the outermost chain is the run, its name is a guess',
    span: { name: 'plan' },
    attributes: run('chain', '{"input":"q"}', '{"outputs":"a"}'),
    facts: { role: 'workflow', agentName: 'plan', agentNameIsGuess: true, input: 'q', output: 'a' },
  },
  {
    name: 'below a web server’s span the SDK marks what is outermost',
    span: { parent: 9 },
    attributes: run('chain', '{"input":"q"}', undefined, { 'langsmith.is_root': true }),
    facts: { role: 'workflow', input: 'q' },
    absent: ['output'],
  },
  {
    name: 'the project’s name is not a session',
    attributes: run('chain', undefined, undefined, { 'langsmith.trace.session_name': 'travel', 'langsmith.trace.session_id': 'p1' }),
    facts: { role: 'workflow' },
    absent: ['sessionId', 'input', 'output'],
  },
  ...['session_id', 'thread_id', 'conversation_id'].map((key): Case => ({
    name: `the session is in the metadata as ${key}`,
    attributes: run('llm', undefined, undefined, { [`langsmith.metadata.${key}`]: 's' }),
    facts: { sessionId: 's' },
  })),

  {
    name: 'a tool with the conventions’ name and id',
    span: { name: 'run 7' },
    attributes: run('tool', '{"x":1}', message({}), { 'gen_ai.tool.name': 't', 'gen_ai.tool.call.id': 'c1' }),
    facts: { role: 'tool', tool: { name: 't', id: 'c1', arguments: { x: 1 }, result: { r: 1 } } },
    absent: ['tool.failed'],
  },
  {
    name: 'a tool without them is named by its span and known by its message',
    span: { name: 't' },
    attributes: run('tool', '{"x":1}', message({})),
    facts: { tool: { name: 't', id: 'c2' } },
  },
  {
    name: 'a message can say that the tool failed while the span is well',
    attributes: run('tool', '{}', message({ content: 'boom', status: 'error' })),
    facts: { tool: { result: 'boom', failed: { message: 'boom' } } },
  },
  {
    name: 'a tool without content',
    span: { name: 't' },
    attributes: run('tool'),
    facts: { role: 'tool', tool: { name: 't' } },
    absent: ['tool.arguments', 'tool.result'],
  },
  {
    name: 'a tool’s own member `output` stays',
    attributes: run('tool', '{}', '{"output":{"price":1}}'),
    facts: { tool: { result: { output: { price: 1 } } } },
  },

  {
    name: 'a model as OpenAI’s client is asked and answers',
    attributes: run(
      'llm',
      '{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"t"}}]}',
      '{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"t","arguments":"{\\"x\\":1}"}}]}}]}',
    ),
    facts: {
      role: 'model',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }],
      toolDefinitions: [{ name: 't' }],
    },
  },
  {
    name: 'a model as LangChain asks and answers',
    attributes: run(
      'llm',
      '{"messages":[[{"lc":1,"type":"constructor","id":["langchain","HumanMessage"],"kwargs":{"content":"q"}}]]}',
      '{"generations":[[{"text":"a","message":{"lc":1,"type":"constructor","id":["langchain","AIMessage"],"kwargs":{"content":"a"}}}]]}',
    ),
    facts: { inputMessages: [{ role: 'user', text: 'q' }], outputMessages: [{ role: 'assistant', text: 'a' }] },
    absent: ['toolDefinitions'],
  },
  { name: 'a model without content', attributes: run('llm'), facts: { role: 'model' }, absent: ['inputMessages', 'outputMessages'] },
  {
    name: 'a retriever',
    attributes: run(
      'retriever',
      '{"query":"q"}',
      '{"documents":[{"lc":1,"type":"constructor","id":["langchain","Document"],"kwargs":{"page_content":"text","metadata":{"id":"d1","score":0.5}}}]}',
    ),
    facts: { role: 'retriever', documents: [{ id: 'd1', content: 'text', score: 0.5 }] },
  },
  ...['embedding', 'prompt', 'parser'].map((kind): Case => ({
    name: `${kind} is a step and not a run`,
    attributes: run(kind, '{"input":"q"}'),
    facts: { role: 'step' },
    absent: ['input', 'agentName'],
  })),
  {
    name: 'texts that are cut short stay texts',
    attributes: run('tool', '{"x":', '{"output":'),
    facts: { tool: { arguments: null, argumentsText: '{"x":', result: '{"output":' } },
  },
];

describe('langsmith', () => {
  testCases(langsmith, cases);
});
