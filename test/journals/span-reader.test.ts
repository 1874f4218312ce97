/** Spans out of the requests that brought them. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { JournalRecord, Position } from '../../src/journals/journal.ts';
import { readBack, type ReadBackOptions } from '../../src/journals/span-reader.ts';
import { noTenant, tenant } from '../../src/model/ids.ts';
import { unbundled } from '../../src/otlp/cut/bundle.ts';
import { runSteps } from '../../src/runtime/cooperative.ts';
import { writeLogsJson, writeTraces } from '../../src/otlp/write/write.ts';
import { span, record, traceId } from '../builders/spans.ts';

const base: Omit<JournalRecord, 'body'> = {
  kind: 'traces',
  tenant: noTenant,
  contentType: 'application/x-protobuf',
  contentEncoding: '',
  receivedMs: 0,
};

function journalOf(...records: readonly (JournalRecord | undefined)[]): ReadBackOptions & { readonly read: number[] } {
  const read: number[] = [];
  return {
    read,
    inflatedBytesMax: 1_000_000,
    journal: {
      async at(position: Position) {
        read.push(position);
        return records[position];
      },
    },
  };
}

const spansOf = (found: Awaited<ReturnType<typeof readBack>>): readonly (readonly string[])[] =>
  found.map(({ bundle }) => (bundle === undefined ? [] : runSteps(unbundled([bundle])).spans.map(({ name }) => name)));
const named = (trace: number, name: string, bytes = 0) =>
  span({ id: name.length * 1_000 + trace, trace, name, attributes: { text: 'x'.repeat(bytes) } });
const pb = (...names: readonly (readonly [number, string])[]): JournalRecord => ({
  ...base,
  body: writeTraces(
    names.map(([trace, name]) => named(trace, name)),
    'protobuf',
  ),
});

test('read back: a large trace in JSON comes back whole', async () => {
  const names = Array.from({ length: 250 }, (_, at) => 'x'.repeat(at + 1));
  const spans = names.map((name) => named(1, name));
  const journal = journalOf({ ...base, contentType: 'application/json', body: writeTraces([named(2, 'other'), ...spans], 'json') });
  const found = await readBack([{ keys: [traceId(1)], positions: [0] }], journal);
  expect(spansOf(found)).toEqual([names]);
  expect(found.map((one) => one.spans)).toEqual([250]);
});

test('read back: each request is read once, in order, and each trace gets its own spans, in any form', async () => {
  const zipped = gzipSync(writeTraces([named(1, 'ccc')], 'json'));
  const logs: JournalRecord = {
    ...base,
    kind: 'logs',
    contentType: 'application/json',
    body: writeLogsJson([record({ span: 5, trace: 1, event: 'gen_ai.choice', body: 'said' })]),
  };
  const journal = journalOf(
    pb([1, 'a'], [2, 'a']),
    { ...base, contentType: 'application/json', contentEncoding: 'gzip', body: zipped },
    logs,
    pb([2, 'bb'], [9, 'a']),
  );
  const found = await readBack(
    [
      { keys: [traceId(2)], positions: [0, 3] },
      { keys: [traceId(1)], positions: [0, 1, 2] },
      { keys: [traceId(3), traceId(9)], positions: [3] },
    ],
    journal,
  );
  expect(journal.read).toEqual([0, 1, 2, 3]);
  expect(spansOf(found)).toEqual([['a', 'bb'], ['a', 'ccc'], ['a']]);
  expect(found.map(({ spans, isWhole, isLater }) => [spans, isWhole, isLater])).toEqual([
    [2, true, false],
    [2, true, false],
    [1, true, false],
  ]);
  expect(runSteps(unbundled([found[1]?.bundle ?? Buffer.alloc(0)])).records.map((one) => one.body())).toEqual(['said']);
});

test('read back: nothing comes from a request of another tenant', async () => {
  const found = await readBack(
    [{ keys: [`${traceId(1)}team`], positions: [0, 1] }],
    journalOf(pb([1, 'a']), { ...pb([1, 'bb']), tenant: tenant('team') }),
  );
  expect(spansOf(found)).toEqual([['bb']]);
});

const broken: readonly { readonly name: string; readonly record: JournalRecord | undefined }[] = [
  { name: 'is gone', record: undefined },
  { name: 'is not a request', record: { ...base, body: Buffer.from('garbage') } },
  { name: 'cannot be inflated', record: { ...base, contentEncoding: 'gzip', body: Buffer.from('garbage') } },
  { name: 'inflates too far', record: { ...base, contentEncoding: 'gzip', body: gzipSync(Buffer.alloc(2_000_000)) } },
  { name: 'has an unknown encoding', record: { ...base, contentEncoding: 'br', body: Buffer.alloc(1) } },
];
for (const { name, record: one } of broken) {
  test(`read back: a trace with a request that ${name} is not whole, and has the rest`, async () => {
    const found = await readBack([{ keys: [traceId(1)], positions: [0, 1] }], journalOf(one, pb([1, 'a'])));
    expect([spansOf(found), found[0]?.isWhole]).toEqual([[['a']], false]);
  });
}

test('read back: what is too large is left out, and what finds no room beside others comes later', async () => {
  const large = (trace: number): JournalRecord => ({ ...base, body: writeTraces([named(trace, 'a', 1_000)], 'protobuf') });
  const traces = [1, 2, 3].map((trace, at) => ({ keys: [traceId(trace)], positions: [at] }));
  const journal = journalOf(large(1), large(2), large(3));
  const told = async (options: Partial<ReadBackOptions>) =>
    (await readBack(traces, { ...journal, ...options })).map(({ bundle, isLater }) => [bundle !== undefined, isLater]);
  expect(await told({ traceBytesMax: 500 })).toEqual([
    [false, false],
    [false, false],
    [false, false],
  ]);
  expect(await told({ bytesMax: 500 })).toEqual([
    [true, false],
    [false, true],
    [false, true],
  ]);
  expect(await told({ bytesMax: 2_500 })).toEqual([
    [true, false],
    [true, false],
    [false, true],
  ]);
});
