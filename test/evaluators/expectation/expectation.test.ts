import { expect, test } from 'vitest';
import { readExpectation } from '../../../evaluators/expectation/expectation.ts';

test('expectation: the wire form is read into the model', () => {
  const wire = {
    tool_calls: [
      { name: 'a', arguments: { x: 1 }, tool_id: 't1' },
      { name: 'b', arguments: null },
    ],
    tool_outputs: [{ name: 'a', output: null }],
    tasks: ['do it'],
    constraints: 'soon',
    output: { y: 2 },
  };
  expect(readExpectation(wire)).toEqual({
    expectation: {
      toolCalls: [{ name: 'a', arguments: { x: 1 }, toolId: 't1' }, { name: 'b' }],
      toolOutputs: [{ name: 'a', output: null }],
      tasks: ['do it'],
      constraints: 'soon',
      output: { y: 2 },
    },
    faults: [],
  });
});

test('expectation: a context is a text or several', () => {
  expect([readExpectation({ context: 'a' }), readExpectation({ context: ['a', 'b'] })]).toEqual([
    { expectation: { context: ['a'] }, faults: [] },
    { expectation: { context: ['a', 'b'] }, faults: [] },
  ]);
});

test('expectation: an absent member expects nothing, an empty list expects nothing to happen', () => {
  expect(readExpectation({}).expectation).toEqual({});
  expect(readExpectation({ tool_calls: [] }).expectation).toEqual({ toolCalls: [] });
});

const faulty = [
  { name: 'something that is not an object', value: [], path: [] },
  { name: 'an unknown member', value: { tool_call: [] }, path: ['tool_call'] },
  { name: 'an inherited name', value: JSON.parse('{"__proto__": 1}') as {}, path: ['__proto__'] },
  { name: 'calls that are not a list', value: { tool_calls: {} }, path: ['tool_calls'] },
  { name: 'a call that is not an object', value: { tool_calls: ['a'] }, path: ['tool_calls', 0] },
  { name: 'an unknown member of a call', value: { tool_calls: [{ name: 'a', args: {} }] }, path: ['tool_calls', 0, 'args'] },
  { name: 'an output that is missing', value: { tool_outputs: [{ name: 'a' }] }, path: ['tool_outputs', 0, 'output'] },
  { name: 'a blank context', value: { context: ' ' }, path: ['context'] },
  { name: 'a context with a blank text', value: { context: ['a', ''] }, path: ['context', 1] },
  { name: 'a blank task', value: { tasks: ['a', ''] }, path: ['tasks', 1] },
] as const;
for (const { name, value, path } of faulty) {
  test(`expectation: ${name} is a fault at its path`, () => {
    expect(readExpectation(value as {}).faults.map((fault) => fault.path)).toEqual([path]);
  });
}

test('expectation: a member with a fault in it is left out whole, the others stay', () => {
  const { expectation } = readExpectation({ tool_calls: [{ name: 'a' }, { nam: 'b' }], tasks: ['x'] });
  expect(expectation).toEqual({ tasks: ['x'] });
});
