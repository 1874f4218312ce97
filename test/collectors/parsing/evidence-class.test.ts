/** How the reader by evidence says that it knows what it tells. */
import { expect, test } from 'vitest';
import { generic } from '../../../collectors/generic.ts';
import type { SpanFacts } from '../../../collectors/collector.ts';
import type { SpanEvidence } from '../../../src/model/evidence.ts';
import { span, type Attributes } from '../../builders/spans.ts';

const cases: readonly (readonly [name: string, attributes: Attributes, want: SpanEvidence, before?: SpanFacts])[] = [
  [
    'a kind and keys of several words',
    { 'acme.span.kind': 'agent', 'acme.agent.name': 'travel', 'acme.input.value': 'q', 'acme.output.value': 'a' },
    { agentName: 'kind_and_key', input: 'kind_and_key', output: 'kind_and_key' },
  ],
  [
    'a kind and keys of one word, without a name',
    { 'acme.span.kind': 'agent', 'acme.input': 'q', 'acme.output': 'a' },
    { agentName: 'guess', input: 'ending', output: 'ending' },
  ],
  ['a tool by its keys alone', { 'acme.tool.name': 'search', 'acme.tool.args': '{"x":1}' }, { tool: 'key' }],
  ['a tool whose result stands under one word', { 'acme.tool.name': 'search', 'acme.result': '2' }, { tool: 'ending' }],
  ['a tool that has only its span’s name', { kind: 'tool', 'acme.tool.args': '{"x":1}' }, { tool: 'guess' }],
  [
    'a request whose messages are a flattened list',
    { 'acme.span.kind': 'llm', 'acme.messages.0.role': 'user', 'acme.messages.0.content': 'q' },
    { model: 'shape' },
  ],
  [
    'what others told is not its',
    { 'acme.span.kind': 'agent', 'acme.agent.name': 'travel', 'acme.input.value': 'q' },
    { agentName: 'kind_and_key' },
    { role: 'agent', input: 'told' },
  ],
];
for (const [name, attributes, want, before = {}] of cases)
  test(`evidence: ${name}`, () => {
    const one = span({ id: 1, name: 'do', attributes });
    expect(generic.evidenceOf?.(one, generic.read(one, undefined, before), before)).toEqual(want);
  });
