#!/usr/bin/env node
/** The `tracejury` program. */
import { readFileSync } from 'node:fs';
import { commands } from './commands/index.ts';
import { runCommandLine } from './run.ts';

/** Beside package.json both as source (src/cli) and as built (dist/src/cli). */
const packageFiles = ['../../package.json', '../../../package.json'] as const;

// A reader that closes the pipe (`| head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runCommandLine({
  words: process.argv.slice(2),
  commands,
  version: version(),
  program: program(process.env),
  env: process.env,
  say: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
});

/** npm sets the name of its script and of the project: this checkout, or a project with the package. */
function program({ npm_lifecycle_event: script, npm_package_name: project }: NodeJS.ProcessEnv): string {
  if (script === undefined) return 'tracejury';
  return project === 'tracejury' && script !== 'npx' ? 'npm run tracejury --' : 'npx tracejury';
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
