/** The name of a process in the table of judge jobs. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileLayer } from '../journals/disk/file-system.ts';
import { nodeFiles } from '../journals/disk/node-files.ts';
import type { JournalAddress } from '../journals/index.ts';

/** Mode of every file in the folder of the journal. */
const fileMode = 0o600;
const OWNER = /^[0-9a-f]{32}$/;

/**
 * The name under which this process leases judge jobs. Only one process owns a journal folder, so its successor takes the name from there and
 * continues the leased jobs at once. Never rejects: under another name the process only waits until the old leases expire.
 */
export async function jobOwner({ scheme, rest }: JournalAddress, files: Pick<FileLayer, 'makeFolder'> = nodeFiles): Promise<string> {
  const fresh = randomBytes(16).toString('hex');
  if (scheme !== 'disk') return fresh;
  const file = join(rest, 'asker');
  const known = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (OWNER.test(known)) return known;
  // The journal that makes the folder may open later.
  await files.makeFolder(rest).catch(() => undefined);
  await writeFile(file, `${fresh}\n`, { mode: fileMode }).catch(() => undefined);
  return fresh;
}
