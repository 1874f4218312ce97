/** Whether `dist/console` is what `src/console` says. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What the console is made of, besides its sources. */
const settings: readonly string[] = ['vite.config.ts', 'package-lock.json'];

/** True: the built console is missing, or older than a file or folder that it is made of. False where there are no sources. */
export function isStale(top: string): boolean {
  const sources = join(top, 'src/console');
  if (modifiedMs(sources) === undefined) return false;
  const built = modifiedMs(join(top, 'dist/console/index.html'));
  if (built === undefined) return true;
  // A folder is as new as the last file that came or went.
  const parts = readdirSync(sources, { recursive: true, encoding: 'utf8' }).map((name) => join(sources, name));
  return [sources, ...parts, ...settings.map((name) => join(top, name))].some((path) => (modifiedMs(path) ?? 0) > built);
}

/** `undefined` when there is no such file. */
function modifiedMs(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
