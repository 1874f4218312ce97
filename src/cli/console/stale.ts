/** Tells whether `dist/console` is up to date with `src/console`. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Inputs of the console's build, besides its sources. */
const settings: readonly string[] = ['vite.config.ts', 'package-lock.json'];

/** True when the built console is missing, or older than one of its sources. False where there are no sources. */
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
