/** Input and output of a run, from any dump of a framework. */
import { describe, expect, test } from 'vitest';
import { runInput, runOutput, type RunValue } from '../../../collectors/parsing/run-values.ts';
import type { AttributeValue } from '../../../src/model/span.ts';

interface Case {
  readonly name: string;
  readonly raw: AttributeValue | undefined;
  readonly value: string | undefined;
}

const lc = (kind: string, content: string) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'schema', 'messages', kind],
  kwargs: { content },
});

const inputs: readonly Case[] = [
  { name: 'a plain text', raw: 'q', value: 'q' },
  { name: 'a number', raw: 7, value: '7' },
  { name: 'a message', raw: '{"role":"user","content":"q"}', value: 'q' },
  {
    name: 'the last question of several',
    raw: '[{"role":"user","content":"old"},{"role":"assistant","content":"a"},{"role":"user","content":"q"}]',
    value: 'q',
  },
  {
    name: 'messages under their member',
    raw: '{"messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}],"model":"m"}',
    value: 'q',
  },
  { name: 'pairs of role and text', raw: '{"messages":[["user","q"]]}', value: 'q' },
  {
    name: 'LangChain’s constructors',
    raw: JSON.stringify({ messages: [[lc('SystemMessage', 's'), lc('HumanMessage', 'q')]] }),
    value: 'q',
  },
  { name: 'LangChain’s dictionaries', raw: '{"messages":[{"type":"human","content":"q"}]}', value: 'q' },
  { name: 'a structured attribute', raw: { messages: [{ role: 'user', content: 'q' }] }, value: 'q' },
  ...['task', 'input', 'query', 'question', 'prompt', 'user_input', 'user_message', 'message'].map((key): Case => ({
    name: `a member ${key} among others`,
    raw: JSON.stringify({ [key]: 'q', other: 1 }),
    value: 'q',
  })),
  { name: 'messages in a telling member', raw: '{"input":[{"role":"user","content":"q"}],"session":1}', value: 'q' },
  { name: 'the only argument of a function', raw: '{"city":"Paris"}', value: 'Paris' },
  ...['name', 'workflow_name', 'agentName', 'run-id'].map((key): Case => ({
    name: `the only member ${key} names the run`,
    raw: JSON.stringify({ [key]: 'Agent workflow' }),
    value: undefined,
  })),
  { name: 'one of several plain arguments', raw: '{"city":"Paris","nights":2}', value: undefined },
  { name: 'the only argument, when it is not a text', raw: '{"nights":2}', value: undefined },
  { name: 'a function’s frame with an argument by place', raw: '{"args":["q"],"kwargs":{}}', value: 'q' },
  { name: 'a function’s frame with arguments by name', raw: '{"args":[],"kwargs":{"question":"q","tenant":1}}', value: 'q' },
  { name: 'a function’s frame around messages', raw: '{"args":[[{"role":"user","content":"q"}]],"kwargs":{}}', value: 'q' },
  { name: 'DSPy’s frame', raw: '{"input_args":{"question":"q","tenant":1}}', value: 'q' },
  { name: 'a frame in a frame', raw: '{"inputs":{"args":[{"inputs":{"question":"q"}}],"kwargs":{}}}', value: 'q' },
  {
    name: 'frames deeper than anybody nests them',
    raw: JSON.stringify(Array.from({ length: 20 }).reduce<unknown>((inner) => ({ inputs: inner }), { question: 'q' })),
    value: undefined,
  },
  { name: 'Python notation', raw: "{'question': 'q', 'history': None}", value: 'q' },
  { name: 'a list of other things', raw: '["a","b"]', value: undefined },
];

const outputs: readonly Case[] = [
  { name: 'a plain text', raw: 'a', value: 'a' },
  {
    name: 'the last answer of a conversation',
    raw: '{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"old"},{"role":"assistant","content":"a"}]}',
    value: 'a',
  },
  {
    name: 'an answer behind the calls that led to it',
    raw: JSON.stringify({ messages: [lc('HumanMessage', 'q'), lc('AIMessage', ''), lc('ToolMessage', 'r'), lc('AIMessage', 'a')] }),
    value: 'a',
  },
  ...['raw', 'output', 'final_output', 'response', 'answer', 'result', 'text', 'content'].map((key): Case => ({
    name: `a member ${key} among others`,
    raw: JSON.stringify({ [key]: 'a', other: 1 }),
    value: 'a',
  })),
  { name: 'CrewAI’s raw text before everything else', raw: '{"text":"x","raw":"a","tasks_output":[]}', value: 'a' },
  { name: 'a frame around it', raw: '{"outputs":{"output":"a"}}', value: 'a' },
  { name: 'an object with one plain member', raw: '{"city":"Paris"}', value: undefined },
];

const nothing: readonly (AttributeValue | undefined)[] = [undefined, null, '', 'null'];
const hostile: readonly string[] = [
  '{"__proto__":{"question":"q"}}',
  '{"constructor":1}',
  '{"messages":7}',
  '{"messages":[[]]}',
  '{"args":[],"kwargs":[]}',
  `${'['.repeat(120)}${']'.repeat(120)}`,
];

describe('run values', () => {
  for (const { name, raw, value } of inputs) test(`run values: input: ${name}`, () => expect(runInput(raw).value).toBe(value));
  for (const { name, raw, value } of outputs) test(`run values: output: ${name}`, () => expect(runOutput(raw).value).toBe(value));

  test('run values: nothing is nothing', () => {
    expect(nothing.map(runInput)).toEqual(nothing.map(() => ({})));
  });

  test('run values: the text form of an object of Python’s is a dump, with any content', () => {
    const raw = "StopEvent(result=AgentOutput(response='a'))";
    expect(runOutput(raw)).toEqual<RunValue>({ dump: raw });
  });

  test('run values: what could not be taken apart is kept whole', () => {
    expect(runInput('{"nights":2}')).toEqual<RunValue>({ dump: '{"nights":2}' });
    expect(runOutput({ price: 10n ** 20n })).toEqual<RunValue>({ dump: '{"price":100000000000000000000}' });
  });

  test('run values: no shape makes it throw', () => {
    for (const raw of hostile) expect(() => [runInput(raw), runOutput(raw)]).not.toThrow();
  });
});
