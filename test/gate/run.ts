/**
 * `npm run check -- gate`: the suites of the gate, side by side where they allow it. `npm run check -- nightly`: what takes hours.
 * Ends with a table by suite and the line `N passed, M failed`; the exit code is 1 unless everything passed.
 *
 *   --only NAME,…   these suites only, also where they need others
 */
import { join } from 'node:path';
import { runnerArguments } from '../runner-arguments.ts';
import { startGate } from './gate.ts';
import { schedules, type Schedule } from './schedule.ts';

const { values, positionals } = runnerArguments({ options: { only: { type: 'string' } }, allowPositionals: true });
const { suites, minutesMax }: Schedule = positionals[0] === 'nightly' ? schedules.nightly : schedules.gate;
const only = values.only?.split(',');
Object.assign(process.env, {
  // Colours hide the words in a log.
  NO_COLOR: '1',
  CI: '1',
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/node'),
});
const unknown = (only ?? []).filter((name) => !suites.some((suite) => suite.name === name));
if (unknown.length > 0) {
  process.stderr.write(`No suite is named ${unknown.join(' or ')}. There are: ${suites.map(({ name }) => name).join(', ')}.\n`);
  process.exit(2);
}
const wanted = (name: string): boolean => only?.includes(name) ?? true;
const gate = startGate(
  suites.filter(({ name }) => wanted(name)).map((suite) => ({ ...suite, needs: (suite.needs ?? []).filter(wanted) })),
  { minutesMax, say: (line) => process.stdout.write(`${line}\n`) },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => gate.stop(signal));
process.exitCode = (await gate.outcome) ? 0 : 1;
