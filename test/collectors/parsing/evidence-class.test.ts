/** The certainty that the reader by evidence gives for its values. */
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
  ['a tool only by its keys', { 'acme.tool.name': 'search', 'acme.tool.args': '{"x":1}' }, { tool: 'key' }],
  ['a tool whose result has one word as key', { 'acme.tool.name': 'search', 'acme.result': '2' }, { tool: 'ending' }],
  ['a tool that has only its span’s name', { kind: 'tool', 'acme.tool.args': '{"x":1}' }, { tool: 'guess' }],
  [
    'a request whose messages are a flattened list',
    { 'acme.span.kind': 'llm', 'acme.messages.0.role': 'user', 'acme.messages.0.content': 'q' },
    { model: 'shape' },
  ],
  [
    'values of other readers are not its own',
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
