/** Files that a command line loads, as the coverage of V8 lists them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const top = join(import.meta.dirname, '../..');

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** Paths from the top folder. `words`: arguments of Node. */
async function filesLoadedBy(words: readonly string[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-loading-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = { PATH: process.env['PATH'], NODE_V8_COVERAGE: folder };
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, [...words], { env }, (error) => (error === null ? resolve() : reject(error)));
  });
  const urls = readdirSync(folder).flatMap((file) =>
    (JSON.parse(readFileSync(join(folder, file), 'utf8')) as Coverage).result.map(({ url }) => url),
  );
  return urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url).slice(top.length + 1));
}

const filesLoaded = (words: readonly string[]): Promise<readonly string[]> => filesLoadedBy([join(top, 'bin/tracejury.cjs'), ...words]);

const helpFilesMax = 15;

test.each(['--help', '--version'])('loading: %s loads neither a package nor a command', async (word) => {
  const files = await filesLoaded([word]);
  expect(files).toContain('src/cli/commands/index.ts');
  expect(files.filter((file) => /^(node_modules|evaluators|collectors|src\/cli\/commands\/(?!index))/.test(file))).toEqual([]);
  expect(files.length).toBeLessThanOrEqual(helpFilesMax);
});

test('loading: eval by the default rules loads no package', async () => {
  const files = await filesLoaded(['eval', join(top, 'test/fixtures/recordings/js-ai-sdk-v6/sequential/request-01.binpb')]);
  expect(files).toContain('src/cli/commands/eval.ts');
  expect(
    files.filter((file) => /^(node_modules|src\/(judges\/client|service\/judge-pool|stores\/sqlite|journals\/disk))/.test(file)),
  ).toEqual([]);
});

test("loading: the service does not load Node's own client of HTTP", async () => {
  const service = JSON.stringify(pathToFileURL(join(top, 'src/cli/commands/serve.ts')).href);
  const source = `await import(${service}); process.stdout.write(JSON.stringify(process.moduleLoadList))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source]);
  const loaded = JSON.parse(stdout) as readonly string[];
  expect(loaded).toContain('NativeModule http');
  expect(loaded.filter((name) => name.includes('undici'))).toEqual([]);
});

test('loading: the service loads the SDK of MCP with the first message only', async () => {
  const [serve, service] = ['cli/commands/serve.ts', 'service.ts'].map((file) =>
    JSON.stringify(pathToFileURL(join(top, 'src', file)).href),
  );
  const files = await filesLoadedBy(['--input-type=module', '-e', `await import(${serve}); await import(${service});`]);
  expect(files).toContain('src/web/mcp-routes.ts');
  expect(files.filter((file) => /^(node_modules\/(@modelcontextprotocol|zod|light-my-request)|src\/web\/mcp\/)/.test(file))).toEqual([]);
});
