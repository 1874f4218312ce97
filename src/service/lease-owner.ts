/**
 * As whom this process takes what waits for judges. Whoever has a journal's folder has it alone, so its successor there has the same name, and goes on at once with what the one before had
 * under way; a process without a folder is somebody else each time.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalAddress } from '../journals/index.ts';

/** As everything in the folder. */
const fileMode = 0o600;
const OWNER = /^[0-9a-f]{32}$/;

/** Once the folder is this process's. Never rejects: with another name it only has to wait until the leases of the one before are over. */
export async function jobOwner({ scheme, rest }: JournalAddress): Promise<string> {
  const fresh = randomBytes(16).toString('hex');
  if (scheme === 'memory') return fresh;
  const file = join(rest, 'asker');
  const known = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (OWNER.test(known)) return known;
  await writeFile(file, `${fresh}\n`, { mode: fileMode }).catch(() => undefined);
  return fresh;
}
