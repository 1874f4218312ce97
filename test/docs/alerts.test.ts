/** The alert rules before Prometheus' own tool: that they are rules, and that they fire when they should. Skipped where `promtool` is not installed. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
/** The tool reckons through two days of samples. */
const timeoutMs = 120_000;
const [rules, cases] = [join(import.meta.dirname, '../../docs/alerts.yaml'), join(import.meta.dirname, 'alerts.promtool.yaml')];

for (const [what, args] of [['are rules', ['check', 'rules', rules]], ['fire when they should, and only then', ['test', 'rules', cases]]] as const) {
  test.skipIf(!hasPromtool)(`alerts: they ${what}`, { timeout: timeoutMs }, () => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
    expect(status === 0 ? 'ok' : `${stdout}${stderr}`).toBe('ok');
  });
}
