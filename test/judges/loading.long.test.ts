/** Modules that a service without judges does not load. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = `
import { registerHooks } from 'node:module';
const packages = new Set();
registerHooks({
  load(url, context, next) {
    const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
    if (name !== undefined) packages.add(name);
    return next(url, context);
  },
});
await import(process.argv[1]);
process.stdout.write(JSON.stringify([...packages]));
`;

test('judges: the client of a judge is not loaded with the service', async () => {
  const service = new URL('../../src/service.ts', import.meta.url).href;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script, service]);
  const packages = JSON.parse(stdout) as readonly string[];
  expect(packages).toContain('fastify');
  expect(packages).not.toContain('openai');
});
