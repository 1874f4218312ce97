/** When a journal is tended, on rests that the test ends. */
import { expect, test } from 'vitest';
import { collectors } from '../../collectors/index.ts';
import { journalRunner } from '../../src/journals/journal-runner.ts';
import { gathering } from '../../src/pipeline/gathering/gatherer.ts';
import { noItems } from '../../src/model/watermark.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';
import { folder, recordOf, testParts } from './parts.ts';
import { simulatedDisk } from './simulated-disk.ts';

test('journal runner: while its disk is full it looks for room at its usual pace, although nothing comes', async () => {
  const [parts, sleep, rest] = [testParts(), manualSleep(), manualSleep()];
  let isFull = false;
  const { files } = simulatedDisk((operation) => (isFull && operation === 'write' ? { kind: 'error', code: 'ENOSPC' } : undefined));
  const gather = gathering({ collectors, clock: parts.clock, telemetry: parts.telemetry });
  const runner = journalRunner({
    address: { scheme: 'disk', rest: folder },
    settings: { bytesMax: 1_000_000, recordBytesMax: 10_000, waitingBytesMax: 100_000, memoryBytesMax: 100_000 },
    parts: { ...parts, sleep: sleep.sleep, files },
    rest: rest.sleep,
    flow: { spans: gather.addSpans, logs: gather.addRecords, references: gather.references, drop: gather.drop },
    watermarks: { delivered: () => noItems, stored: () => noItems, sent: () => noItems },
    inflatedBytesMax: 1_000_000,
  });
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await settled();
  };
  await runner.open();
  // The first round ends the replay.
  await sleep.wakeAll();
  await turns();
  expect(rest.asleep()).toBe(1);

  isFull = true;
  expect(await runner.checkpointer()?.spans(recordOf(2), [])).toMatchObject({ kind: 'refused', reason: 'disk_full' });
  await rest.wakeAll();
  await turns();
  expect([runner.fullFolder(), rest.asleep()]).toEqual([folder, 0]);

  isFull = false;
  parts.clock.advance(60_000);
  await sleep.wakeAll();
  await turns();
  expect([runner.fullFolder(), rest.asleep()]).toEqual([undefined, 1]);
  await runner.stop();
});
