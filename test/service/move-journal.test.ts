/** The move of a journal's open requests into another one; the target here is a journal on the disk as well. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openJournal } from '../../src/journals/index.ts';
import { tenant } from '../../src/model/ids.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { moveJournal } from '../../src/service/move-journal.ts';
import { agentSpan } from '../builders/gen-ai-spans.ts';
import { testParts } from '../journals/parts.ts';

const limits = { journalBytes: 64_000_000, bodyBytes: 1_000_000, inflatedBytes: 8_000_000 };
const body = writeTraces([agentSpan({ id: 1, trace: 1, output: 'done' })], 'protobuf');

function top(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-move-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function journalWith(folder: string, ...bodies: readonly Buffer[]): Promise<void> {
  const journal = await openJournal({ scheme: 'disk', rest: folder }, { bytesMax: limits.journalBytes }, testParts());
  for (const one of bodies)
    await journal.append({
      kind: 'traces',
      tenant: tenant(''),
      contentType: 'application/x-protobuf',
      contentEncoding: '',
      body: one,
      receivedMs: 0,
    });
  await journal.stop();
}

const move = (from: string, to: string) => moveJournal(from, { journal: { scheme: 'disk', rest: to }, limits });

test('move journal: the requests of the service and of its shards go, and so does the folder', async () => {
  const folder = top();
  await journalWith(join(folder, 'old'), body);
  await journalWith(join(folder, 'old/shard-1'), body);
  expect(await move(join(folder, 'old'), join(folder, 'new'))).toEqual({ requests: 2, kept: [] });
  expect(readdirSync(folder)).toEqual(['new']);
});

test('move journal: a shard with a request that is refused stays, with the journal that it is in', async () => {
  const folder = top();
  await journalWith(join(folder, 'old'), body);
  await journalWith(join(folder, 'old/shard-1'), Buffer.from('no spans'));
  const { requests, kept } = await move(join(folder, 'old'), join(folder, 'new'));
  expect([requests, kept.map((one) => [one.folder, one.requests])]).toEqual([
    1,
    [
      [join(folder, 'old.kept-1/shard-1.kept-1'), 1],
      [join(folder, 'old.kept-1'), 0],
    ],
  ]);
  for (const { folder: left } of kept) expect(readdirSync(left)).not.toEqual([]);
});

test('move journal: a shard that an earlier start has kept stays as well', async () => {
  const folder = top();
  await journalWith(join(folder, 'old'), body);
  await journalWith(join(folder, 'old/shard-1.kept-1'), body);
  const { kept } = await move(`${join(folder, 'old')}/`, join(folder, 'new'));
  expect(kept.map((one) => one.folder)).toEqual([join(folder, 'old.kept-1')]);
  expect(readdirSync(join(folder, 'old.kept-1'))).toContain('shard-1.kept-1');
});

test('move journal: a folder that is not a journal stays', async () => {
  const folder = top();
  mkdirSync(join(folder, 'letters'));
  writeFileSync(join(folder, 'letters/one.txt'), 'dear');
  await expect(move(join(folder, 'letters'), join(folder, 'new'))).rejects.toThrow(/letters holds no journal/);
  expect(readdirSync(join(folder, 'letters'))).toEqual(['one.txt']);
});
