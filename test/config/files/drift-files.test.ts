/** Fixed sets of runs in files beside the configuration. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { driftRunsMax } from '../../../src/config/files/drift-files.ts';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { loadConfigWithFiles, type LoadedConfig } from '../../../src/config/load.ts';
import { differing } from '../../../src/config/fingerprint.ts';
import { validators } from '../../builders/validators.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-drift-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const one = '{"input": "Book a room.", "final_response": "Booked."}';
const two = '{"messages": [{"role": "user", "content": "Book a room."}, {"role": "assistant", "content": "Sorry."}], "passed": false}';
const files: { readonly [name: string]: string } = {
  'set.jsonl': `\uFEFF${one}\n\n${two}\n`,
  'empty.jsonl': '\n\n',
  'text.jsonl': `${one}\nBook a room.\n${two}\n{"title": "b"}\n`,
  'list.jsonl': `[${one}, ${two}]\n`,
  'twice.jsonl': `${one}\n${two}\n${one}\n`,
  'many.jsonl': Array.from({ length: driftRunsMax + 3 }, (_, at) => `{"input": "${at}"}`).join('\n'),
  'huge.jsonl': `${' '.repeat(16 * 1024 * 1024)}${one}`,
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
writeFileSync(join(folder, 'latin.jsonl'), Buffer.from([0x22, 0xe9, 0x22]));

async function load(entry: string, judges = '{ main: { model: m } }'): Promise<LoadedConfig> {
  return await loadConfigWithFiles({
    validators,
    file: join(folder, 'tracejury.yaml'),
    text: `judges: ${judges}\nevaluators:\n  - ${entry}\n`,
    env: { SET: './set.jsonl' },
    evaluators,
  });
}

async function faults(entry: string): Promise<readonly { readonly place: string; readonly key: string; readonly problem: string }[]> {
  try {
    await load(entry);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map(({ file, line, key, problem, source }) => {
      if (!file.endsWith('.yaml')) expect(source).toBe('');
      return { place: `${file.slice(folder.length + 1)}:${line}`, key, problem };
    });
  }
}

const judged = (dataset: string): string => `{ use: answer_relevance, judge: main, drift: { dataset: ${dataset} } }`;

test('drift files: a run a line, as agent traces or messages, with the defaults of the rest', async () => {
  for (const dataset of ['set.jsonl', '"${env:SET}"', JSON.stringify(join(folder, 'set.jsonl'))]) {
    const { config, printed } = await load(judged(dataset));
    expect(config.evaluators[0]?.drift).toMatchObject({
      everyMs: 86_400_000,
      baseline: '',
      runs: [{ trace: { input: 'Book a room.', finalResponse: 'Booked.' } }, { trace: { finalResponse: 'Sorry.' } }],
    });
    expect(printed).toMatchObject({ evaluators: [{ drift: { every: '1d' } }] });
  }
});

test('drift files: a file with other runs is another configuration', async () => {
  writeFileSync(join(folder, 'changing.jsonl'), one);
  const before = await load(judged('changing.jsonl'));
  writeFileSync(join(folder, 'changing.jsonl'), two);
  expect(differing(before.fingerprints.sections, (await load(judged('changing.jsonl'))).fingerprints.sections)).toEqual(['evaluators']);
});

const key = 'evaluators[0].drift.dataset';
const bad: readonly { readonly dataset: string; readonly is: readonly { readonly place: string; readonly problem: string }[] }[] = [
  { dataset: 'gone.jsonl', is: [{ place: 'gone.jsonl:1', problem: 'cannot be read (ENOENT)' }] },
  { dataset: 'empty.jsonl', is: [{ place: 'empty.jsonl:1', problem: 'has no run' }] },
  {
    dataset: 'text.jsonl',
    is: [
      { place: 'text.jsonl:2', problem: 'is not JSON' },
      { place: 'text.jsonl:4', problem: 'is not a run: it has neither messages nor tool_calls, but "title".' },
    ],
  },
  { dataset: 'list.jsonl', is: [{ place: 'list.jsonl:1', problem: 'has a list of runs' }] },
  { dataset: 'twice.jsonl', is: [{ place: 'twice.jsonl:3', problem: 'has the same run as line 1' }] },
  {
    dataset: 'many.jsonl',
    is: [{ place: `many.jsonl:${driftRunsMax + 1}`, problem: `exceeds the limit of ${driftRunsMax} runs` }],
  },
  { dataset: 'huge.jsonl', is: [{ place: 'huge.jsonl:1', problem: 'is larger than 16777216 bytes' }] },
  { dataset: 'latin.jsonl', is: [{ place: 'latin.jsonl:1', problem: 'is not UTF-8 text' }] },
];
for (const { dataset, is } of bad)
  test(`drift files: ${dataset} is reported at its lines`, async () =>
    expect(await faults(judged(dataset))).toEqual(is.map((fault) => ({ key, ...fault }))));

test('drift files: what asks no judge, or neither passes nor fails, has no drift', async () => {
  expect(await faults('{ use: tool_error, drift: { dataset: set.jsonl } }')).toEqual([
    { place: 'tracejury.yaml:3', key: 'evaluators[0].drift', problem: 'is not for tool_error, which asks no judge' },
  ]);
  expect(await faults('{ use: answer_relevance, judge: main, threshold: null, drift: { dataset: set.jsonl } }')).toEqual([
    {
      place: 'tracejury.yaml:3',
      key: 'evaluators[0].drift',
      problem: 'needs a threshold: without one answer_relevance neither passes nor fails a run',
    },
  ]);
  expect(await faults('{ use: answer_relevance, judge: main, votes: 3, drift: { dataset: set.jsonl } }')).toEqual([
    { place: 'tracejury.yaml:3', key: 'evaluators[0].drift', problem: 'needs a single judge with one vote, and the entry has votes too' },
  ]);
  expect(await faults('{ use: answer_relevance, judge: main, drift: {} }')).toMatchObject([
    { key: 'evaluators[0].drift', problem: 'lacks dataset' },
  ]);
});
