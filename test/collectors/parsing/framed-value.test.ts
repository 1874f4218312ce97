/** Values in frames that SDKs put around any value, as the reader by evidence reads them. */
import { describe } from 'vitest';
import { generic } from '../../../collectors/generic.ts';
import { testCases, type Case } from '../cases.ts';

const framed: readonly Case[] = [
  {
    name: 'the second form of a tool is a tool, and what is kept beside its output is left out',
    span: { name: 'find' },
    attributes: { 'acme:subtype': 'tool.v2', 'acme:input': '{"x":1}', 'acme:output': '{"output":{"r":1}}' },
    facts: { role: 'tool', tool: { name: 'find', arguments: { x: 1 }, result: { r: 1 } } },
  },
  {
    name: 'a result with an output among others is whole',
    attributes: { 'acme.kind': 'tool', 'acme.output': '{"output":"x","code":0}' },
    facts: { tool: { result: { output: 'x', code: 0 } } },
  },
];

describe('framed-value', () => {
  testCases(generic, framed);
});
