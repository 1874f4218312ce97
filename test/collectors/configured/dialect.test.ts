/** Entries of `dialects` as collectors. */
import { expect, test } from 'vitest';
import { recognises, type SpanFacts } from '../../../collectors/collector.ts';
import { configuredCollector } from '../../../collectors/configured/dialect.ts';
import { generic } from '../../../collectors/generic.ts';
import { dialectSettings } from '../../../src/config/entries/dialect-entry.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { spanReadingOf } from '../../../src/pipeline/assembly/span-facts.ts';
import { span, type Attributes, type SpanData } from '../../builders/spans.ts';
import { testCases, type Case } from '../cases.ts';

const acme = collectorOf({
  match: { scope: 'acme.*' },
  span: {
    agent: "kind = 'AGENT'",
    tool: "kind = 'ACTION'",
    model: "kind = 'LLM'",
    retriever: 'exists(found)',
    step: "span.name = 'plan'",
    workflow: "kind != 'NOTHING'",
  },
  read: {
    'tool.name': 'attributes.action',
    'tool.arguments': 'json(attributes.payload).args',
    'tool.result': 'attributes.result',
    'tool.call_id': 'json(attributes.payload).ids[0]',
    'tool.error': 'attributes.fault',
    'tool.definitions': 'attributes.tools',
    'agent.name': 'attributes.who',
    input: 'attributes.ask',
    output: 'attributes.reply',
    input_messages: 'attributes.heard',
    output_messages: 'attributes.spoken',
    system_prompt: 'attributes.rules',
    model: 'attributes.engine',
    input_tokens: 'json(attributes.usage).in',
    output_tokens: 'json(attributes.usage).out',
    session_id: 'attributes.talk',
  },
});

const cases: readonly Case[] = [
  {
    name: 'an agent',
    attributes: { kind: 'AGENT', who: 'travel', ask: 'q', reply: 'a', talk: 's1', rules: 'be kind' },
    facts: { role: 'agent', agentName: 'travel', input: 'q', output: 'a', sessionId: 's1', systemPrompt: 'be kind' },
    absent: ['agentNameIsGuess', 'tool'],
  },
  {
    name: 'an agent without a name has its span’s until another span knows better',
    span: { name: 'run' },
    attributes: { kind: 'AGENT' },
    facts: { role: 'agent', agentName: 'run', agentNameIsGuess: true },
    absent: ['input', 'output', 'sessionId'],
  },
  {
    name: 'a tool call out of one payload, its result unwrapped',
    attributes: {
      kind: 'ACTION',
      action: 'search',
      payload: '{"args": {"x": 1}, "ids": ["c1"]}',
      result: `content='{"r": 1}' name='search' tool_call_id='c9'`,
    },
    facts: { role: 'tool', tool: { name: 'search', id: 'c1', arguments: { x: 1 }, result: { r: 1 } } },
    absent: ['tool.failed'],
  },
  {
    name: 'arguments that are JSON within JSON, and a payload in Python’s notation',
    attributes: { kind: 'ACTION', action: 't', payload: `{'args': '{"x": 2}', 'ids': []}` },
    facts: { tool: { name: 't', arguments: { x: 2 } } },
    absent: ['tool.id', 'tool.result'],
  },
  {
    name: 'a tool call falls back on its span’s name, input and output',
    span: { name: 'book' },
    attributes: { kind: 'ACTION', ask: '{"x": 3}', reply: '7' },
    facts: { tool: { name: 'book', arguments: { x: 3 }, result: '7' } },
  },
  { name: 'a failed tool', attributes: { kind: 'ACTION', fault: 'no seat' }, facts: { tool: { failed: { message: 'no seat' } } } },
  {
    name: 'a payload that is not an object is ignored',
    attributes: { kind: 'ACTION', payload: '[1' },
    facts: { role: 'tool' },
    absent: ['tool.arguments', 'tool.id'],
  },
  {
    name: 'a request to a model',
    attributes: {
      kind: 'LLM',
      heard: '[{"role": "user", "content": "q"}]',
      spoken: '{"role": "assistant", "content": "a"}',
      engine: 'm1',
      usage: '{"in": 3, "out": "4"}',
      tools: '[{"name": "search", "description": "finds", "parameters": {"type": "object"}}]',
    },
    facts: {
      role: 'model',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ role: 'assistant', text: 'a' }],
      model: 'm1',
      inputTokens: 3,
      outputTokens: 4,
      toolDefinitions: [{ name: 'search' }],
    },
  },
  { name: 'absent tokens are unknown', attributes: { kind: 'LLM', usage: '{}' }, facts: {}, absent: ['inputTokens', 'outputTokens'] },
  { name: 'of two conditions that hold the earlier role counts', attributes: { kind: 'AGENT', found: '[]' }, facts: { role: 'agent' } },
  { name: 'an attribute that is there', attributes: { found: '[]' }, facts: { role: 'retriever' } },
  { name: 'any other kind', attributes: { kind: 'FLOW' }, facts: { role: 'workflow' } },
  { name: 'the name of a span', span: { name: 'plan' }, attributes: { kind: 'NOTHING' }, facts: { role: 'step' } },
  { name: 'a span without the attribute is not a different one', attributes: { talk: 's' }, facts: { sessionId: 's' }, absent: ['role'] },
];
testCases(acme, cases, { scope: 'acme.agents' });

/** Content in flattened lists and in events. */
const spread = collectorOf({
  match: { scope: 'acme.*' },
  span: { model: "sort = 'LLM'", tool: "exists(events['tool.started'])", agent: "events['began'].attributes.of = 'agent'" },
  read: {
    'tool.name': "events['tool.started'].attributes.tool",
    'tool.arguments': "json(events['tool.started'].attributes.call).args",
    'tool.result': "events['tool.ended'].attributes.result",
    'tool.definitions': 'list(attributes.acme.tools)',
    input: "list(events['turn'])[0].content",
    input_messages: 'list(attributes.acme.prompt)',
    output_messages: "list(events['said'])",
    model: 'list(attributes.acme.engines)[1].name',
    system_prompt: "list(events['began'].attributes.rules)[0]",
  },
});
testCases(
  spread,
  [
    {
      name: 'messages and tools that are flattened into keys',
      attributes: {
        sort: 'LLM',
        'acme.prompt.0.role': 'user',
        'acme.prompt.0.content': 'q',
        'acme.prompt.1.role': 'assistant',
        'acme.prompt.1.tool_calls.0.id': 'c1',
        'acme.prompt.1.tool_calls.0.name': 'search',
        'acme.prompt.1.tool_calls.0.arguments': '{"x":1}',
        'acme.tools.0.name': 'search',
        'acme.tools.0.description': 'finds',
        'acme.engines.0.name': 'm0',
        'acme.engines.1.name': 'm1',
      },
      span: { events: [{ name: 'said', attributes: { content: 'a' } }] },
      facts: {
        role: 'model',
        inputMessages: [
          { role: 'user', text: 'q' },
          { role: 'assistant', requested: [{ id: 'c1', name: 'search', arguments: { x: 1 } }] },
        ],
        outputMessages: [{ role: 'assistant', text: 'a' }],
        toolDefinitions: [{ name: 'search', description: 'finds' }],
        model: 'm1',
      },
    },
    {
      name: 'a message below a member of its item',
      attributes: { sort: 'LLM', 'acme.prompt.0.message.role': 'user', 'acme.prompt.0.message.content': 'q' },
      facts: { inputMessages: [{ role: 'user', text: 'q' }] },
      absent: ['outputMessages', 'model', 'toolDefinitions'],
    },
    {
      name: 'a tool that is only in its events',
      span: {
        events: [
          { name: 'log', attributes: { tool: 'other' } },
          { name: 'tool.started', attributes: { tool: 'search', call: '{"args": {"x": 1}}' } },
          { name: 'tool.ended' },
          { name: 'tool.ended', attributes: { result: '{"r": 2}' } },
        ],
      },
      facts: { role: 'tool', tool: { name: 'search', arguments: { x: 1 }, result: { r: 2 } } },
    },
    {
      name: 'an agent that an event names, with a list in its attributes',
      span: {
        events: [
          { name: 'began', attributes: { of: 'agent', 'rules.0': 'be kind' } },
          { name: 'turn', attributes: { content: 'first' } },
          { name: 'turn', attributes: { content: 'second' } },
        ],
      },
      facts: { role: 'agent', input: 'first', systemPrompt: 'be kind' },
    },
    { name: 'a span without the events', facts: {}, absent: ['role', 'input', 'tool'] },
  ],
  { scope: 'acme.agents' },
);

test('configured dialects: the keys of a flattened list are wanted by their prefix', () => {
  expect(spread.wants).toEqual({ keys: ['sort'], prefixes: ['acme.tools.', 'acme.prompt.', 'acme.engines.'] });
});

test('configured dialects: a span’s role shows whether it is an agent’s without reading it', () => {
  const isAgents = (kind: string): boolean | undefined => acme.isAgents?.(span({ id: 1, attributes: { kind } }));
  expect([isAgents('AGENT'), isAgents('FLOW'), isAgents('LLM'), isAgents('NOTHING')]).toEqual([true, true, false, undefined]);
});

test('configured dialects: a collector looks at the keys that it wants, and at no others', () => {
  const looked = new Set<string>();
  for (const { span: data, attributes } of cases) {
    const one = span({ id: 1, ...data, attributes: attributes ?? {} });
    acme.read({
      ...one,
      attribute(key) {
        looked.add(key);
        return one.attribute(key);
      },
    });
  }
  expect([...looked].toSorted()).toEqual([...acme.wants.keys].toSorted());
});

const matches: readonly (readonly [match: JsonObject, data: Omit<SpanData, 'id'>, want: boolean])[] = [
  [{ scope: 'acme' }, { scope: 'acme' }, true],
  [{ scope: 'acme' }, { scope: 'acme.agents' }, false],
  [{ scope: 'acme.*' }, { scope: 'acme.agents' }, true],
  [{ scope: 'acme.*' }, { scope: 'acme' }, false],
  [{ scope: '*.acme.*s' }, { scope: 'com.acme.tools' }, true],
  [{ scope: '*.acme.*s' }, { scope: 'com.acme.tool' }, false],
  [{ scope: 'ab*ba' }, { scope: 'aba' }, false],
  [{ scope: 'a*b*b' }, { scope: 'ab' }, false],
  [{ keys: ['kind'] }, { attributes: { kind: 1 } }, true],
  [{ keys: ['kind'] }, { attributes: { kinds: 1 } }, false],
  [{ key_prefixes: ['acme.'] }, { attributes: { 'acme.x': 1 } }, true],
  [{ scope: 'other', keys: ['kind'] }, { scope: 'acme', attributes: { kind: 1 } }, true],
];
for (const [match, data, want] of matches)
  test(`configured dialects: ${JSON.stringify(match)} and ${JSON.stringify(data)}`, () => {
    expect(recognises(collectorOf({ match }), span({ id: 1, ...data }))).toBe(want);
  });

test.each([
  ['nothing', {}, { input: 'q', output: 'a', systemPrompt: 'be kind' }, []],
  ['an input', { input: 'none' }, { output: 'a', systemPrompt: 'be kind' }, ['input', 'inputDump']],
  ['instructions', { system_prompt: 'none' }, { input: 'q' }, ['systemPrompt']],
] as const)('dialect: an entry that puts %s nowhere', (_what, read, told, absent) => {
  const reading = readingOf(read, { 'acme.span.kind': 'AGENT', 'acme.input': 'q', 'acme.output': 'a', 'acme.system_prompt': 'be kind' });
  expect(reading).toMatchObject({ role: 'agent', ...told });
  for (const member of absent) expect(reading).not.toHaveProperty(member);
});

test.each([
  ['tool.arguments', ['arguments', 'argumentsText', 'argumentsPart'], { result: '2' }],
  ['tool.result', ['result', 'resultPart'], { arguments: { x: 1 } }],
  ['tool.call_id', ['id'], { result: '2' }],
] as const)('dialect: a tool whose %s is nowhere', (field, absent, told) => {
  const { tool } = readingOf(
    { [field]: 'none' },
    { 'acme.span.kind': 'TOOL', 'acme.tool.name': 't', 'acme.tool.call.id': 'c1', 'acme.input': '{"x":1}', 'acme.output': '2' },
  );
  expect(tool).toMatchObject({ name: 't', ...told });
  for (const member of absent) expect(tool).not.toHaveProperty(member);
});

function readingOf(read: JsonObject, attributes: Attributes): SpanFacts {
  const own = collectorOf({ match: { key_prefixes: ['acme.'] }, span: { step: "span.name = 'never'" }, read });
  return spanReadingOf({ collectors: [own, generic], records: new Map() }, span({ id: 1, attributes })).facts;
}

function collectorOf(entry: JsonObject): ReturnType<typeof configuredCollector> {
  const [settings] = dialectSettings([{ name: 'acme', ...entry }]);
  if (settings === undefined) throw new Error('no settings');
  return configuredCollector(settings);
}
