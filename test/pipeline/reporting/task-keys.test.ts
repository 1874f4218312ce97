import { expect, test } from 'vitest';
import type { Run } from '../../../src/model/agent-trace.ts';
import { noTenant, tenant } from '../../../src/model/ids.ts';
import { taskKeys, taskPath } from '../../../src/pipeline/reporting/task-keys.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';
import { span, type SpanData } from '../../builders/spans.ts';

const paths: readonly (readonly [text: string, want: object | undefined])[] = [
  ['input', { kind: 'input' }],
  ['attributes.task', { kind: 'attribute', key: 'task' }],
  ['attributes.gen_ai.task.name', { kind: 'attribute', key: 'gen_ai.task.name' }],
  ['attributes. ', { kind: 'attribute', key: ' ' }],
  ['attributes.', undefined],
  ['attributes', undefined],
  ['task', undefined],
  ['input.x', undefined],
  ['', undefined],
  [`attributes.${'k'.repeat(901)}`, undefined],
];
for (const [text, want] of paths)
  test(`task path: ${JSON.stringify(text.slice(0, 40))} is ${want === undefined ? 'none' : 'one'}`, () =>
    expect(taskPath(text)).toEqual(want));

const at = (data: Partial<SpanData>): ReturnType<typeof span> => span({ id: 1, ...data });
const runAt = (id: number, members: Partial<Run> = {}): Run => run({ traceId: at({}).traceId, spanId: at({ id }).spanId, ...members });
const task = (value: unknown): Pick<SpanData, 'attributes'> => ({ attributes: { task: value as string } });

const told: readonly {
  readonly name: string;
  readonly spans: readonly Partial<SpanData>[];
  readonly of?: Run;
  readonly want: string | undefined;
}[] = [
  {
    name: 'the agent’s own span',
    spans: [
      { id: 2, ...task('other') },
      { id: 1, ...task('book') },
    ],
    want: 'book',
  },
  { name: 'else another span of its trace', spans: [{ id: 2, ...task('book') }], want: 'book' },
  {
    name: 'agents of one trace may work on different tasks',
    spans: [
      { id: 1, ...task('a') },
      { id: 2, ...task('b') },
      { id: 3, ...task('c') },
    ],
    of: runAt(2),
    want: 'b',
  },
  {
    name: 'spans before the resource',
    spans: [{ id: 2, ...task('book') }],
    of: runAt(1, { resourceAttributes: { task: 'all' } }),
    want: 'book',
  },
  { name: 'else the resource', spans: [], of: runAt(1, { resourceAttributes: { task: 'all' } }), want: 'all' },
  { name: 'another trace has no effect', spans: [{ trace: 2, ...task('book') }], want: undefined },
  { name: 'another tenant has no effect', spans: [task('book')], of: runAt(1, { tenant: tenant('t') }), want: undefined },
  {
    name: 'a blank is not a task',
    spans: [
      { id: 1, ...task('  ') },
      { id: 2, ...task('book ') },
    ],
    want: 'book',
  },
  { name: 'a number is its text', spans: [task(7)], want: '7' },
  { name: 'a list is its JSON', spans: [task(['a', 1])], want: '["a",1]' },
  { name: 'bytes are none', spans: [task(new Uint8Array([1]))], want: undefined },
];
for (const { name, spans, of = runAt(1), want } of told) {
  test(`task keys: ${name}`, () => {
    const keys = taskKeys({ kind: 'attribute', key: 'task' });
    keys.spans(noTenant, spans.map(at));
    expect(keys.of(of)).toBe(want);
  });
}

test('task keys: long texts are cut and stay apart', () => {
  const keys = taskKeys({ kind: 'attribute', key: 'task' });
  const long = (last: string): string => keys.of(runAt(1, { resourceAttributes: { task: `${'x'.repeat(500)}${last}` } })) ?? '';
  expect(long('a')).toHaveLength(99);
  expect(long('a')).toBe(long('a'));
  expect(long('a')).not.toBe(long('b'));
});

test('task keys: an input is distinguished and never repeated', () => {
  const keys = taskKeys({ kind: 'input' });
  const of = (input?: string): string | undefined => keys.of(runAt(1, { trace: agentTrace(input === undefined ? {} : { input }) }));
  expect([of('My card is 4111'), of(' My card is 4111\n')]).toEqual(['input a29f985df7fb', 'input a29f985df7fb']);
  expect(of('Another')).not.toBe(of('My card is 4111'));
  expect([of(), of(' ')]).toEqual([undefined, undefined]);
});

test('task keys: beyond the bound the oldest trace is forgotten', () => {
  const keys = taskKeys({ kind: 'attribute', key: 'task' }, { tracesMax: 2 });
  const traces = [1, 2, 3].map((trace) => at({ trace, ...task(`t${trace}`) }));
  keys.spans(noTenant, traces);
  expect(traces.map(({ traceId }) => keys.of(runAt(1, { traceId })))).toEqual([undefined, 't2', 't3']);
});

test('task keys: beyond the bound a tenant forgets its own traces', () => {
  const keys = taskKeys({ kind: 'attribute', key: 'task' }, { tracesMax: 3 });
  const [flood, victim] = [tenant('flood'), tenant('victim')];
  keys.spans(victim, [at({ trace: 1, ...task('book') })]);
  for (let trace = 2; trace < 20; trace++) keys.spans(flood, [at({ trace, ...task('junk') })]);
  expect(keys.of(runAt(1, { tenant: victim, traceId: at({ trace: 1 }).traceId }))).toBe('book');
});
