import { describe, expect, test } from 'vitest';
import {
  groupKey,
  isEssential,
  keyOf,
  type TimelineSpan,
  waterfall,
  type WaterfallOptions,
} from '../../../../src/console/parts/run/waterfall.ts';

const trace = 'a'.repeat(32);

function at(ms: number): string {
  return new Date(1_767_225_600_000 + ms).toISOString().replace('Z', '000Z');
}

function span(id: string, parent: string | null, from: number, to: number, more: Partial<TimelineSpan> = {}): TimelineSpan {
  return {
    trace_id: trace,
    span_id: id,
    parent_span_id: parent,
    of_run: true,
    name: id,
    role: 'step',
    agent: null,
    tool: null,
    model: null,
    status: 'unset',
    started_at: at(from),
    ended_at: at(to),
    ...more,
  };
}

function listed(spans: readonly TimelineSpan[], options: WaterfallOptions<TimelineSpan> = {}): readonly string[] {
  return waterfall(spans, options).rows.map(
    ({ span: { span_id: id }, depth, note }) => `${'  '.repeat(depth)}${id}${note === undefined ? '' : ` ${note}`}`,
  );
}

test('rows stand below their parents, by start, with their place in the scale', () => {
  const spans = [span('tool', 'agent', 60, 80), span('agent', null, 0, 100), span('model', 'agent', 10, 50)];
  const { rows, fromMicros, toMicros } = waterfall(spans);
  expect(
    rows.map(({ span: { span_id: id }, depth, left, width, tookMicros, below }) => [id, depth, left, width, tookMicros, below]),
  ).toEqual([
    ['agent', 0, 0, 1, 100_000, 2],
    ['model', 1, 0.1, 0.4, 40_000, 0],
    ['tool', 1, 0.6, expect.closeTo(0.2), 20_000, 0],
  ]);
  expect(toMicros - fromMicros).toBe(100_000);
});

const odd: readonly (readonly [string, readonly TimelineSpan[], readonly string[]])[] = [
  ['a missing parent', [span('a', 'gone', 0, 10), span('b', 'a', 1, 2)], ['a parent_missing', '  b']],
  ['a span that is its own parent', [span('a', 'a', 0, 10)], ['a']],
  ['a circle of two', [span('a', 'b', 0, 10), span('b', 'a', 1, 2)], ['a parent_loop', '  b']],
  [
    'a circle beside a tree, with a separate branch',
    [span('root', null, 0, 10), span('x', 'z', 1, 2), span('y', 'x', 1, 2), span('z', 'y', 1, 2), span('leaf', 'y', 1, 2)],
    ['root', 'x parent_loop', '  y', '    z', '    leaf'],
  ],
  ['an end before its start', [span('a', null, 0, 10), span('b', 'a', 5, 2)], ['a', '  b ends_before_start']],
  ['a clock of another year', [span('a', null, 0, 10), span('b', 'a', -400 * 86_400_000, 4)], ['a', '  b outside_scale']],
  ['the same span twice', [span('a', null, 0, 10), span('a', null, 0, 10)], ['a']],
  ['a time that is none', [span('a', null, 0, 10), span('b', 'a', 1, 2, { started_at: 'never' })], ['a', '  b outside_scale']],
  ['nothing', [], []],
];
for (const [what, spans, wanted] of odd) test(`each span has one row: ${what}`, () => expect(listed(spans)).toEqual(wanted));

test('a wrong clock does not stretch the scale', () => {
  const { fromMicros, toMicros, rows } = waterfall([span('a', null, 0, 10), span('b', 'a', 86_400_000 * 400, 86_400_000 * 401)]);
  expect([toMicros - fromMicros, rows[1]?.left, rows[1]?.width]).toEqual([10_000, 1, 0]);
});

test('spans that are left out give their children to the nearest ancestor with a row', () => {
  const spans = [
    span('agent', null, 0, 100, { role: 'agent' }),
    span('step', 'agent', 0, 90),
    span('inner', 'step', 0, 80),
    span('model', 'inner', 10, 50, { role: 'model' }),
    span('broken', 'inner', 60, 70, { status: 'error' }),
  ];
  expect(listed(spans, { isShown: isEssential })).toEqual(['agent', '  model', '  broken']);
  expect(waterfall(spans, { isShown: isEssential }).hidden).toBe(2);
});

test('a closed row keeps the number of spans below it', () => {
  const spans = [span('agent', null, 0, 100), span('step', 'agent', 0, 90), span('inner', 'step', 0, 80)];
  const { rows } = waterfall(spans, { closed: new Set([keyOf({ trace_id: trace, span_id: 'step' })]) });
  expect(rows.map(({ span: { span_id: id }, below, isOpen }) => [id, below, isOpen])).toEqual([
    ['agent', 2, true],
    ['step', 1, false],
  ]);
});

describe('equal calls', () => {
  const calls = Array.from({ length: 30 }, (_, nth) =>
    span(`c${nth}`, 'agent', nth * 2, nth * 2 + 1, { role: 'tool', name: 'search', tool: 'search' }),
  );
  const spans = [span('agent', null, 0, 100, { role: 'agent' }), ...calls];

  test('become one row that spans their time', () => {
    const [, group] = waterfall(spans).rows;
    expect([group?.grouped, group?.left, group?.width]).toEqual([30, 0, expect.closeTo(0.59)]);
  });

  test('stand one by one when their group is open', () => {
    const key = groupKey({ key: keyOf({ trace_id: trace, span_id: 'c0' }) });
    expect(waterfall(spans, { openGroups: new Set([key]) }).rows).toHaveLength(31);
  });

  test.each([
    { which: 'that failed', found: waterfall(spans.map((one) => (one.span_id === 'c15' ? { ...one, status: 'error' } : one))) },
    { which: 'that has a row to itself', found: waterfall(spans, { apart: 'c15' }) },
  ])('do not hide one $which', ({ found }) => {
    expect(found.rows.map(({ span: { span_id: id }, grouped }) => [id, grouped])).toEqual([
      ['agent', undefined],
      ['c0', 15],
      ['c15', undefined],
      ['c16', 14],
    ]);
  });
});

test('calls at the same time are counted, and an agent below an agent is a sub-agent', () => {
  const spans = [
    span('agent', null, 0, 100, { role: 'agent' }),
    span('one', 'agent', 10, 30),
    span('two', 'agent', 20, 40),
    span('later', 'agent', 50, 60),
    span('helper', 'agent', 70, 90, { role: 'agent' }),
  ];
  expect(waterfall(spans).rows.map(({ span: { span_id: id }, parallel, isSubAgent }) => [id, parallel, isSubAgent])).toEqual([
    ['agent', 1, false],
    ['one', 2, false],
    ['two', 2, false],
    ['later', 1, false],
    ['helper', 1, true],
  ]);
});

test('a chain of 10,000 spans and 10,000 children have a row each', () => {
  const chain = Array.from({ length: 10_000 }, (_, nth) => span(`s${nth}`, nth === 0 ? null : `s${nth - 1}`, nth, 10_000));
  const wide = Array.from({ length: 10_000 }, (_, nth) => span(`w${nth}`, 's0', nth, nth + 1, { name: `w${nth}` }));
  const { rows } = waterfall([...chain, ...wide]);
  expect(rows).toHaveLength(20_000);
  expect(rows.some(({ depth }) => depth === 9_999)).toBe(true);
});
