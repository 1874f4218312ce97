import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const script = (path: string): string => join(import.meta.dirname, path);

test.each(['backends/phoenix/run.ts', 'backends/mlflow/run.ts'])(
  'runner-arguments: %s --help shows what it does and its options',
  (path) => {
    const help = execFileSync(process.execPath, [script(path), '--help'], { encoding: 'utf8' });
    expect(help).toMatch(/^`npm run check -- \w+`: runs docs\/guides/);
    expect(help).toContain('  --url URL');
  },
);

test('runner-arguments: a mistyped option is answered in a sentence, without a stack', () => {
  const { status, stderr } = spawnSync(process.execPath, [script('backends/phoenix/run.ts'), '--ulr', 'x'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, "Unknown option '--ulr'. --help shows the options.\n"]);
});

test('runner-arguments: a backend that cannot be started is answered in a sentence', () => {
  const words = ['--phoenix', script('no-such-command')];
  const { status, stderr } = spawnSync(process.execPath, [script('backends/phoenix/run.ts'), ...words], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toMatch(
    /no-such-command did not start: .*ENOENT\. Install it, or name one that runs with --url\. --help shows the options\.\n$/,
  );
});
