import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Builds the console of `src/console` into `dist/console`. Vitest has `vitest.config.ts`. */
export default defineConfig({
  root: join(import.meta.dirname, 'src/console'),
  base: '/',
  // JSX comes from preact, and the caller's NODE_ENV has no effect.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: join(import.meta.dirname, 'dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy allows only files of the console.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // One file for the code that pages share: many small ones compress worse.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'parts', test: /src.console|node_modules.preact/, minShareCount: 2 }] } },
    },
  },
});
