#!/usr/bin/env node
/** The `tracejury` program. */
import { readFileSync } from 'node:fs';
import { commands } from './commands/index.ts';
import { runCommandLine } from './run.ts';

/** Beside package.json both as source (src/cli) and as built (dist/src/cli). */
const packageFiles = ['../../package.json', '../../../package.json'] as const;

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runCommandLine({
  words: process.argv.slice(2),
  commands,
  version: version(),
  program: program(process.env['npm_lifecycle_event']),
  env: process.env,
  say: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
});

/** `script`: the npm script that runs the program; undefined when npm does not. */
function program(script: string | undefined): string {
  if (script === undefined) return 'tracejury';
  return import.meta.filename.endsWith('.ts') ? 'npm run tracejury --' : 'npx tracejury';
}

function version(): string {
  for (const file of packageFiles) {
    try {
      const { version: found } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as { readonly version?: string };
      if (found !== undefined) return found;
    } catch {
      continue;
    }
  }
  return 'unknown';
}
