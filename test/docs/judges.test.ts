/** The page on judges: its configurations are sound, and its table names judge evaluators that there are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { parseRunExpression } from '../../src/pipeline/evaluation/run-expression.ts';
import { validators } from '../builders/validators.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/guides/judges.md'), 'utf8');
const configurations = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)]
  .map(([, text = '']) => text)
  .filter((text) => text.includes('evaluators:'));
const rows = [...page.matchAll(/^\| .*\[`(\w+)`\]/gm)].map(([, id = '']) => ({ id }));

test('docs: every configuration on the page on judges can be loaded, and asks the judge that it names', () => {
  expect(configurations.length).toBeGreaterThan(2);
  for (const text of configurations) {
    const { config } = loadConfig({ validators, file: 'a.yaml', text, env: { OPENAI_API_KEY: 'k' }, evaluators });
    expect(config.evaluators.length).toBeGreaterThan(0);
    expect(config.evaluators.map(({ configured }) => configured.kind)).toEqual(config.evaluators.map(() => 'judge'));
  }
});

test('docs: the expressions on the page on judges can be read', () => {
  const [, block = ''] = /### Expressions about a run[\s\S]*?```text\n([\s\S]*?)```/.exec(page) ?? [];
  const lines = block.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines)
    expect([line, parseRunExpression(line, { evaluators: ['tool_error', 'goal'], judged: ['goal'] })]).toMatchObject([
      line,
      { kind: 'parsed' },
    ]);
});

test('docs: the page on judges names evaluators that there are', () => {
  expect(rows.length).toBeGreaterThan(10);
  for (const { id } of rows) expect(evaluators.find((one) => one.id === id)).toMatchObject({ id, kind: 'judge' });
});
