import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apiFaults, emptyForm, exampleOf, formOf } from '../../../../src/console/pages/datasets/example-form.ts';

const whole = {
  input: 'Where is A-1?',
  expect: { tool_calls: [{ name: 'find', arguments: { id: 'A-1' }, result: 'x' }], output: 'On its way.', context: ['a'] },
  tasks: ['find the order'],
  constraints: 'be short',
  tools: [{ name: 'find' }],
  tags: ['mail', 'two words'],
  split: 'test',
  evaluators: ['tool_error'],
  timeout_seconds: 1.5,
  metadata: { agent: 'shop' },
  review: 'draft',
};

describe('an example goes into the fields and back without a change', () => {
  test.each<[string, object]>([
    ['with all members', whole],
    ['with only an input', { input: 'x', review: 'reviewed' }],
    ['with a conversation as input', { input: [{ role: 'user', content: 'x' }], review: 'draft' }],
    ['with named inputs', { input: { city: 'Rome' }, review: 'reviewed' }],
    ['that expects no tool call', { input: 'x', expect: { tool_calls: [] }, review: 'reviewed' }],
    ['whose answer is not a text', { input: 'x', expect: { output: { city: 'Rome' } }, review: 'reviewed' }],
    ['whose calls are in no form that the list has', { input: 'x', expect: { tool_calls: [{ tool: 'find' }] }, review: 'reviewed' }],
    ['with calls of any arguments', { input: 'x', expect: { tool_calls: [{ name: 'find' }] }, review: 'reviewed' }],
  ])('%s', (_, example) => {
    const { example: back, faults } = exampleOf(formOf({ id: 'a', since: 3, origin: { by: 'ann' }, ...example }));
    expect([...faults]).toEqual([]);
    expect(back).toEqual(example);
  });

  test('with any texts', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((text) => text.trim() !== ''),
        fc.jsonValue(),
        (text, value) => {
          const own = JSON.parse(JSON.stringify(value)) as unknown;
          const example = { input: text, expect: { output: text, context: [own] }, metadata: { note: own }, review: 'reviewed' };
          expect(exampleOf(formOf(example)).example).toEqual(example);
        },
      ),
      { numRuns: 50 },
    );
  });
});

test.each<[string, object, string, RegExp]>([
  ['no input', { input: ' ' }, 'input', /needs an input/],
  ['an input that is not JSON', { input: '{', isJsonInput: true }, 'input', /not JSON/],
  ['a list without a call', { calls: 'listed' }, 'calls', /Add a call/],
  ['a call without a name', { calls: 'listed', callList: [{ name: ' ', arguments: '', rest: {} }] }, 'calls', /Call 1 needs the name/],
  [
    'arguments that are not JSON',
    { calls: 'listed', callList: [{ name: 'a', arguments: '{a:1}', rest: {} }] },
    'calls',
    /call 1 are not JSON/,
  ],
  ['expectations that are a list', { otherExpectation: '[1]' }, 'otherExpectation', /Write an object/],
  ['tools that are not JSON', { tools: 'x' }, 'tools', /not JSON/],
  ['a limit that is not a number', { timeout: 'soon' }, 'timeout', /above 0/],
  ['a limit of 0', { timeout: '0' }, 'timeout', /above 0/],
])('%s is a fault at its field', (_, given, field, says) => {
  const { faults } = exampleOf({ ...emptyForm, input: 'x', ...given });
  expect([...faults.keys()]).toEqual([field]);
  expect(faults.get(field as 'input')).toMatch(says);
});

test('choosing that calls are not checked keeps the list in the fields, and sends none', () => {
  const form = { ...formOf(whole), calls: 'unchecked' as const };
  expect(exampleOf(form).example).not.toHaveProperty('expect.tool_calls');
  expect(form.callList).toHaveLength(1);
});

test.each<[string, [string, string][]]>([
  ['example.input must be string.', [['input', 'must be string']]],
  ['example.expect.output must be string; or a list.', [['output', 'must be string; or a list']]],
  [
    'example.expect.tool_calls.1.name is missing; example.split must NOT have more than 200 characters; and 3 more.',
    [
      ['calls', 'Call 2: name is missing'],
      ['split', 'must NOT have more than 200 characters; and 3 more'],
    ],
  ],
  ['example.expect.context.0 must be string.', [['otherExpectation', 'context: 0 must be string']]],
  ['example.timeout_seconds must be <= 86400.', [['timeout', 'must be <= 86400']]],
  ['example.tags.3 must be string; example.tags.4 must be string.', [['tags', '3 must be string; 4 must be string']]],
  ['example must be object.', []],
  ['The example has changed in version 3.', []],
])('the faults of %j are at their fields', (message, want) => {
  expect([...apiFaults(message)]).toEqual(want);
});
