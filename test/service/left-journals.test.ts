import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { onTestFinished, expect, test } from 'vitest';
import { openJournal } from '../../src/journals/index.ts';
import type { JournalRecord } from '../../src/journals/journal.ts';
import { JuryError } from '../../src/model/errors.ts';
import { tenant } from '../../src/model/ids.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import type { TakeRequest } from '../../src/receivers/read-request.ts';
import { takeLeftJournals } from '../../src/service/left-journals.ts';
import { agentSpan } from '../builders/gen-ai-spans.ts';
import { testParts } from '../journals/parts.ts';

const settings = { bytesMax: 1_000_000, waitingBytesMax: 1_000_000 };
const taken = { items: 1, ignored: 0, rejections: [], isEmpty: false };

function record(body: Buffer, contentEncoding = ''): JournalRecord {
  return { kind: 'traces', tenant: tenant('default'), contentType: 'application/x-protobuf', contentEncoding, body, receivedMs: 0 };
}

function spans(trace: number): Buffer {
  return writeTraces([agentSpan({ id: 1, trace, output: 'done' })], 'protobuf');
}

/** The folder of a journal with a former shard's folder in it. */
async function folderWith(records: readonly JournalRecord[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-shards-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'quarantine'));
  const journal = await openJournal({ scheme: 'disk', rest: join(folder, 'shard-1') }, settings, testParts());
  for (const one of records) await journal.append(one);
  await journal.stop();
  return folder;
}

async function take(folder: string, takes: TakeRequest) {
  return await takeLeftJournals({ folder, settings, deps: testParts(), inflatedBytesMax: 1_000_000, take: takes });
}

test('shards: the service takes the open requests of a former one, and its folder goes', async () => {
  const folder = await folderWith([record(spans(1)), record(gzipSync(spans(2)), 'gzip')]);
  const bodies: Buffer[] = [];
  const result = await take(folder, async ({ plain }) => {
    bodies.push(plain);
    return taken;
  });
  expect([result, bodies.map((body) => body.equals(spans(1)) || body.equals(spans(2))), readdirSync(folder)]).toEqual([
    { requests: 2, kept: [] },
    [true, true],
    ['quarantine'],
  ]);
});

test('shards: a service that is full is asked again', async () => {
  const folder = await folderWith([record(spans(1))]);
  let attempts = 0;
  const result = await take(folder, async () => {
    attempts++;
    if (attempts < 3) throw new JuryError('OVERLOADED', 'full');
    return taken;
  });
  expect([attempts, result.requests, readdirSync(folder)]).toEqual([3, 1, ['quarantine']]);
});

const untaken: readonly { readonly name: string; readonly body: JournalRecord; readonly reason: RegExp }[] = [
  { name: 'whose bytes are damaged', body: record(Buffer.from('no gzip'), 'gzip'), reason: /header/ },
  { name: 'that the service refuses for good', body: record(spans(2)), reason: /refused/ },
];
for (const { name, body, reason } of untaken) {
  test(`shards: a journal with a request ${name} is kept, and the others are taken`, async () => {
    const folder = await folderWith([body, record(spans(1))]);
    const { requests, kept } = await take(folder, async ({ plain }) => {
      if (plain.equals(spans(2))) throw new JuryError('INPUT_UNREADABLE', 'refused');
      return taken;
    });
    expect([requests, kept.map((one) => [one.folder, one.requests]), readdirSync(folder)]).toEqual([
      1,
      [[join(folder, 'shard-1.kept-1'), 1]],
      ['quarantine', 'shard-1.kept-1'],
    ]);
    expect(kept[0]?.reason).toMatch(reason);
    // The next start does not touch it.
    expect(await take(folder, async () => taken)).toEqual({ requests: 0, kept: [] });
  });
}

test('shards: records that a former journal has set aside are kept', async () => {
  const folder = await folderWith([record(spans(1))]);
  mkdirSync(join(folder, 'shard-1', 'quarantine'), { recursive: true });
  writeFileSync(join(folder, 'shard-1', 'quarantine', 'note.txt'), '');
  const { kept } = await take(folder, async () => taken);
  expect([kept, readdirSync(folder)]).toEqual([
    [{ folder: join(folder, 'shard-1.kept-1'), requests: 0 }],
    ['quarantine', 'shard-1.kept-1'],
  ]);
});
