/** The suites of the gate and of the nightly run. The gate starts them in this order, as far as their loads allow. */
import { catalogues, type Script } from '../scripts/catalogue.ts';
import type { Suite } from './suite.ts';

export interface Schedule {
  readonly minutesMax: number;
  readonly suites: readonly Suite[];
}

const node = process.execPath;

function check(name: keyof typeof catalogues.check.scripts, ...more: readonly string[]): Suite['command'] {
  return commandOf(catalogues.check.scripts[name], more);
}

function commandOf({ command }: Script, more: readonly string[]): Suite['command'] {
  const [program = '', ...words] = command.split(' ');
  return [program === 'node' ? node : program, ...words, ...more];
}

const python = 'Python packages';
/** Far below saturation, with few closed traces in memory, so that growth shows. */
const soak = commandOf(catalogues.bench.scripts.soak, ['--minutes', '75', '--rate', '300', '--late', '60s']);

export const schedules = {
  gate: {
    minutesMax: 70,
    suites: [
      // First, while the default addresses are free and nothing is built.
      { name: 'the first minute', command: check('first-minute'), load: 'waits', minutesMax: 5 },
      { name: python, command: [node, 'test/pytest/environment.ts'], isOneCheck: true, load: 'waits', minutesMax: 10 },
      {
        name: 'npm test',
        command: ['npm', 'test'],
        // Properties at length, here only. Its part in the browser is a part of the console's suite.
        env: { TRACEJURY_PROPERTIES: 'long', CHROMIUM: 'none' },
        load: 'works',
        minutesMax: 20,
      },
      { name: 'static checks', command: check('static'), load: 'works', minutesMax: 10 },
      { name: 'long tests', command: check('long'), load: 'works', minutesMax: 40 },
      { name: 'the console', command: check('console'), load: 'works', needs: ['the first minute'], minutesMax: 20 },
      { name: 'dashboard', command: check('dashboard'), load: 'waits', minutesMax: 15 },
      { name: 'pytest', command: check('pytest'), load: 'waits', needs: [python], minutesMax: 15 },
      { name: 'the loop', command: check('loop'), load: 'waits', needs: [python], minutesMax: 15 },
      { name: 'the package', command: check('package'), load: 'waits', minutesMax: 15 },
      { name: 'alerts', command: check('alerts'), load: 'waits', minutesMax: 5 },
      { name: 'SBOM', command: check('sbom'), load: 'waits', minutesMax: 5 },
      { name: 'tests that measure', command: check('alone'), load: 'alone', minutesMax: 30 },
    ],
  },
  nightly: {
    minutesMax: 14 * 60,
    suites: [
      { name: 'mutants', command: check('mutants', '--count', '100'), isOneCheck: true, load: 'alone', minutesMax: 8 * 60 },
      { name: 'a million damaged bodies', command: check('hostile', '--cases', '1000000'), load: 'alone', minutesMax: 3 * 60 },
      { name: 'leave-one-out', command: check('leave-one-out'), isOneCheck: true, load: 'alone', minutesMax: 30 },
      { name: 'soak', command: soak, isOneCheck: true, load: 'alone', minutesMax: 120 },
    ],
  },
} as const satisfies { readonly [name: string]: Schedule };
