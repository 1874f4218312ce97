import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Builds the console of `src/console` into `dist/console`. Vitest has a configuration of its own. */
export default defineConfig({
  root: join(import.meta.dirname, 'src/console'),
  base: '/',
  // Names of JSX come from preact; NODE_ENV of who starts the build does not matter.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: join(import.meta.dirname, 'dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy allows files of the console alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
