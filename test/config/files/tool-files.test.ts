/** Tool definitions in files beside the configuration. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { loadConfigWithFiles, type LoadedConfig } from '../../../src/config/load.ts';
import { members } from '../members.ts';
import { validators } from '../../builders/validators.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-tool-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const search = { name: 'search_flights', description: 'Finds flights.', inputSchema: { type: 'object', required: ['from'] } };
const files: { readonly [name: string]: string } = {
  'flat.json': JSON.stringify([{ name: 'search_flights', description: 'Finds flights.', input_schema: search.inputSchema }]),
  'nested.json': `\uFEFF${JSON.stringify([{ type: 'function', function: { name: 'search_flights', description: 'Finds flights.', parameters: search.inputSchema } }])}`,
  'none.json': '[]',
  'text.json': 'search_flights',
  'object.json': '{ "name": "search_flights" }',
  'mixed.json': '[ { "name": "a" }, { "title": "b" } ]',
  'names.json': '[ "a" ]',
  'twice.json': '[ { "name": "a" }, { "name": "a" } ]',
  'many.json': JSON.stringify(Array.from({ length: 1_001 }, (_, nth) => ({ name: `t${nth}` }))),
  'huge.json': `[${' '.repeat(256 * 1024)}]`,
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
writeFileSync(join(folder, 'latin.json'), Buffer.from([0x22, 0xe9, 0x22]));

async function load(text: string): Promise<LoadedConfig> {
  return await loadConfigWithFiles({
    validators,
    file: join(folder, 'tracejury.yaml'),
    text,
    env: { TOOLS: './flat.json' },
    evaluators: members,
  });
}

const good: readonly { readonly name: string; readonly tools: string; readonly is: readonly unknown[] }[] = [
  { name: 'in the form of the configuration', tools: '{ file: flat.json }', is: [search] },
  { name: 'in the form for a model, behind a byte order mark', tools: '{ file: ./nested.json }', is: [search] },
  { name: 'by an absolute path', tools: `{ file: ${JSON.stringify(join(folder, 'flat.json'))} }`, is: [search] },
  { name: 'by a path from the environment', tools: '{ file: "${env:TOOLS}" }', is: [search] },
  {
    name: 'beside those in the configuration, in order',
    tools: '{ name: a }, { file: flat.json }, { name: b }',
    is: [{ name: 'a' }, search, { name: 'b' }],
  },
  { name: 'from an empty file', tools: '{ file: none.json }', is: [] },
];
for (const { name, tools, is } of good)
  test(`tool files: definitions ${name}`, async () => expect((await load(`tools: [ ${tools} ]`)).config.tools).toEqual(is));

test('tool files: what is printed names the file, and is a configuration with the same effect', async () => {
  const first = await load('tools: [ { file: flat.json } ]');
  expect(first.printed).toMatchObject({ tools: [{ file: 'flat.json' }] });
  expect((await load(stringify(first.printed))).config.tools).toEqual([search]);
});

const bad: readonly { readonly tools: string; readonly key: string; readonly problem: string }[] = [
  { tools: '{ file: gone.json }', key: 'tools[0].file', problem: '"gone.json" cannot be read (ENOENT)' },
  { tools: '{ file: . }', key: 'tools[0].file', problem: '"." cannot be read (EISDIR)' },
  { tools: '{ file: text.json }', key: 'tools[0].file', problem: '"text.json" is not JSON' },
  { tools: '{ file: object.json }', key: 'tools[0].file', problem: '"object.json" is not a list' },
  {
    tools: '{ name: x }, { file: mixed.json }',
    key: 'tools[1].file',
    problem: '"mixed.json" has an item that is not a definition (number 2)',
  },
  { tools: '{ file: names.json }', key: 'tools[0].file', problem: '"names.json" has an item that is not a definition (number 1)' },
  { tools: '{ file: many.json }', key: 'tools[0].file', problem: '"many.json" has more than 1000 definitions' },
  { tools: '{ file: huge.json }', key: 'tools[0].file', problem: '"huge.json" is too large for a configuration' },
  { tools: '{ file: latin.json }', key: 'tools[0].file', problem: '"latin.json" is not UTF-8 text' },
  { tools: '{ file: twice.json }', key: 'tools[0].file', problem: 'defines "a" a second time' },
  { tools: '{ file: flat.json }, { name: search_flights }', key: 'tools[1].name', problem: 'defines "search_flights" a second time' },
  { tools: '{ name: search_flights }, { file: flat.json }', key: 'tools[1].file', problem: 'defines "search_flights" a second time' },
  { tools: '{ name: x, file: flat.json }', key: 'tools[0]', problem: 'has both name and file' },
];
for (const { tools, key, problem } of bad) {
  test(`tool files: ${tools} is refused: ${problem}`, async () => {
    const error = await load(`tools: [ ${tools} ]`).catch((thrown: unknown) => thrown);
    if (!(error instanceof ConfigError)) throw new Error('was accepted');
    expect(error.faults.map((fault) => ({ key: fault.key, problem: fault.problem }))).toEqual([{ key, problem }]);
    expect(error.faults[0]?.line).toBe(1);
  });
}
