/** Bounds that leave a part of a span unread are named. */
import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { definitionsMax } from '../../../collectors/parsing/definitions.ts';
import { documentsMax } from '../../../collectors/parsing/documents.ts';
import { readLimits } from '../../../collectors/parsing/limits.ts';
import { messagesMax } from '../../../collectors/parsing/messages.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { spanReadingOf } from '../../../src/pipeline/assembly/span-facts.ts';
import { gathering } from '../../../src/pipeline/gathering/gatherer.ts';
import { metrics } from '../../../src/telemetry/metrics.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { span, type Attributes } from '../../builders/spans.ts';

const many = (count: number, item: (at: number) => unknown): string => JSON.stringify(Array.from({ length: count }, (_, at) => item(at)));
const keys = (count: number, key: (at: number) => string): Attributes =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [key(at), 'x']));

const cases: readonly (readonly [name: string, attributes: Attributes, want: readonly string[] | undefined])[] = [
  ['as many keys of a field as are read', { 'a.span.kind': 'tool', ...keys(15, (at) => `p${at}.tool.name`) }, undefined],
  ['more keys of a field', { 'a.span.kind': 'tool', ...keys(17, (at) => `p${at}.tool.name`) }, ['keys_per_field']],
  ['more flattened lists of a field', { 'a.span.kind': 'llm', ...keys(17, (at) => `p${at}.messages.0.content`) }, ['keys_per_field']],
  ['a longer key', { 'a.span.kind': 'tool', [`${'k'.repeat(200)}.input`]: 'x' }, ['key_length']],
  [
    'an item beyond those of a flattened list',
    { 'openinference.span.kind': 'LLM', 'llm.input_messages.0.message.content': 'q', 'llm.input_messages.5000.message.content': 'q' },
    ['flattened'],
  ],
  [
    'more messages',
    { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': many(messagesMax + 1, () => ({ role: 'user', content: 'q' })) },
    ['messages'],
  ],
  [
    'more tools',
    { 'gen_ai.operation.name': 'chat', 'gen_ai.tool.definitions': many(definitionsMax + 1, (at) => ({ name: `t${at}` })) },
    ['definitions'],
  ],
  [
    'more documents',
    { 'a.span.kind': 'retriever', 'a.output': many(documentsMax + 1, (at) => ({ id: String(at), content: 'x' })) },
    ['documents'],
  ],
  ['longer arguments', { 'a.span.kind': 'tool', 'a.tool.args': `{'x': '${'y'.repeat(1_000_000)}'}` }, ['text']],
];
for (const [name, attributes, want] of cases)
  test(`limits: ${name}`, () => {
    expect(spanReadingOf({ collectors, records: new Map() }, span({ id: 1, attributes })).limits).toEqual(want);
  });

test('limits: the metric names each of them', () => {
  for (const limit of Object.keys(readLimits)) expect(metrics['tracejury.runs.beyond_limit'].meaning).toContain(limit);
});

test('limits: a run that one of them has cut is counted once, by its name', () => {
  const telemetry = metricRegistry();
  const clock = manualClock();
  const gather = gathering({ collectors, clock, telemetry });
  const cut = { 'a.span.kind': 'agent', ...keys(17, (at) => `p${at}.agent.name`) };
  gather.addSpans(noTenant, [span({ id: 1, attributes: cut }), span({ id: 2, parent: 1, attributes: { ...cut, 'a.span.kind': 'tool' } })]);
  clock.advance(60_000);
  expect(gather.due()).toHaveLength(1);
  const counted = telemetry.snapshot().find(({ name }) => name === 'tracejury.runs.beyond_limit');
  expect(counted?.points).toMatchObject([{ labels: { 'tracejury.limit': 'keys_per_field' }, value: 1 }]);
});
