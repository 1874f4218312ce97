/** A process under load is killed, again and again over the same folder. `TRACEJURY_KILL_TRIALS` asks for more than the few of a usual run. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { diskJournal } from '../../../src/journals/disk.ts';
import { seeded } from '../../builders/seeded.ts';
import { entriesIn, idOf, recordOf, testParts } from '../parts.ts';

const trials = Number(process.env['TRACEJURY_KILL_TRIALS'] ?? '4');
const millisecondsEach = 60_000;

test(`journal disk: ${trials} kills under load lose no acknowledged record`, { timeout: millisecondsEach * trials }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-kill-'));
  const chance = seeded(trials);
  const acknowledged = new Set<number>();
  let committed = 0;
  let first = 0;
  try {
    for (let trial = 0; trial < trials; trial++) {
      const told = await killed({ folder, first, afterAppends: 1 + chance.below(600) });
      expect(told.filter((line) => line.startsWith('!'))).toEqual([]);
      for (const id of idsOf(told, 'appended')) acknowledged.add(id);
      committed = Math.max(committed, ...idsOf(told, 'committed'));
      first = Math.max(first, ...acknowledged) + 1000;
      const parts = testParts(trial);
      const journal = await diskJournal({ folder, segmentBytes: 256 * 1024, bytesMax: 16 * 256 * 1024 }, parts);
      const entries = await entriesIn(journal);
      const ids = entries.map(({ record }) => idOf(record));
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      const there = new Set(ids);
      expect([...acknowledged].filter((id) => id >= committed && !there.has(id))).toEqual([]);
      for (const { record } of entries) expect(record.body.equals(recordOf(idOf(record), record.body.length).body)).toBe(true);
      expect(parts.count('tracejury.journal.corrupt')).toBe(0);
      await journal.stop();
    }
    expect(acknowledged.size).toBeGreaterThan(trials);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Everything the child said, also what was still in the pipe when it died. */
function killed({
  folder,
  first,
  afterAppends,
}: {
  readonly folder: string;
  readonly first: number;
  readonly afterAppends: number;
}): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts'), folder, String(first)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    let appends = 0;
    createInterface({ input: child.stdout })
      .on('line', (line) => {
        lines.push(line);
        if (line.startsWith('appended') && ++appends === afterAppends) child.kill('SIGKILL');
      })
      .on('close', () => resolve(lines));
    child.once('error', reject);
  });
}

function idsOf(lines: readonly string[], word: string): readonly number[] {
  return lines.filter((line) => /^\w+ \d+$/.test(line) && line.startsWith(`${word} `)).map((line) => Number(line.slice(word.length + 1)));
}
