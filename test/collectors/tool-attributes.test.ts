/** Plain spans: what each shape of `input.value` and `output.value` means. */
import { describe, expect, test } from 'vitest';
import type { SpanFacts, ToolFacts } from '../../collectors/collector.ts';
import { recognises } from '../../collectors/collector.ts';
import { toolAttributes } from '../../collectors/tool-attributes.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import { span, type Attributes } from '../builders/spans.ts';

const roles: readonly { readonly name: string; readonly attributes: Attributes; readonly facts: SpanFacts }[] = [
  { name: 'a span with a tool name is a tool', attributes: { 'tool.name': 't' }, facts: { role: 'tool', tool: { name: 't' } } },
  { name: 'an empty tool name is none', attributes: { 'tool.name': '', 'input.value': 'q' }, facts: { input: 'q' } },
  {
    name: 'a synthesized tool is a step',
    attributes: { 'tool.name': 't', 'tool.synthesized': true, 'session.id': 's' },
    facts: { role: 'step', sessionId: 's' },
  },
  {
    name: 'only `true` makes a tool synthesized',
    attributes: { 'tool.name': 't', 'tool.synthesized': 'true' },
    facts: { role: 'tool', tool: { name: 't' } },
  },
  {
    name: 'tool.id is the id of the tool, not of the call',
    attributes: { 'tool.name': 't', 'tool.id': 'i', 'tool.description': 'd' },
    facts: { role: 'tool', tool: { name: 't', toolId: 'i', description: 'd' } },
  },
  {
    name: 'a span with an agent name is an agent',
    attributes: { 'agent.name': 'a', 'session.id': 's', 'input.value': 'q', 'output.value': 'r' },
    facts: { role: 'agent', agentName: 'a', sessionId: 's', input: 'q', output: 'r' },
  },
  {
    name: 'a root without a name still has input and output',
    attributes: { 'input.value': { q: 1 }, 'output.value': ['r'] },
    facts: { input: '{"q":1}', output: ['r'] },
  },
  { name: 'large integers keep their digits', attributes: { 'input.value': [2n ** 60n] }, facts: { input: '[1152921504606846976]' } },
];

const inputs: readonly { readonly name: string; readonly value: AttributeValue; readonly facts: ToolFacts }[] = [
  { name: 'an object', value: { x: 1 }, facts: { arguments: { x: 1 } } },
  { name: 'JSON', value: '{"x":1}', facts: { arguments: { x: 1 } } },
  { name: 'Python notation', value: "{'x': 1, 'ok': True, 'v': None}", facts: { arguments: { x: 1, ok: true, v: null } } },
  { name: 'JSON in a JSON text', value: '"{\\"x\\":1}"', facts: { arguments: { x: 1 } } },
  { name: 'an empty text', value: '', facts: { arguments: {} } },
  { name: 'a list', value: '[1,2]', facts: { arguments: null, argumentsText: '[1,2]' } },
  { name: 'a list that is not a text', value: [1, 2], facts: { arguments: null, argumentsText: '[1,2]' } },
  { name: 'broken JSON', value: '{"x":', facts: { arguments: null, argumentsText: '{"x":' } },
  { name: 'a plain text', value: 'JFK', facts: { arguments: null, argumentsText: 'JFK' } },
  { name: 'a number', value: 5, facts: { arguments: null, argumentsText: '5' } },
  {
    name: 'an object with a member __proto__',
    value: '{"__proto__":{"x":1}}',
    facts: { arguments: JSON.parse('{"__proto__":{"x":1}}') as ToolFacts['arguments'] & object },
  },
];

const outputs: readonly { readonly name: string; readonly value: AttributeValue; readonly facts: Pick<ToolFacts, 'result' | 'failed'> }[] =
  [
    { name: 'an object without content is the output', value: '{"flights":["AF007"]}', facts: { result: { flights: ['AF007'] } } },
    { name: 'an object with content is its content', value: '{"content":"AF007"}', facts: { result: 'AF007' } },
    { name: 'content counts beside any other members', value: '{"content":"AF007","cost":3}', facts: { result: 'AF007' } },
    { name: 'content that holds JSON is read', value: '{"content":"{\\"a\\":1}"}', facts: { result: { a: 1 } } },
    { name: 'the message form of content', value: '{"type":"tool","content":"AF007","tool_call_id":"c1"}', facts: { result: 'AF007' } },
    { name: 'a list of text parts', value: '[{"type":"text","text":"AF"},{"type":"text","text":"007"}]', facts: { result: 'AF007' } },
    { name: 'content that is a list of text parts', value: '{"content":[{"type":"text","text":"AF007"}]}', facts: { result: 'AF007' } },
    { name: 'zero stays zero', value: '{"content":0}', facts: { result: 0 } },
    { name: 'false stays false', value: '{"content":false}', facts: { result: false } },
    { name: 'null stays null', value: '{"content":null}', facts: { result: null } },
    { name: 'an empty object stays one', value: '{"content":{}}', facts: { result: {} } },
    { name: 'an empty list stays one', value: '{"content":[]}', facts: { result: [] } },
    { name: 'an empty text stays one', value: '', facts: { result: '' } },
    { name: 'a plain list', value: '[1,"a"]', facts: { result: [1, 'a'] } },
    { name: 'a plain text', value: 'no hotel in Atlantis', facts: { result: 'no hotel in Atlantis' } },
    { name: 'a number as text stays a text', value: '42', facts: { result: '42' } },
    { name: 'a number', value: 42, facts: { result: 42 } },
    { name: 'a structured attribute', value: { content: { a: 1 } }, facts: { result: { a: 1 } } },
    { name: 'Python notation', value: "{'content': {'ok': True}}", facts: { result: { ok: true } } },
    { name: 'broken JSON stays unchanged', value: '{"content":', facts: { result: '{"content":' } },
    {
      name: 'a failed message',
      value: '{"type":"tool","content":"boom","tool_call_id":"c1","status":"error"}',
      facts: { result: 'boom', failed: { message: 'boom' } },
    },
    {
      name: 'an MCP result that failed',
      value: '{"content":[{"type":"text","text":"boom"}],"isError":true}',
      facts: { result: 'boom', failed: { message: 'boom' } },
    },
  ];

describe('tool_attributes', () => {
  for (const { name, attributes, facts } of roles)
    test(`tool_attributes: ${name}`, () => expect(toolAttributes.read(span({ id: 1, attributes }))).toEqual(facts));
  for (const { name, value, facts } of inputs)
    test(`tool_attributes: arguments as ${name}`, () =>
      expect(toolAttributes.read(span({ id: 1, attributes: { 'tool.name': 't', 'input.value': value } })).tool).toEqual({
        name: 't',
        ...facts,
      }));
  for (const { name, value, facts } of outputs)
    test(`tool_attributes: a result: ${name}`, () =>
      expect(toolAttributes.read(span({ id: 1, attributes: { 'tool.name': 't', 'output.value': value } })).tool).toEqual({
        name: 't',
        ...facts,
      }));

  test('tool_attributes: spans of OpenInference are left to their own collector', () => {
    expect(recognises(toolAttributes, span({ id: 1, attributes: { 'tool.name': 't' } }))).toBe(true);
    expect(recognises(toolAttributes, span({ id: 1, attributes: { 'tool.name': 't', 'openinference.span.kind': 'TOOL' } }))).toBe(false);
    expect(recognises(toolAttributes, span({ id: 1, attributes: { 'http.method': 'GET' } }))).toBe(false);
  });
});
