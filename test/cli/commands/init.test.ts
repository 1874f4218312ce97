/** `tracejury init` with flags: what it writes is a configuration without a fault. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { readConfig } from '../../../src/config/load.ts';
import { scoreApis } from '../../../src/exporters/index.ts';
import { validators } from '../../builders/validators.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-init-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

async function init(
  words: readonly string[],
  file = join(folder, `${++files}.yaml`),
): Promise<{ readonly code: number; readonly out: string; readonly err: string; readonly file: string }> {
  const [out, err] = [[] as string[], [] as string[]];
  const code = await runCommandLine({
    words: ['init', '--output', file, ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n'), file };
}

/** Variables that must be set according to the command. */
function named(out: string): readonly string[] {
  return /^Set (.*) in the environment/m.exec(out)?.[1]?.split(', ') ?? [];
}

const cases: readonly { readonly words: readonly string[]; readonly set: readonly string[] }[] = [
  { words: [], set: [] },
  { words: ['--judge', 'https://api.openai.com/v1'], set: ['OPENAI_API_KEY'] },
  { words: ['--judge', 'http://127.0.0.1:11434/v1', '--model', 'qwen3', '--agent', 'refund: "agent" # one'], set: [] },
  ...scoreApis.map(({ id }) => ({
    words: ['--backend', id, '--judge', 'https://api.openai.com/v1/'],
    set: expect.arrayContaining(['OPENAI_API_KEY']) as readonly string[],
  })),
];

test.each(cases)(
  'init $words: writes a configuration without fault or warning, and names the variables that it needs',
  async ({ words, set }) => {
    const { code, out, file } = await init(words);
    expect(code).toBe(0);
    expect(named(out)).toEqual(set);
    const { config, warnings } = await readConfig({
      validators,
      file,
      env: Object.fromEntries(named(out).map((name) => [name, 'https://a.example'])),
      evaluators,
    });
    expect(warnings).toEqual([]);
    expect(config.evaluators.map(({ configured }) => configured.name)).toEqual(expect.arrayContaining(['tool_error']));
    expect(config.judges).toHaveLength(words.includes('--judge') ? 1 : 0);
    expect(config.exporters.map(({ to }) => to)).toEqual([words[0] === '--backend' ? words[1] : 'metrics']);
  },
);

test('init: a backend that often runs on the same machine needs no variable', async () => {
  for (const [backend, endpoint] of [
    ['phoenix', 'http://127.0.0.1:6006'],
    ['mlflow', 'http://127.0.0.1:5000'],
  ] as const) {
    const { file, out } = await init(['--backend', backend]);
    expect(named(out)).toEqual([]);
    const { config } = await readConfig({ validators, file, env: {}, evaluators });
    expect(config.exporters).toMatchObject([{ to: backend, endpoint }]);
  }
});

test('init: every commented line is configuration that may be switched on', async () => {
  const { file } = await init([]);
  const switchedOn = readFileSync(file, 'utf8').replaceAll(/^# (?=(?: *- |  |[a-z_]+:))/gm, '');
  writeFileSync(file, switchedOn);
  const { config } = await readConfig({ validators, file, env: { OPENAI_API_KEY: 'k' }, evaluators });
  expect([config.judges.length, config.exporters.length, config.redact.length]).toEqual([1, 1, 2]);
});

test('init: the judge is asked about the agent that is named', async () => {
  const { file } = await init(['--judge', 'http://127.0.0.1:1/v1', '--model', 'm', '--agent', 'a: b']);
  const { config } = await readConfig({ validators, file, env: {}, evaluators });
  expect(config.evaluators.at(-1)).toMatchObject({ judge: 'main', sampleRate: 0.05, when: expect.anything() as unknown });
});

test('init: an existing file stays, unless --force is there', async () => {
  const path = join(folder, 'mine.yaml');
  writeFileSync(path, 'mine');
  expect(await init([], path)).toMatchObject({ code: 2, err: expect.stringContaining('--force') as string });
  expect(readFileSync(path, 'utf8')).toBe('mine');
  expect((await init(['--force'], path)).code).toBe(0);
  expect(readFileSync(path, 'utf8')).toContain('evaluators:');
});

const refused: readonly (readonly [words: readonly string[], says: string])[] = [
  [['--backend', 'phenix'], 'Did you mean phoenix?'],
  [['--judge', 'api.openai.com'], '--judge takes a URL'],
  [['--judge', 'http://127.0.0.1:11434/v1'], 'needs --model'],
  [['--model', 'm'], '--model goes with --judge'],
  [['--output', join(folder, 'no', 'such', 'folder.yaml')], 'cannot be written (ENOENT)'],
];
test.each(refused)('init %j: exits with 2 and names the right form', async (words, says) => {
  expect(await init(words)).toMatchObject({ code: 2, err: expect.stringContaining(says) as string });
});
