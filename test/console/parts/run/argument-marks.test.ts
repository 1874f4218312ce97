import { expect, test } from 'vitest';
import { argumentMarks, pathIn } from '../../../../src/console/parts/run/argument-marks.ts';

const sent = { order: { items: [{ price: '12' }] }, 'a.b': 1 };

const paths: readonly (readonly [string, readonly string[]])[] = [
  ['order', ['order']],
  ['order.items.0.price', ['order', 'items', '0', 'price']],
  ['order.items[0].price', ['order', 'items', '0', 'price']],
  ['a.b', ['a.b']],
  ['order.customer', ['order', 'customer']],
  ['order.items.7.price', ['order', 'items', '7.price']],
  ['__proto__.x', ['__proto__.x']],
];
for (const [text, wanted] of paths) test(`the path ${text}`, () => expect(pathIn(sent, text)).toEqual(wanted));

const validity = (problems: readonly object[]): object => ({ invalid: [{ index: 1, tool: 'buy', problems }] });

test('a fault of a schema check is at its member', () => {
  const details = validity([{ kind: 'wrong_type', parameter: 'order.items.0.price', message: 'must be number, not a string' }]);
  expect(argumentMarks([{ name: 'tool_call_validity', details }], 1, sent)).toEqual({
    marks: [{ path: ['order', 'items', '0', 'price'], message: 'must be number, not a string (tool_call_validity)' }],
    faults: [],
  });
});

test('faults of other calls are left out', () => {
  const details = validity([{ kind: 'wrong_type', parameter: 'order', message: 'x' }]);
  expect(argumentMarks([{ name: 'v', details }], 0, sent)).toEqual({ marks: [], faults: [] });
});

test('a required member that is absent is marked as missing, below what is there', () => {
  const details = validity([{ kind: 'missing_required', parameter: 'order.customer', message: 'order.customer is missing' }]);
  expect(argumentMarks([{ name: 'v', details }], 1, sent).marks).toEqual([
    { path: ['order', 'customer'], message: 'order.customer is missing (v)', isMissing: true },
  ]);
});

test('a fault that has no place among the arguments concerns the call', () => {
  const unknown = validity([{ kind: 'unknown_tool', message: 'no tool of this name is defined' }]);
  expect(argumentMarks([{ name: 'v', details: unknown }], 1, sent).faults).toEqual([
    { verdict: 'v', message: 'no tool of this name is defined' },
  ]);
  const deep = validity([{ kind: 'missing_required', parameter: 'nowhere.at.all', message: 'm' }]);
  expect(argumentMarks([{ name: 'v', details: deep }], 1, 'no object').faults).toEqual([{ verdict: '', message: 'm (v)' }]);
});

test('sources and judged arguments name members too', () => {
  const verdicts = [
    { name: 'sources', details: { ungrounded: [{ index: 1, tool: 'buy', paths: ['a.b'] }] } },
    { name: 'judge', details: { calls: [{ index: 1, wrong_arguments: ['order', 'size'] }] } },
  ];
  expect(argumentMarks(verdicts, 1, sent).marks).toEqual([
    { path: ['a.b'], message: 'no source in the conversation (sources)' },
    { path: ['order'], message: 'wrong or missing (judge)' },
    { path: ['size'], message: 'wrong or missing (judge)', isMissing: true },
  ]);
});

for (const details of [undefined, null, 'text', [1], { invalid: 'no list' }, { invalid: [null, 3, { index: 1, problems: 'none' }] }])
  test(`details of another form give no marks: ${JSON.stringify(details)}`, () => {
    expect(argumentMarks([{ name: 'v', details }], 1, sent)).toEqual({ marks: [], faults: [] });
  });
