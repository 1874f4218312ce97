/** The reader by evidence: for any prefix of keys and any frame around values. */
import { describe, expect, test } from 'vitest';
import { recognises } from '../../collectors/collector.ts';
import { generic } from '../../collectors/generic.ts';
import { replaced } from '../builders/replaced.ts';
import { span, type Attributes } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

const kinds: readonly Case[] = [
  ['acme.span.kind', 'AGENT', 'agent'],
  ['acme.span.type', 'llm', 'model'],
  ['span_kind', 'Tool', 'tool'],
  ['acme.entity.log_type', 'tool', 'tool'],
  ['spanType', 'chat_model', 'model'],
  ['span.type', 'inference', 'model'],
  ['acme.observation_type', 'generation', 'model'],
  ['run.type', 'retriever', 'retriever'],
  ['acme.operation.name', 'agent.run_sync', 'agent'],
  ['acme.node.type', 'task', 'step'],
].map(([key = '', value = '', role]) => ({
  name: `${key} = ${value} is ${role}`,
  attributes: { [key]: value },
  facts: { role },
}));

const spanNames: readonly Case[] = [
  {
    name: 'a span that is named after its operation and its agent is an agent',
    span: { name: 'invoke_agent travel' },
    attributes: { 'gen_ai.agent.name': 'travel', 'gen_ai.request.model': 'm', 'gen_ai.response.text': 'a' },
    facts: { role: 'agent', agentName: 'travel', output: 'a' },
  },
  ...(
    [
      ['shop.tools.find_order', 'find_order'],
      ["tool: 'find_order'", 'find_order'],
      ['find_order.run', 'find_order'],
      ['find_order.__call__', 'find_order'],
      ['FindOrder.forward', 'FindOrder'],
    ] as const
  ).map(([name, tool]) => ({
    name: `${name} runs ${tool}`,
    span: { name },
    attributes: { 'acme.span.kind': 'tool' },
    facts: { role: 'tool', tool: { name: tool } },
  })),
];

const silent: readonly Case[] = [
  { name: 'an unknown kind is ignored', attributes: { 'acme.span.kind': 'internal' }, facts: {}, absent: ['role'] },
  {
    name: 'the request of another protocol is not an input',
    attributes: { 'http.request': 'GET /', 'acme.span.kind': 'agent' },
    facts: {},
    absent: ['input'],
  },
  {
    name: 'only an agent’s name makes no agent',
    attributes: { 'acme.agent.name': 'travel' },
    facts: { agentName: 'travel' },
    absent: ['role'],
  },
  {
    name: 'a model’s name and tokens beside an agent’s name make no request',
    attributes: { 'acme.agent.name': 'a', model: 'm', 'usage.input_tokens': 1, 'acme.messages': '[]' },
    facts: {},
    absent: ['role'],
  },
  {
    name: 'missing tokens are unknown',
    attributes: { 'acme.span.kind': 'llm', 'usage.output_tokens': 3 },
    facts: { outputTokens: 3 },
    absent: ['inputTokens'],
  },
  {
    name: 'limits and sums of tokens are not counts of a side',
    attributes: { 'acme.span.kind': 'llm', 'request.max_output_tokens': 9, 'usage.total_tokens': 12 },
    facts: {},
    absent: ['inputTokens', 'outputTokens'],
  },
];

const nearKinds: readonly Case[] = [
  {
    name: 'the kind of what a span is part of counts where no kind is given',
    attributes: { 'entity.type': 'agent' },
    facts: { role: 'agent' },
  },
  {
    name: 'a span’s own kind beats that of what it is part of',
    attributes: { 'entity.type': 'agent', 'span.type': 'memory' },
    facts: { role: 'step' },
  },
  {
    name: 'an own kind in an unknown word leaves the other without a say',
    attributes: { 'entity.type': 'agent', 'span.type': 'deliberation', 'span.subtype': 'tool_call' },
    facts: {},
    absent: ['role'],
  },
  {
    name: 'the kind that every span of OpenTelemetry has is ignored',
    attributes: { 'entity.type': 'agent', 'span.kind': 'INTERNAL' },
    facts: { role: 'agent' },
  },
];

const agents: readonly Case[] = [
  {
    name: 'the name under a key is better than the span’s',
    span: { name: 'Crew.run' },
    attributes: { 'acme.span.kind': 'agent', 'acme.agent_name': 'travel', 'acme.input': 'q', 'acme.output': 'a' },
    facts: { role: 'agent', agentName: 'travel', input: 'q', output: 'a' },
    absent: ['agentNameIsGuess'],
  },
  {
    name: 'a span’s own name is a guess',
    span: { name: 'travel.run' },
    attributes: { 'acme.span.kind': 'agent' },
    facts: { agentName: 'travel', agentNameIsGuess: true },
  },
  {
    name: 'an empty name is ignored',
    span: { name: 'invoke_agent {agent.name}' },
    attributes: { 'acme.span.kind': 'agent' },
    facts: { role: 'agent' },
    absent: ['agentName'],
  },
  {
    name: 'a graph without a parent is the run',
    attributes: { 'acme.span.kind': 'graph', 'input.value': '{"messages":[["user","q"]]}' },
    facts: { role: 'workflow', input: 'q' },
  },
  {
    name: 'a graph inside something is a stage of it',
    span: { parent: 9 },
    attributes: { 'acme.span.kind': 'graph' },
    facts: { role: 'step' },
  },
  {
    name: 'LangChain’s metadata names the agent and the session',
    attributes: { 'acme.span.kind': 'agent', metadata: '{"lc_agent_name":"travel","thread_id":"t1"}' },
    facts: { agentName: 'travel', sessionId: 't1' },
  },
  {
    name: 'a value in a typed frame',
    attributes: { 'acme.span.kind': 'agent', 'acme.input': '{"type":"text","value":"q"}' },
    facts: { input: 'q' },
  },
];

const tools: readonly Case[] = [
  {
    name: 'a name and a call id make a tool without a kind',
    attributes: { 'acme.tool.name': 'search', 'acme.tool.call.id': 'c1', tool_args: '{"q":1}', 'tool.result': '{"r":2}' },
    facts: { role: 'tool', tool: { name: 'search', id: 'c1', arguments: { q: 1 }, result: { r: 2 } } },
    absent: ['tool.failed'],
  },
  {
    name: 'arguments and result as messages',
    attributes: {
      'gen_ai.tool.name': 'search',
      'gen_ai.input.messages': '[{"role":"tool","content":"{\\"q\\":1}"}]',
      'gen_ai.output.messages': '[{"role":"tool","content":"{\\"r\\":2}"}]',
    },
    facts: { role: 'tool', tool: { name: 'search', arguments: { q: 1 }, result: { r: 2 } } },
  },
  {
    name: 'a result in many keys that reports a failed call',
    attributes: {
      'tool.name': 'search',
      'result.isError': true,
      'result.content.0.type': 'text',
      'result.content.0.text': 'no such place',
    },
    facts: { tool: { result: 'no such place', failed: { message: '' } } },
  },
  {
    name: 'a result as a Python object that reports a failed call',
    attributes: { 'tool.name': 'search', 'tool.output': "ToolMessage(content='no such place', tool_call_id='c1', status='error')" },
    facts: { tool: { id: 'c1', result: 'no such place', failed: { message: 'no such place' } } },
  },
  {
    name: 'a user’s Python object stays the result',
    attributes: { 'tool.name': 'search', 'tool.output': "Flight(number='AF007', output='x')" },
    facts: { tool: { result: "Flight(number='AF007', output='x')" } },
  },
  {
    name: 'an outcome that is not a success',
    attributes: { 'tool.name': 't', 'tool.outcome': 'failed', 'error.message': 'down' },
    facts: { tool: { failed: { message: 'down' } } },
  },
  {
    name: 'a result in a list with one frame',
    attributes: { 'tool.name': 't', 'tool.output': '[{"json":{"r":2}}]' },
    facts: { tool: { result: { r: 2 } } },
  },
  {
    name: 'without a name the span’s counts',
    span: { name: 'execute_tool search' },
    attributes: { 'acme.span.kind': 'tool' },
    facts: { tool: { name: 'search' } },
  },
];

const frameworks: readonly Case[] = [
  {
    name: 'the event of a tool is not a call',
    span: { name: 'tool.dynamic.find.start-1' },
    attributes: { 'acme.span.kind': 'tool' },
    facts: { role: 'step' },
    absent: ['tool'],
  },
  {
    name: 'the event of a tool that it names is one',
    span: { name: 'tool.dynamic.find.success-1' },
    attributes: { 'acme.span.kind': 'tool', 'tool.name': 'find' },
    facts: { role: 'tool', tool: { name: 'find' } },
  },
  {
    name: 'the start of a request to a model is not a request',
    span: { name: 'backend.chat.start-2' },
    attributes: { 'acme.span.kind': 'llm' },
    facts: { role: 'step' },
  },
  {
    name: 'the success of a request to a model is the request',
    span: { name: 'backend.chat.success-2' },
    attributes: { 'acme.span.kind': 'llm', 'acme.model': 'm' },
    facts: { role: 'model', model: 'm' },
  },
  {
    name: 'a node of a graph that is called agent is a step of its agent',
    span: { name: 'agent', parent: 9 },
    attributes: { 'acme.span.kind': 'agent', 'acme.metadata.langgraph_node': 'agent' },
    facts: { role: 'step' },
  },
  {
    name: 'a node with the name of an agent is one',
    span: { name: 'agent', parent: 9 },
    attributes: { 'acme.span.kind': 'agent', 'acme.agent.name': 'travel', metadata: '{"langgraph_node":"agent"}' },
    facts: { role: 'agent', agentName: 'travel' },
  },
  {
    name: 'a framework’s class is the name of no agent',
    span: { name: 'FunctionAgent.run' },
    attributes: { 'acme.span.kind': 'agent' },
    facts: { role: 'agent' },
    absent: ['agentName'],
  },
  {
    name: 'the operation before the name of an agent is none of it',
    span: { name: 'ai.generateText travel' },
    attributes: { 'acme.span.kind': 'agent' },
    facts: { agentName: 'travel', agentNameIsGuess: true },
  },
  {
    name: 'the answer that a model gives by a call is not a tool call',
    attributes: { 'acme.span.kind': 'tool', 'tool.name': 'final_answer', 'tool.output': 'a' },
    facts: { role: 'step' },
    absent: ['tool'],
  },
];

const framed: readonly Case[] = [
  {
    name: 'arguments beside the options of the call',
    attributes: { 'tool.name': 't', 'tool.input': '{"input":{"q":1},"options":null}' },
    facts: { tool: { arguments: { q: 1 } } },
  },
  {
    name: 'an argument that is called input stays one',
    attributes: { 'tool.name': 't', 'tool.input': '{"input":{"q":1}}' },
    facts: { tool: { arguments: { input: { q: 1 } } } },
  },
  {
    name: 'the types of arguments are not arguments',
    attributes: {
      'tool.name': 't',
      'tool.args': '{"q":{"type":"string"},"n":{"type":"integer","minimum":1}}',
      'input.value': '{"q":"x","n":2}',
    },
    facts: { tool: { arguments: { q: 'x', n: 2 } } },
  },
  {
    name: 'a result in the frame of what a function returns',
    attributes: { 'tool.name': 't', 'tool.output': '{"outputs":"paid"}' },
    facts: { tool: { result: 'paid' } },
  },
  {
    name: 'a result that is an object without a text form is not carried',
    attributes: {
      'tool.name': 't',
      'tool.output': "status='success' result=<generator object run.<locals>.inner at 0x5602a45a49c0> error=None",
    },
    facts: { tool: { name: 't' } },
    absent: ['tool.result'],
  },
  {
    name: 'a result in the text of an execution with its status',
    attributes: { 'tool.name': 't', 'tool.output': "status='success' result={'slot': 7, 'packed': False} error=None images=None" },
    facts: { tool: { result: { slot: 7, packed: false } } },
    absent: ['tool.failed'],
  },
  {
    name: 'an execution whose status is a failure',
    attributes: { 'tool.name': 't', 'tool.output': "status='failure' result=None error='no such place'" },
    facts: { tool: { failed: { message: 'no such place' } } },
  },
  {
    name: 'a text that begins like one stays the result that it is',
    attributes: { 'tool.name': 't', 'tool.output': "status='open' since='Monday'" },
    facts: { tool: { result: "status='open' since='Monday'" } },
  },
  {
    name: 'the class before the name of a tool is none of it',
    span: { name: 'Tool.check_stock' },
    attributes: { 'acme.span.kind': 'tool' },
    facts: { tool: { name: 'check_stock' } },
  },
];

const usages: readonly Case[] = [
  {
    name: 'parts that were taken out of a side are added where the total includes them',
    attributes: {
      'acme.span.kind': 'llm',
      'acme.usage_details': '{"input":104,"input_cache_read":16,"output":23,"output_reasoning":4,"total":147}',
    },
    facts: { inputTokens: 120, outputTokens: 27 },
  },
  {
    name: 'parts that are within a side are not added',
    attributes: { 'acme.span.kind': 'llm', 'acme.usage_details': '{"input":120,"input_cache_read":16,"output":27,"total":147}' },
    facts: { inputTokens: 120, outputTokens: 27 },
  },
];

const models: readonly Case[] = [
  {
    name: 'flattened messages beside a model and tokens make a request without a kind',
    attributes: {
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'q',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': 'a',
      'acme.request.model': 'm',
      'llm.usage.prompt_tokens': 3,
      'llm.usage.completion_tokens': 4,
      'llm.usage.cache_read_input_tokens': 1,
    },
    facts: {
      role: 'model',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ text: 'a' }],
      model: 'm',
      inputTokens: 3,
      outputTokens: 4,
      cachedInputTokens: 1,
    },
  },
  {
    name: 'members of a message that repeat its name',
    attributes: { 'acme.span.kind': 'llm', 'llm.messages.0.message_role': 'user', 'llm.messages.0.message_content': 'q' },
    facts: { inputMessages: [{ role: 'user', text: 'q' }] },
  },
  {
    name: 'an answer that asks for a tool before an empty one',
    attributes: {
      'acme.span.kind': 'llm',
      'acme.output.messages.0.message.role': 'assistant',
      'output.value': '{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"t","arguments":"{}"}}]}}]}',
    },
    facts: { outputMessages: [{ requested: [{ id: 'c1', name: 't' }] }] },
  },
  {
    name: 'tools in many keys, whose schema is called arguments',
    attributes: {
      'acme.span.kind': 'llm',
      'acme.request.tools.0.name': 't',
      'acme.request.tools.0.description': 'does',
      'acme.request.tools.0.arguments': '{"type":"object","properties":{"q":{"type":"string"}}}',
    },
    facts: {
      toolDefinitions: [{ name: 't', description: 'does', inputSchema: { type: 'object', properties: { q: { type: 'string' } } } }],
    },
  },
  {
    name: 'tools among the parameters of the request',
    attributes: { 'acme.span.kind': 'llm', 'acme.request.parameters': '{"tools":[{"type":"function","function":{"name":"t"}}]}' },
    facts: { toolDefinitions: [{ name: 't' }] },
  },
  {
    name: 'tools among parameters of any name',
    attributes: { 'acme.span.kind': 'llm', 'acme.params': '{"temperature":0.2,"tools":[{"type":"function","function":{"name":"t"}}]}' },
    facts: { toolDefinitions: [{ name: 't' }] },
  },
  {
    name: 'a request and its answer member by member, in Python notation',
    attributes: {
      'acme.messages': "[{'role': 'user', 'content': 'q'}]",
      'acme.choices':
        "[{'index': 0, 'message': {'role': 'assistant', 'content': None, 'tool_calls': [{'id': 'c1', 'function': {'name': 't', 'arguments': '{}'}}]}}]",
      'acme.model': 'm',
      'acme.usage': "{'completion_tokens': 4, 'prompt_tokens': 3}",
    },
    facts: {
      role: 'model',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ requested: [{ id: 'c1', name: 't' }] }],
      model: 'm',
      inputTokens: 3,
      outputTokens: 4,
    },
  },
  {
    name: 'a tool under bare words, as spans of the OpenAI Agents SDK say what they hold',
    attributes: { type: 'function', name: 't', input: '{"x":1}', output: 'a' },
    facts: { role: 'tool', tool: { name: 't', arguments: { x: 1 }, result: 'a' } },
  },
  { name: 'an agent under bare words', attributes: { type: 'agent', name: 'a' }, facts: { role: 'agent', agentName: 'a' } },
  { name: 'a bare type that is none of an agent’s', attributes: { type: 'article', name: 'a' }, facts: {}, absent: ['role'] },
  {
    name: 'tools among the options beside the messages of a request',
    attributes: {
      'acme.span.kind': 'llm',
      'acme.input': '{"messages":[{"role":"user","content":"q"}],"kwargs":{"tools":[{"type":"function","function":{"name":"t"}}]}}',
    },
    facts: { toolDefinitions: [{ name: 't' }] },
  },
  {
    name: 'instructions beside the request',
    attributes: { 'acme.span.kind': 'llm', 'acme.system_prompt': 'Be kind.' },
    facts: { systemPrompt: 'Be kind.' },
  },
];

const zodObject = '{"def":{"type":"object","shape":{"q":{"def":{"type":"string"},"type":"string"}}},"type":"object"}';

/** Parts of an agent, on the agent's span. */
const offers: readonly Case[] = [
  {
    name: 'instructions and tools make an agent, whose class stands before its name',
    span: { name: 'AcmeGen > helper' },
    attributes: { signature_name: 'Be kind.', provided_functions: 'find,book_it' },
    facts: { role: 'agent', agentName: 'helper', systemPrompt: 'Be kind.', toolDefinitions: [{ name: 'find' }, { name: 'book_it' }] },
  },
  {
    name: 'empty instructions are ignored',
    attributes: { 'acme.kind': 'agent', signature_name: 'unnamed' },
    facts: { role: 'agent' },
    absent: ['systemPrompt'],
  },
  {
    name: 'a span that makes an agent is none',
    span: { name: 'acme.create_agent' },
    attributes: { 'acme.instructions': 'Be kind.', 'acme.tools': '[{"name":"find"}]' },
    facts: {},
    absent: ['role'],
  },
  {
    name: 'an unknown word means that instructions and tools belong to something else',
    attributes: { 'acme.operation.name': 'create_agent', 'acme.instructions': 'Be kind.', 'acme.tools': '[{"name":"find"}]' },
    facts: {},
    absent: ['role'],
  },
  ...['agent.stateSnapshot', 'acme.agent_config', 'agentDefinition', 'acme.agent.state'].map((key) => ({
    name: `${key} separates the agent's own instructions from a longer prompt, and its tools`,
    attributes: {
      'entity.type': 'agent',
      'agent.instructions': 'You supervise.\n<instructions>Be kind.</instructions>',
      [key]: `{"name":"helper","instructions":"Be kind.","tools":[{"name":"find","description":"finds","parameters":${zodObject}}]}`,
    },
    facts: {
      role: 'agent',
      systemPrompt: 'Be kind.',
      toolDefinitions: [{ name: 'find', description: 'finds', inputSchema: { type: 'object', properties: { q: { type: 'string' } } } }],
    },
  })),
  {
    name: 'the state of an agent in a word is not its description',
    attributes: { 'entity.type': 'agent', 'agent.state': 'completed' },
    facts: { role: 'agent' },
    absent: ['systemPrompt', 'toolDefinitions'],
  },
  ...['subagent:helper', 'sub_agent helper'].map((name) => ({
    name: `the span ${name} is about helper`,
    span: { name },
    attributes: { 'entity.type': 'agent' },
    facts: { agentName: 'helper' },
  })),
  {
    name: 'the sub-agent’s own name',
    attributes: { 'entity.type': 'agent', 'subagent.name': 'helper', 'agent.parent.name': 'boss' },
    facts: { agentName: 'helper', role: 'agent' },
  },
  ...['call_1', 'toolu_01AbC', 'tooluse_x-1', 'chatcmpl-tool-9'].flatMap((id) =>
    ['function.id', 'tool.id', 'acme.invocation_id'].map((key) => ({
      name: `${key} = ${id} has the form of a call's id`,
      attributes: { 'tool.name': 't', [key]: id },
      facts: { role: 'tool', tool: { id } },
    })),
  ),
  {
    name: 'an id of another form is none of a call',
    attributes: { 'tool.name': 't', 'function.id': 'shop-agent', 'tool.id': '17' },
    facts: { role: 'tool' },
    absent: ['tool.id'],
  },
  {
    name: 'a schema that Zod writes',
    attributes: { 'tool.name': 't', 'tool.parameters': zodObject, input: '{"q":"x"}' },
    facts: { tool: { arguments: { q: 'x' }, inputSchema: { type: 'object', properties: { q: { type: 'string' } } } } },
  },
];

describe('generic', () => {
  testCases(generic, [
    ...kinds,
    ...spanNames,
    ...silent,
    ...nearKinds,
    ...agents,
    ...tools,
    ...frameworks,
    ...framed,
    ...usages,
    ...models,
    ...offers,
  ]);

  test('generic: tokens in events, and the last one has the sum', () => {
    const one = span({
      id: 1,
      attributes: { 'acme.kind': 'llm' },
      events: [
        { name: 'acme.usage', attributes: { 'acme.usage.input_tokens': 7, 'acme.usage.output_tokens': 1 } },
        { name: 'acme.usage', attributes: { 'acme.usage.input_tokens': 7, 'acme.usage.output_tokens': 5 } },
      ],
    });
    expect(generic.read(one)).toMatchObject({ inputTokens: 7, outputTokens: 5 });
  });

  test('generic: events of messages without content have none', () => {
    const one = span({
      id: 1,
      attributes: { 'acme.kind': 'llm' },
      events: [{ name: 'gen_ai.system.message' }, { name: 'gen_ai.tool.message', attributes: { id: 'call_1' } }],
    });
    const { inputMessages = [] } = generic.read(one);
    expect(inputMessages.map(({ text }) => text)).toEqual(inputMessages.map(() => undefined));
    expect(inputMessages.flatMap(({ results }) => results).filter(({ result }) => result !== undefined)).toEqual([]);
  });

  test('generic: it reads nothing again that an earlier collector read', () => {
    const one = span({ id: 1, attributes: { 'gen_ai.operation.name': 'chat', 'input.value': 'q', 'output.value': 'a', 'x.model': 'm' } });
    const known = { role: 'model' as const, inputMessages: [], outputMessages: [], model: 'k', toolDefinitions: [], systemPrompt: '' };
    expect(generic.read(one, undefined, known)).toEqual({ role: 'model' });
  });

  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  const many = (key: (index: number) => string, value: string): Attributes =>
    Object.fromEntries([...Array(10_000).keys()].map((index) => [key(index), value]));
  test.each([
    ['many keys of tools', many((index) => `acme${index}.tool.name`, 'x')],
    ['many kinds', many((index) => `acme${index}.span.kind`, 'x')],
    ['many inputs that are deep JSON', { 'acme.span.kind': 'tool', ...many((index) => `a${index}.input`, deep) }],
    ['many usages', { 'acme.span.kind': 'llm', ...many((index) => `a${index}.usage`, '{}') }],
    ['many definitions', { 'acme.span.kind': 'llm', ...many((index) => `a${index}.tools`, '[]') }],
    ['many metadata', { 'acme.span.kind': 'agent', ...many((index) => `a${index}.metadata`, '{}') }],
    ['many schemas', { 'acme.span.kind': 'tool', ...many((index) => `a${index}.input_schema`, '{}') }],
    ['many outputs', { 'acme.span.kind': 'llm', ...many((index) => `a${index}.output`, '{"tools":[]}') }],
    ['many lists', { 'acme.span.kind': 'llm', ...many((index) => `a${index}.messages.0.role`, 'user') }],
    ['many items of a list', { 'acme.span.kind': 'llm', ...many((index) => `acme.messages.${index}.role`, 'user') }, 10_100],
    ['long keys', { 'acme.span.kind': 'llm', ...many((index) => `${'a.'.repeat(500)}${index}.input`, 'x') }],
    ['names of prototypes', { 'acme.span.kind': '__proto__', 'acme.constructor.kind': 'constructor', 'acme.tools.0.__proto__': 'x' }],
  ] as const)('generic: %s make it read a bounded number of values', (_name, attributes: Attributes, most: number = 200) => {
    const whole = span({ id: 1, attributes });
    let asked = 0;
    const counted = replaced(whole, {
      attribute: (key) => {
        asked += 1;
        return whole.attribute(key);
      },
      attributeKeys: () => whole.attributeKeys(),
    });
    expect(() => generic.read(counted)).not.toThrow();
    expect(asked).toBeLessThan(most);
  });

  test.each([
    ['a kind', { 'acme.span.kind': 'agent' }, true],
    ['a tool’s name', { toolName: 't' }, true],
    ['messages in many keys', { 'acme.messages.0.role': 'user' }, true],
    ['a web request', { 'http.request.method': 'GET', 'url.path': '/', 'server.address': 'x' }, false],
    ['a query to a database', { 'db.query.text': 'select', 'db.operation.name': 'SELECT' }, false],
    ['a message on a queue', { 'messaging.operation.name': 'send', 'messaging.destination.name': 'q' }, false],
  ] as const)('generic: whether %s is worth reading', (_name, attributes: Attributes, isWorth) => {
    expect(recognises(generic, span({ id: 1, attributes }))).toBe(isWorth);
  });
});
