/**
 * Bundles the program and the entries of the library into `dist`. A service reads a hundred files instead of a thousand: it starts with two thirds
 * of the CPU time and needs 40 MiB less at rest.
 */
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'rolldown';
import packageJson from './package.json' with { type: 'json' };

const sources = [
  './dist/src/cli/main.js',
  ...Object.values(packageJson.exports).flatMap((target) => (typeof target === 'string' ? [] : [target.default])),
].map((built) => built.replace(/^\.\/dist\/(.+)\.js$/, '$1'));

/**
 * Kysely is 250 modules, and the stores use a part of them. The SDK of MCP brings 90 packages, and the server uses the ones listed here. Their
 * licences are in NOTICE. Other packages stay where npm installs them.
 */
const bundled = ['kysely', '@modelcontextprotocol/sdk', 'zod', 'zod-to-json-schema', 'ajv-formats', 'content-type'] as const;
const ownOrBundled = new RegExp(`^(?:[./]|(?:${bundled.join('|')})(?:/|$))`);

/** Makes an entry of each file that a worker thread runs. In the source such a file is a neighbour; in `dist` its caller may be in any file. */
const threads: Plugin = {
  name: 'threads',
  transform: {
    filter: { code: 'extname(import.meta.url)' },
    async handler(code, importer) {
      const thread = /new URL\(`(\.\/[\w-]+)\$\{extname\(import\.meta\.url\)\}`, import\.meta\.url\)/.exec(code);
      if (thread === null) this.error(`${importer} starts a thread in a form that the bundle does not know`);
      const id = join(importer, '..', `${thread[1]}.ts`);
      const reference = this.emitFile({ type: 'chunk', id });
      return code.replace(thread[0], `new URL(import.meta.ROLLUP_FILE_URL_${reference})`);
    },
  },
};

export default defineConfig({
  input: Object.fromEntries(sources.map((source) => [source, join(import.meta.dirname, `${source}.ts`)])),
  platform: 'node',
  // Relative and absolute paths are own files, or files of a bundled package.
  external: (id) => !ownOrBundled.test(id),
  plugins: [threads],
  output: {
    dir: join(import.meta.dirname, 'dist'),
    // At the depth of the entries: the paths to package.json and to the console are relative.
    entryFileNames: '[name].js',
    chunkFileNames: 'src/chunks/[name].js',
    // Each of these modules is small. Alone it would be a file.
    codeSplitting: {
      groups: [
        { name: 'stored', test: /[\\/]src[\\/]model[\\/]store[\\/]/ },
        { name: 'runtime', test: /[\\/]src[\\/]runtime[\\/]/ },
        {
          name: 'statistics',
          test: /[\\/]src[\\/]statistics[\\/](?:distributions|estimate|holm|paired-scores|proportion|seeded-random)\.ts$/,
        },
      ],
    },
    // Names and lines stay, so that the trace of an error can be read.
    minify: false,
    comments: { legal: true, annotation: false, jsdoc: false },
  },
});
