/** The last step of `npm run build`: builds the console of a checkout. `--when-stale`, before `npm start`: only when it is missing or old, and a fault ends nothing. */
import { join } from 'node:path';
import { build } from './build.ts';
import { isStale } from './stale.ts';

const top = join(import.meta.dirname, '../../..');
const isOptional = process.argv.includes('--when-stale');
try {
  if (!isOptional || isStale(top)) await build(top);
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    isOptional
      ? `The console cannot be built, so the service starts with what is there: ${why}\nnpm run build tries again.\n`
      : `The console cannot be built: ${why}\n`,
  );
  if (!isOptional) process.exitCode = 1;
}
