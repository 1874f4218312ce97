/** A stop gives the folder to the next process only when the disk has everything. */
import { describe, expect, test } from 'vitest';
import type { FileLayer, OpenMode } from '../../../src/journals/disk/file-system.ts';
import { diskJournal } from '../../../src/journals/disk.ts';
import { appended, folder, idsIn, recordOf, smallSettings, testParts } from '../parts.ts';
import { simulatedDisk } from '../simulated-disk.ts';

/** Writes to files whose path ends so wait, once armed, until they are let go. */
function held(files: FileLayer, ending: string): { readonly files: FileLayer; hold(): void; letGo(): void; waiting(): number } {
  let gate: PromiseWithResolvers<void> | undefined;
  let waiting = 0;
  return {
    files: {
      ...files,
      async open(path: string, mode: OpenMode) {
        const file = await files.open(path, mode);
        if (!path.endsWith(ending)) return file;
        return {
          ...file,
          async write(buffers, offset) {
            waiting++;
            await gate?.promise;
            return file.write(buffers, offset);
          },
        };
      },
    },
    hold() {
      waiting = 0;
      gate = Promise.withResolvers();
    },
    letGo: () => gate?.resolve(),
    waiting: () => waiting,
  };
}

describe('journal disk, stop', () => {
  for (const ending of ['.segment', '/mark']) {
    test(`journal disk: a stop keeps the lock while a write to ${ending} is under way`, async () => {
      const disk = simulatedDisk();
      const parts = testParts();
      const { files, hold, letGo, waiting } = held(disk.files, ending);
      const journal = await diskJournal(smallSettings, parts, files);
      const first = await appended(journal, recordOf(1));
      for (let turn = 0; turn < 5; turn++) await parts.sleep(0);
      hold();
      const second = journal.append(recordOf(2));
      journal.commit(first);
      let stopped = false;
      const stopping = journal.stop().then(() => (stopped = true));
      for (let turn = 0; turn < 50; turn++) await parts.sleep(0);
      expect(waiting()).toBe(1);
      expect(stopped).toBe(false);
      await expect(disk.files.lock(folder)).rejects.toMatchObject({ code: 'JOURNAL_LOCKED' });
      letGo();
      await stopping;
      expect((await second).kind).toBe('appended');
      const next = await diskJournal(smallSettings, testParts(2), disk.files);
      expect(await idsIn(next)).toEqual([1, 2]);
    });
  }
});
