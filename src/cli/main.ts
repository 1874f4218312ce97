#!/usr/bin/env node
/** The `tracejury` program. */
import { commands } from './commands/index.ts';
import { packageVersion } from '../service/node-runtime.ts';
import { runCommandLine } from './run.ts';

const lingerMs = 5_000;

// A reader that closes the pipe (`| head`) is not a fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runCommandLine({
  words: process.argv.slice(2),
  commands,
  version: packageVersion(),
  program: program(process.env),
  env: process.env,
  say: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
});

// A service that has stopped must end: something in a library may still hold the process.
if (process.argv[2] === 'serve') setTimeout(() => process.exit(), lingerMs).unref();

/** npm sets the name of its script and of the project: this checkout, or a project with the package. */
function program({ npm_lifecycle_event: script, npm_package_name: project }: NodeJS.ProcessEnv): string {
  if (script === undefined) return 'tracejury';
  return project === 'tracejury' && script !== 'npx' ? 'npm run tracejury --' : 'npx tracejury';
}
