import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { journals } from '../../src/journals/index.ts';
import { journalContract } from './contract.ts';
import { simulatedDisk } from './simulated-disk.ts';

journalContract('disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tracejury-journal-'));
  return {
    open: (settings, parts) => journals.disk({ ...settings, folder: join(folder, 'journal') }, parts),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
});

journalContract('disk, on a simulated disk', async () => {
  const disk = simulatedDisk();
  return { open: (settings, parts) => journals.disk(settings, parts, disk.files) };
});
