import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigError, type ConfigFault } from '../../src/config/diagnostic.ts';
import { loadConfig } from '../../src/config/load.ts';
import { badConfigs } from './bad-configs.ts';
import { members } from './members.ts';
import { validators } from '../builders/validators.ts';

const env = { MODEL: 'm', SECRET: 's3cret-v', LIST: '[ { name: a } ]' };

const known = new Map<string, readonly ConfigFault[]>();

/** One block a configuration: its name, then one line a fault and its remedy. Renewed only on purpose. */
const golden = new Map(
  readFileSync(new URL('../fixtures/config/faults.golden.txt', import.meta.url), 'utf8')
    .split('\n\n')
    .map((block) => {
      const [name = '', ...lines] = block.trimEnd().split('\n');
      return [name.replace(/^# /, ''), lines.join('\n')] as const;
    }),
);

for (const { name, text } of badConfigs) {
  test(`config faults: ${name}`, () => {
    expect(golden.get(name)).toBe(faultsOf(text).map(faultText).join('\n'));
  });
}

test('config faults: every golden block belongs to a configuration, and there are more than sixty', () => {
  expect([...golden.keys()]).toEqual(badConfigs.map(({ name }) => name));
  expect(golden.size).toBeGreaterThan(60);
});

test('config faults: no secret is in any fault or any line that is shown', () => {
  const secret = /s3cret|73571/;
  const withSecrets = badConfigs.filter(({ text }) => secret.test(text) || text.includes('SECRET'));
  expect(withSecrets.length).toBeGreaterThan(10);
  for (const { text } of badConfigs) {
    for (const fault of faultsOf(text)) expect(JSON.stringify(fault)).not.toMatch(secret);
  }
});

/** Checking a configuration puts its whole schema together, so each is checked once. */
function faultsOf(text: string): readonly ConfigFault[] {
  const found = known.get(text) ?? checkedFaults(text);
  known.set(text, found);
  return found;
}

function checkedFaults(text: string): readonly ConfigFault[] {
  try {
    loadConfig({ validators, file: 'a.yaml', text, env, evaluators: members });
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

function faultText({ file, line, column, key, problem, todo, source }: ConfigFault): string {
  return `${file}:${line}:${column} ${key}: ${problem} > ${todo}\n    ${source}`;
}
