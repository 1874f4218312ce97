import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The examples import the package by its name.
  resolve: { alias: [{ find: /^tracejury\/(.*)$/, replacement: join(import.meta.dirname, 'src/library/$1.ts') }] },
  test: {
    include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
    globals: false,
    // For what hangs. The longest tests work for seconds, and on a machine that is busy with other work for many times as long.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    coverage: {
      provider: 'v8',
      reporter: ['text', 'html'],
      // Floors 0 to 2: everything that runs without the machine.
      include: ['src/model/**', 'src/otlp/**', 'src/telemetry/**', 'src/statistics/**', 'src/library/**', 'src/pipeline/**', 'collectors/**', 'evaluators/**'],
    },
  },
});
