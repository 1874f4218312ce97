import { expect, test } from 'vitest';
import { partitionOf } from '../../../src/journals/kafka/partitioner.ts';
import {
  claimRecord,
  keyedRecords,
  movedRecord,
  noteRecord,
  requestIn,
  type KeyedRecord,
  type TopicRecord,
} from '../../../src/journals/kafka/requests.ts';
import type { Tenant, TraceId } from '../../../src/model/ids.ts';
import { traceKey } from '../../../src/pipeline/gathering/trace-table.ts';
import { encodingOf } from '../../../src/journals/records.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { agentSpan } from '../../builders/gen-ai-spans.ts';

const partitions = 6;
const spans = [1, 2, 3].map((trace) => agentSpan({ id: 1, trace, agent: 'finder' }));
const traceIds = spans.map(({ traceId }) => traceId);
const request = (encoding: 'json' | 'protobuf') => ({
  kind: 'traces' as const,
  tenant: 'team' as Tenant,
  receivedMs: 1_700_000_000_000,
  contentType: encoding === 'json' ? 'application/json' : 'application/x-protobuf',
  contentEncoding: '',
  body: Buffer.from(writeTraces(spans, encoding)),
});
const stored = ({ key, value, headers }: KeyedRecord): TopicRecord => ({ key: key ?? null, value, headers: [...headers] });
/** The request that a record brings. */
function requestOf(...given: Parameters<typeof requestIn>) {
  const arrived = requestIn(...given);
  if (arrived.kind !== 'request') throw new Error('it is not a request');
  return arrived;
}
const placed = (one: TopicRecord) => ({ partition: partitionOf(one.key ?? Buffer.alloc(0), partitions), partitions, nowMs: 5 });

test.each(['json', 'protobuf'] as const)(
  'kafka requests: a request in %s becomes a record a trace, and comes back with its tenant and time',
  async (encoding) => {
    const records = (await keyedRecords(request(encoding), 1_000_000)).map(stored);
    expect(records.map(({ key }) => key?.toString())).toEqual(traceIds);
    const back = records.map((one) => requestOf(one, placed(one)));
    expect(back.map(({ isKeyed }) => isKeyed)).toEqual([true, true, true]);
    for (const [at, { record }] of back.entries()) {
      expect(record).toMatchObject({ kind: 'traces', tenant: 'team', receivedMs: 1_700_000_000_000 });
      expect(readTraces(record.body, encoding).spans.map(({ traceId }) => traceId)).toEqual([traceIds[at]]);
    }
  },
);

test.each(['json', 'protobuf'] as const)(
  'kafka requests: traces with a resource each in %s carry only their own resource',
  async (encoding) => {
    const services = Array.from({ length: 100 }, (_, at) =>
      agentSpan({ id: 1, trace: at + 1, agent: 'finder', resource: { 'service.name': `service-${at}`, notes: 'x'.repeat(500) } }),
    );
    const body = writeTraces(services, encoding);
    const records = await keyedRecords({ ...request(encoding), body }, 1_000_000);
    expect(records).toHaveLength(100);
    expect(records.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(body.length * 4);
    const back = records.map(stored).map((one) => requestOf(one, placed(one)).record);
    expect(
      back.flatMap((one) => readTraces(one.body, encodingOf(one)).spans).map(({ resource }) => resource.attribute('service.name')),
    ).toEqual(services.map((_, at) => `service-${at}`));
  },
);

test('kafka requests: a resource that each of many traces repeats is refused before it fills the memory', async () => {
  const resource = { 'service.name': 'one', notes: 'x'.repeat(100_000) };
  const body = writeTraces(
    Array.from({ length: 100 }, (_, at) => agentSpan({ id: 1, trace: at + 1, agent: 'finder', resource })),
    'protobuf',
  );
  await expect(keyedRecords({ ...request('protobuf'), body }, 1_000_000)).rejects.toMatchObject({ code: 'OTLP_TOO_LARGE' });
});

test.each([
  ['a record as the Collector writes it with partition_traces_by_id', { one: true, key: 'own', shift: 0 }, true],
  ['a record without a key', { one: true, key: undefined, shift: 0 }, false],
  ['a record with several traces', { one: false, key: 'own', shift: 0 }, false],
  ['a record under the key of another trace', { one: true, key: 'other', shift: 0 }, false],
  ['a record in a partition that is not that of its key', { one: true, key: 'own', shift: 1 }, false],
] as const)('kafka requests: %s', (_, { one, key, shift }, isKeyed) => {
  const id = key === 'own' ? traceIds[0] : key === 'other' ? traceIds[1] : undefined;
  const record = {
    key: id === undefined ? null : Buffer.from(id),
    value: Buffer.from(writeTraces(one ? spans.slice(0, 1) : spans, 'protobuf')),
    headers: [],
  };
  const at = placed(record);
  const back = requestOf(record, { ...at, partition: (at.partition + shift) % partitions });
  expect(back).toMatchObject({ isKeyed, record: { kind: 'traces', tenant: '', receivedMs: 5 } });
});

test('kafka requests: bytes that are not a request are not gathered as the one trace of their key', () => {
  const record = { key: Buffer.from('x'), value: Buffer.from('no request'), headers: [] };
  expect(requestOf(record, placed(record)).isKeyed).toBe(false);
});

test('kafka requests: a part of a trace that moved is gathered in the partition that it was sent to', () => {
  const [span] = spans;
  const key = traceKey('team' as Tenant, spans[0]?.traceId as TraceId);
  for (const encoding of ['json', 'protobuf'] as const) {
    const bytes = Buffer.from(writeTraces(span === undefined ? [] : [span], encoding));
    const moved = movedRecord(key, { signal: 'traces', encoding, bytes }, { partition: 4, nowMs: 7, moves: 2 });
    expect(moved.partition).toBe(4);
    const back = requestOf(stored(moved), { partition: 4, partitions, nowMs: 9 });
    expect(back).toMatchObject({ isKeyed: true, key, moves: 2, record: { tenant: 'team', receivedMs: 7, isCopy: true } });
    expect(readTraces(back.record.body, encodingOf(back.record)).spans.map(({ traceId }) => traceId)).toEqual([span?.traceId]);
  }
});

test('kafka requests: a claim names its trace', () => {
  const key = traceKey('team' as Tenant, spans[0]?.traceId as TraceId);
  const record = claimRecord(key, { partition: 3, nowMs: 7 });
  expect(requestIn(stored(record), { partition: 3, partitions, nowMs: 9 })).toEqual({ kind: 'claim', key, sentMs: 7 });
});

test('kafka requests: tools of a note that another release wrote in other ways are left out', () => {
  const tools = [['search', { description: 'Searches.' }], [7, { description: 'x' }], ['lone'], ['text', 'x'], 'search'];
  const value = Buffer.from(JSON.stringify({ key: 'session', tools, isWanted: false }));
  const record = {
    ...noteRecord({ tenant: 'team' as Tenant, key: 'session', tools: [], isWanted: false }, { partition: 3, nowMs: 7 }),
    value,
  };
  expect(requestIn(stored(record), { partition: 3, partitions, nowMs: 9 })).toMatchObject({
    kind: 'note',
    note: { key: 'session', tools: [['search', { description: 'Searches.' }]] },
  });
});

test('kafka requests: a note of the tools of a session comes back unchanged', () => {
  const note = {
    tenant: 'team' as Tenant,
    key: 'session',
    tools: [
      ['search', { description: 'Searches.', inputSchema: { type: 'object' } }],
      ['buy', { description: null, inputSchema: undefined }],
    ],
    isWanted: true,
  } as const;
  const record = noteRecord(note, { partition: 3, nowMs: 7 });
  expect(requestIn(stored(record), { partition: 3, partitions, nowMs: 9 })).toEqual({ kind: 'note', note });
});
