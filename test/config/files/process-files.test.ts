/** Process models in files beside the configuration. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { watchedFile } from '../../../src/config/files/watched-file.ts';
import { loadConfig, loadConfigWithFiles, type LoadedConfig } from '../../../src/config/load.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { processOf, runOf } from '../../builders/process-runs.ts';
import { validators } from '../../builders/validators.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-process-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const model = JSON.stringify(processOf([[runOf(['lookup_order', 'refund_order']), 300]]));
const files: { readonly [name: string]: string } = {
  'model.json': `\uFEFF${model}`,
  'answer.json': `{"agent": "support", "version": "1.2", "model": ${model}}`,
  'list.json': '[1]',
  'text.json': 'lookup_order',
  'wrong.json': '{"runs": 300, "transitions": [{"from": "a", "to": 3, "runs": 1}]}',
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);

const file = join(folder, 'tracejury.yaml');
const textOf = (entry: string): string => `evaluators:\n  - ${entry}\n`;

async function load(entry: string): Promise<LoadedConfig> {
  return await loadConfigWithFiles({ validators, file, text: textOf(entry), env: {}, evaluators });
}

function verdictOf({ config }: LoadedConfig, steps: readonly string[]): Verdict {
  const configured = config.evaluators[0]?.configured;
  if (configured?.kind !== 'rule') throw new Error('it is not a rule');
  return configured.evaluate(runOf(steps), {}, evaluationContext());
}

test.each(['model.json', './answer.json', join(folder, 'model.json')])('process files: %s is read', async (name) => {
  const loaded = await load(`{ use: process_conformance, options: { model: ${name} } }`);
  expect(verdictOf(loaded, ['lookup_order', 'refund_order'])).toMatchObject({ score: 1 });
  expect(verdictOf(loaded, ['refund_order', 'lookup_order'])).toMatchObject({ passed: false });
});

const faulty = [
  { name: 'none.json', key: 'evaluators[0].options.model', problem: '"none.json" cannot be read (ENOENT)' },
  { name: 'list.json', key: 'evaluators[0].options.model', problem: '"list.json" is not a JSON object' },
  { name: 'text.json', key: 'evaluators[0].options.model', problem: '"text.json" is not a JSON object' },
  { name: 'wrong.json', key: 'evaluators[0].options.model.transitions[0].to', problem: 'must be a text of 200 characters at most' },
];

test.each(faulty)('process files: $name is refused', async ({ name, key, problem }) => {
  await expect(load(`{ use: novelty, options: { model: ${name} } }`)).rejects.toThrow(ConfigError);
  const error: unknown = await load(`{ use: novelty, options: { model: ${name} } }`).catch((fault: unknown) => fault);
  expect(error instanceof ConfigError ? error.faults : []).toMatchObject([{ file, line: 2, key, problem }]);
});

test('process files: a configuration without files names the fault', () => {
  const read = (): LoadedConfig =>
    loadConfig({ validators, file, text: textOf('{ use: novelty, options: { model: model.json } }'), env: {}, evaluators });
  expect(read).toThrow(/"model.json" was not loaded/);
});

test('process files: another evaluator has no model', async () => {
  await expect(load('{ use: tool_error, options: { model: model.json } }')).rejects.toThrow(ConfigError);
});

test('process files: a change of the file counts as a change of the configuration', async () => {
  const own = join(folder, 'watched.json');
  writeFileSync(own, model);
  const config = join(folder, 'watched.yaml');
  writeFileSync(config, textOf('{ use: process_conformance, options: { model: watched.json } }'));
  const watched = watchedFile({ file: config, env: {}, evaluators });
  await watched.read();
  expect(await watched.change()).toBeUndefined();
  writeFileSync(own, `${model} `);
  expect(await watched.change()).toBeDefined();
});

test('process files: the runs to learn from are those of an expression about rules', async () => {
  const entry = (when: string): string => `tool_error\n  - { use: process_conformance, options: { learn_when: ${when} } }`;
  const { config } = await load(entry('tool_error = 1 and agent = support'));
  expect(config.evaluators).toHaveLength(2);
  const error: unknown = await load(entry('tool_eror = 1')).catch((fault: unknown) => fault);
  expect(error instanceof ConfigError ? error.faults : []).toMatchObject([
    {
      key: 'evaluators[1].options.learn_when',
      problem: 'at character 1: tool_eror is not a rule evaluator of this file',
      todo: 'Did you mean tool_error?',
    },
  ]);
});
