import { expect, test } from 'vitest';
import { collectors } from '../../collectors/index.ts';
import type { RunKey } from '../../src/model/agent-trace.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { Span } from '../../src/model/span.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { readSpansMax, runReader, type TraceSource } from '../../src/web/run-reader.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';

const agent = agentSpan({ id: 1, trace: 1, start: 10, end: 100, agent: 'support' });
const tool = toolSpan({ id: 2, trace: 1, parent: 1, start: 30, end: 40, tool: 'find', call: 'c1', arguments: {}, result: 'x' });
const other = agentSpan({ id: 3, trace: 1, start: 0, end: 5, agent: 'other' });
const key: RunKey = { tenant: noTenant, traceId: agent.traceId, spanId: agent.spanId };

interface Stored {
  spans: readonly Span[];
  mark: string;
  bytes: number;
  fault: Error | undefined;
}

function readerOf(given: Partial<Stored> = {}) {
  const telemetry = metricRegistry();
  const stored: Stored = { spans: [other, tool, agent], mark: 'a', bytes: 100, fault: undefined, ...given };
  let loads = 0;
  const source = async (): Promise<TraceSource | undefined> =>
    stored.spans.length === 0
      ? undefined
      : {
          mark: stored.mark,
          spans: stored.spans.length,
          bytes: stored.bytes,
          async load() {
            loads++;
            if (stored.fault !== undefined) throw stored.fault;
            return { spans: stored.spans, records: [], isWhole: true };
          },
        };
  return {
    stored,
    read: runReader({ source, telemetry }).read,
    loads: () => loads,
    counted: () =>
      telemetry
        .snapshot()
        .filter(({ name }) => name === 'tracejury.console.runs_read')
        .flatMap(({ points }) => points.map((point) => [point.labels['tracejury.outcome'], point.kind === 'number' ? point.value : 0])),
  };
}

test('the spans of the run come first, by start, with what the collectors read of them', async () => {
  const { read } = readerOf();
  const found = await read(key, collectors);
  expect(found?.read.map(({ span }) => span)).toEqual([agent, tool, other]);
  expect(found?.read.map(({ reading: { facts } }) => facts.role)).toEqual(['agent', 'tool', 'agent']);
  expect(found?.own).toEqual(new Set([agent, tool]));
});

test('a run without stored spans has none', async () => {
  expect(await readerOf({ spans: [] }).read(key, collectors)).toBeUndefined();
});

test('requests for the same run read its spans once, also at the same time', async () => {
  const { read, loads, counted } = readerOf();
  const [one, another] = await Promise.all([read(key, collectors), read(key, collectors)]);
  expect(await read(key, collectors)).toBe(one);
  expect(another).toBe(one);
  expect(loads()).toBe(1);
  expect(counted()).toEqual([
    ['read', 1],
    ['cached', 2],
  ]);
});

test.each<readonly [string, (stored: Stored) => void, typeof collectors, number]>([
  ['spans came', (stored) => Object.assign(stored, { mark: 'b' }), collectors, 2],
  ['collectors changed', () => undefined, collectors.slice(1), 2],
  ['nothing changed', () => undefined, [...collectors], 1],
])('reads again when %s', async (_, change, now, expected) => {
  const { read, stored, loads } = readerOf();
  await read(key, collectors);
  change(stored);
  await read(key, now);
  expect(loads()).toBe(expected);
});

test('spans that are gone from the store are gone from the answer', async () => {
  const { read, stored } = readerOf();
  await read(key, collectors);
  stored.spans = [];
  expect(await read(key, collectors)).toBeUndefined();
});

test('a read that fails is tried again', async () => {
  const { read, stored } = readerOf({ fault: new Error('broken') });
  await expect(read(key, collectors)).rejects.toThrow('broken');
  stored.fault = undefined;
  expect((await read(key, collectors))?.read).toHaveLength(3);
});

test('a run that is too large for the memory is read each time', async () => {
  const { read, loads } = readerOf({ bytes: 10 * 1024 * 1024 });
  await read(key, collectors);
  await read(key, collectors);
  expect(loads()).toBe(2);
});

test('reads a bounded number of spans, those of the run first', async () => {
  const many = Array.from({ length: readSpansMax + 5 }, (_, at) => agentSpan({ id: at + 10, trace: 1, start: 0, end: 1, agent: 'other' }));
  const found = await readerOf({ spans: [...many, agent] }).read(key, collectors);
  expect([found?.read.length, found?.kept.spans.length]).toEqual([readSpansMax, readSpansMax + 6]);
  expect(found?.read[0]?.span).toBe(agent);
});
