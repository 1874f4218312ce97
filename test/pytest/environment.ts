/** A Python with the packages of requirements.txt, in an environment that all checkouts of this machine share. Run as a program, it makes the environment. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const requirements = join(import.meta.dirname, 'requirements.txt');

/** TRACEJURY_PYTHON names a Python that has the packages already. */
export function pythonWithAgents(): string {
  const given = process.env['TRACEJURY_PYTHON'];
  if (given !== undefined) return given;
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const home = join(tmpdir(), `tracejury-python-${digest}`);
  const complete = join(home, 'complete');
  if (existsSync(complete)) return join(home, 'bin/python');
  rmSync(home, { recursive: true, force: true });
  for (const [command, args] of [
    ['python3', ['-m', 'venv', home]],
    [join(home, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]],
  ] as const) {
    const { status } = spawnSync(command, args, { stdio: 'inherit' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
  }
  // An interrupted installation lacks it, and is begun anew.
  writeFileSync(complete, '');
  return join(home, 'bin/python');
}

if (import.meta.main) process.stdout.write(`${pythonWithAgents()}\n`);
