import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globals: false,
    // A test that needs longer than this waits for time to pass, which no test may do.
    testTimeout: 10_000,
    coverage: {
      provider: 'v8',
      reporter: ['text', 'html'],
      // Floors 0 to 2: everything that runs without the machine.
      include: ['src/model/**', 'src/otlp/**', 'src/telemetry/**', 'src/statistics/**', 'src/library/**', 'src/pipeline/**', 'collectors/**', 'evaluators/**'],
    },
  },
});
