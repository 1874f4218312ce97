import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Too slow for `npm test`: starts and kills processes, plays every order, tries properties at length. Runs in parallel, as the short tests do. */
const long = 'test/**/*.long.test.ts';
/** Measures event-loop turns, memory or time, or loads the whole machine. Runs one file at a time, with nothing beside it. */
const alone = 'test/**/*.alone.test.ts';
const env = { TRACEJURY_PROPERTIES: 'long' };

export default defineConfig({
  test: {
    globals: false,
    // Ends a test that hangs. The longest tests take seconds, and many times as long on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // One more than there are cores: tests sometimes wait for timers and sockets.
    maxWorkers: availableParallelism() + 1,
    // Node reads the files as it does in production, and faster than through a bundler. No test mocks a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // The examples import the package by its name.
    execArgv: ['--import', join(import.meta.dirname, 'test/builders/package-source.ts')],
    setupFiles: [join(import.meta.dirname, 'test/builders/property-seed.ts')],
    projects: [
      // No module has state, so test files share a process and its modules.
      {
        extends: true,
        test: { name: 'short', include: ['test/**/*.test.ts', 'examples/**/*.test.ts'], exclude: [long, alone], isolate: false },
      },
      { extends: true, test: { env, name: 'long', include: [long], isolate: false } },
      { extends: true, test: { env, name: 'alone', include: [alone], fileParallelism: false, sequence: { groupOrder: 1 } } },
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
