/** `npm run check -- alerts`: the alert rules before Prometheus' own tool, `promtool`, which must be on the path: that they are rules, and that they fire when they should. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const rules = join(import.meta.dirname, '../../docs/reference/alerts.yaml');
const cases = join(import.meta.dirname, 'cases.yaml');
let failed = 0;

for (const args of [
  ['check', 'rules', rules],
  ['test', 'rules', cases],
]) {
  const { status, error } = spawnSync('promtool', args, { stdio: 'inherit' });
  if (error !== undefined) process.stderr.write(`${error.message}: install Prometheus, which contains promtool.\n`);
  if (status !== 0) failed++;
}
process.stdout.write(`${2 - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
