import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Long by nature: hostile input, faults, real processes that are killed, input orders and properties at length. */
const long = ['test/**/*.long.test.ts', 'test/hostile/**/*.test.ts', 'test/faults/**/*.test.ts'];
/** In both suites: their properties try few examples in the short one and many in the long one, or their stores have a thread in the long one. */
const inBoth = globSync('test/**/*.test.ts', { cwd: import.meta.dirname }).filter((path) =>
  (path.startsWith('test/stores/') ? /builders\/property-runs\.ts|\.\/members\.ts/ : /builders\/property-runs\.ts/).test(
    readFileSync(join(import.meta.dirname, path), 'utf8'),
  ),
);

export default defineConfig({
  // The examples import the package by its name.
  resolve: { alias: [{ find: /^tracejury\/(.*)$/, replacement: join(import.meta.dirname, 'src/library/$1.ts') }] },
  test: {
    globals: false,
    // For what hangs. The longest tests work for seconds, and on a machine that is busy with other work for many times as long.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // One more than there are cores: tests wait for clocks and sockets now and then.
    maxWorkers: availableParallelism() + 1,
    setupFiles: [join(import.meta.dirname, 'test/builders/property-seed.ts')],
    projects: [
      // No module has state, so test files share a process and its modules.
      { extends: true, test: { name: 'short', include: ['test/**/*.test.ts', 'examples/**/*.test.ts'], exclude: long, isolate: false } },
      // One file at a time: these files measure turns of the event loop, and start processes that work as hard as the machine can.
      {
        extends: true,
        test: { name: 'long', include: [...long, ...inBoth], env: { TRACEJURY_PROPERTIES: 'long' }, fileParallelism: false },
      },
    ],
    coverage: {
      provider: 'v8',
      reporter: ['text', 'html'],
      // Floors 0 to 3: everything that runs without the machine.
      include: [
        'src/model/**',
        'src/runtime/**',
        'src/otlp/**',
        'src/telemetry/**',
        'src/statistics/**',
        'src/library/**',
        'src/pipeline/**',
        'collectors/**',
        'evaluators/**',
      ],
    },
  },
});
