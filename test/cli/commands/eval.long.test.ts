/** `tracejury eval` as a process. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { command } from '../../builders/command.ts';

const root = join(import.meta.dirname, '../../..');

test('eval: spans on standard input give the same verdicts as their folder', async () => {
  const path = join(root, 'test/fixtures/recordings/openinference-langchain/toolerror');
  const { spans } = readTraces(readFileSync(join(path, 'request-01.binpb')), 'protobuf');
  const { status, stdout } = spawnSync(process.execPath, ['src/cli/main.ts', 'eval', '-', '--format', 'json'], {
    cwd: root,
    input: spans.map((one) => `${writeTraces([one], 'json').toString()}\n`).join(''),
    env: {},
  });
  expect([status, stdout.toString().trim()]).toEqual([1, (await command(['eval', path, '--format', 'json'])).out]);
});
