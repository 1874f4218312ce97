/**
 * Uses a journal until it is killed: replays what is there, then appends records with rising numbers and commits behind. Tells each
 * acknowledged number on a separate line, after the acknowledgement. Arguments: the folder, the first number.
 */
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { diskJournal } from '../../../src/journals/disk.ts';
import type { Position } from '../../../src/journals/journal.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { idOf, recordOf } from '../parts.ts';

const [folder = '', first = '0'] = process.argv.slice(2);
const segmentBytes = 256 * 1024;
const concurrency = 8;
/** Records behind the newest one that stay uncommitted: some segments are always pinned, and many are recycled. */
const keptBehind = 60;
const clock = { nowMs: () => performance.timeOrigin + performance.now() };
const journal = await diskJournal(
  { folder, segmentBytes, bytesMax: 16 * segmentBytes },
  {
    telemetry: noTelemetry,
    clock,
    sleep: async () => undefined,
    logger: { warn: (fields, message) => say(`! ${message} ${JSON.stringify(fields)}`) },
    randomBytes,
  },
);
for await (const { record } of journal.recover().entries) say(`replayed ${idOf(record)}`);

const behind: { readonly id: number; readonly position: Position }[] = [];
let next = Number(first);
await Promise.all(Array.from({ length: concurrency }, () => appendForEver()));

async function appendForEver(): Promise<never> {
  for (;;) {
    const id = next++;
    const outcome = await journal.append(recordOf(id, 100 + ((id * 7919) % 20_000)));
    if (outcome.kind === 'refused') {
      say(`! refused ${outcome.reason}`);
      continue;
    }
    say(`appended ${id}`);
    behind.push({ id, position: outcome.position });
    const oldest = behind.length > keptBehind ? behind.shift() : undefined;
    if (oldest === undefined) continue;
    // Reported before it is done: from here on the records below may be missing.
    say(`committed ${oldest.id}`);
    journal.commit(oldest.position);
  }
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}
