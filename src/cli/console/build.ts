/** Builds `src/console` into `dist/console`. */
import { join } from 'node:path';

/** Takes about a second. Rejects with what is wrong in the sources, or when Vite is not installed. `into`: another folder. */
export async function build(top: string, into = join(top, 'dist/console')): Promise<void> {
  const vite = await import('vite');
  await vite.build({ configFile: join(top, 'vite.config.ts'), configLoader: 'native', logLevel: 'warn', build: { outDir: into } });
}
