/** Reports of commands in each of their formats, and the requests that each exporter sends. */
import { join } from 'node:path';
import { test } from 'vitest';
import { family } from '../exporters/family.ts';
import { goldenCommands, recordings } from './commands.ts';

const { folder, written, golden } = goldenCommands();
const files = ['google-adk/toolerror', 'pydantic-ai/multiturn', 'openinference-langchain/parallel'].map((name) =>
  join(recordings, name, 'request-01.binpb'),
);
const [file = ''] = files;

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
