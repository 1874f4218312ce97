import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, 'fixtures/runner');
const script = `
  import { startVitest } from 'vitest/node';
  import { countOf } from ${JSON.stringify(join(import.meta.dirname, 'count.ts'))};
  const vitest = await startVitest([], { root: ${JSON.stringify(root)}, config: false, include: ['*.ts'], watch: false, reporters: [] });
  const lines = [];
  const count = countOf(vitest.state.getTestModules(), vitest.state.getUnhandledErrors(), (line) => lines.push(line));
  await vitest.close();
  process.stdout.write(JSON.stringify({ ...count, lines }));
  process.exit(0);
`;

test('count: a failed hook names the tests that it hid, and each of them has failed; one that gives a reason for not running has a line', () => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env,
    cwd: import.meta.dirname,
  });
  const { lines, ...count } = JSON.parse(stdout === '' ? `{ "lines": [${JSON.stringify(stderr)}] }` : stdout) as {
    readonly lines: readonly string[];
  };
  expect(lines.toSorted()).toEqual([
    'FAILED  broken.ts: cannot be loaded',
    'FAILED  hooks.ts > after: a server still listens',
    'FAILED  hooks.ts > before > deeper > hidden two: did not run, because a hook of hooks.ts > before failed: no port is free',
    'FAILED  hooks.ts > before > hidden one: did not run, because a hook of hooks.ts > before failed: no port is free',
    'FAILED  hooks.ts > before: no port is free',
    'FAILED  hooks.ts > left out: was skipped',
    'LEFT OUT  hooks.ts > lacks something: this machine has no disk',
  ]);
  expect(count).toEqual({ passed: 1, failed: 7 });
});
