import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openJournal } from '../../src/journals/index.ts';
import { testParts } from './parts.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-open-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('journal: a folder that cannot be one is an error with its name and the reason', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, 'not a folder');
  await expect(openJournal({ scheme: 'disk', rest: join(file, 'journal') }, { bytesMax: 1_000_000 }, testParts())).rejects.toMatchObject({
    code: 'JOURNAL_UNUSABLE',
    message: expect.stringContaining(join(file, 'journal')) as unknown,
  });
});
