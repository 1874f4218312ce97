/** The ready patterns, by the names that files give them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { readConfig } from '../../../src/config/load.ts';
import { configuredRedaction } from '../../../src/config/entries/redaction.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { validators } from '../../builders/validators.ts';

const text = 'anna@example.com paid with 4111 1111 1111 1111';
const names: readonly (readonly [name: string, without: string])[] = [
  ['email', '[redacted] paid with 4111 1111 1111 1111'],
  ['credit_card', 'anna@example.com paid with [redacted]'],
];

async function redacted(name: string): Promise<{ readonly text: string | undefined; readonly counted: unknown }> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-redact-'));
  try {
    const file = join(folder, 'tracejury.yaml');
    writeFileSync(file, `redact: [ { match: ${name} } ]\n`);
    const telemetry = metricRegistry();
    const own = configuredRedaction((await readConfig({ validators, file, env: {}, evaluators })).config.redact, telemetry);
    return { text: own?.text(text), counted: telemetry.snapshot().find((metric) => metric.name === 'tracejury.redactions')?.points };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const [name, without] of names) {
  test(`config: the ready pattern ${name} is known by this name, in the file and in the metric`, async () => {
    const found = await redacted(name);
    expect(found.text).toBe(without);
    expect(found.counted).toMatchObject([{ labels: { 'tracejury.rule': name }, value: 1 }]);
  });
}

test('config: a ready pattern by another name is refused', async () => {
  for (const name of ['card', 'creditcard', 'e-mail', 'EMAIL'])
    await expect(redacted(name)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});
