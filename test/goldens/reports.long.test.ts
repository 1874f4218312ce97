/** Reports of commands in each of their formats, and the requests that each exporter sends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';
import { command } from '../builders/command.ts';
import { family } from '../exporters/family.ts';
import { expectGolden } from './golden.ts';

const recordings = join(import.meta.dirname, '../fixtures/recordings');
const files = ['google-adk/toolerror', 'pydantic-ai/multiturn', 'openinference-langchain/parallel'].map((name) =>
  join(recordings, name, 'request-01.binpb'),
);
const [file = ''] = files;
const folder = mkdtempSync(join(tmpdir(), 'tracejury-goldens-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** What a command says, without places of this machine. */
async function said(...words: readonly string[]): Promise<string> {
  const short = (text: string): string => text.replaceAll(recordings, 'recordings').replaceAll(folder, 'folder');
  const { code, out, err } = await command(words);
  return short(`$ tracejury ${words.join(' ')}\n${out}${err}\nexit code ${code}`).replaceAll(/\b\d+(\.\d+)? m?s\b/g, '<time>');
}

async function golden(name: string, lines: readonly (readonly string[])[]): Promise<void> {
  const texts: string[] = [];
  for (const words of lines) texts.push(await said(...words));
  await expectGolden(texts.join('\n\n'), `reports/${name}.txt`);
}

const strict = written('strict.yaml', 'evaluators: [ { use: tool_error, threshold: 1 }, { use: tool_efficiency, threshold: 0.9 } ]\n');
const lax = written('lax.yaml', 'evaluators: [ { use: tool_error, threshold: 0 }, { use: tool_efficiency } ]\n');
const faulty = written('faulty.yaml', 'evaluators: [ { use: tool_eror } ]\nlisten: { otlp_http: 4318 }\n');

test('goldens: eval', async () => {
  const formats = ['table', 'json', 'markdown', 'junit', 'html'];
  await golden('eval', [
    ...formats.map((format) => ['eval', ...files, '--format', format]),
    ['eval', ...files, '--verbose'],
    ['eval', file, '-c', strict],
    ['eval', file, '--fail-under', 'tool_error=0.9'],
    ['eval', join(folder, 'nothing.jsonl')],
  ]);
});

test('goldens: replay', async () => {
  const formats = ['text', 'json', 'markdown'];
  await golden('replay', [
    ...formats.map((format) => ['replay', ...files, '-c', lax, '--against', strict, '--format', format]),
    ['replay', ...files, '-c', lax, '--against', strict, '--fail-on-regression'],
  ]);
});

test('goldens: inspect', async () => {
  await golden('inspect', [
    ['inspect', ...files],
    ['inspect', file, '--draft-dialect'],
  ]);
});

test('goldens: evaluators and configurations', async () => {
  await golden('lists', [
    ['evaluators'],
    ['evaluators', 'tool_error'],
    ['evaluators', 'tool_eror'],
    ['config', 'check', strict],
    ['config', 'check', faulty],
    ['config', 'print', strict],
    ['evl'],
    ['eval', '--fromat', 'json'],
  ]);
});

test('goldens: the requests of each exporter', async () => {
  const entries = family
    .filter(({ to }) => to !== 'forward')
    .map(({ name, to, keys }) => ({
      name,
      path: written(`${name}.yaml`, `export: [ { to: ${to}, endpoint: "http://backend:1"${keys} } ]\n`),
    }));
  await golden(
    'requests',
    entries.map(({ path }) => ['export', file, '-c', path, '--dry-run']),
  );
});
