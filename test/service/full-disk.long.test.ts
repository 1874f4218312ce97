/** A disk without room: requests, /readyz and the log say so, and the service goes on by itself when there is room. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pino } from 'pino';
import type { FileLayer, LayerFile } from '../../src/journals/disk/file-system.ts';
import { nodeFiles } from '../../src/journals/disk/node-files.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { toolSpan } from '../builders/gen-ai-spans.ts';
import { eventually, running, sample, type Running } from './running.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tracejury-full-'));
});
let open: Running | undefined;
afterEach(async () => {
  await open?.stop();
  open = undefined;
  rmSync(folder, { recursive: true });
});

/** Writes fail with this code while there is one. */
function disk(): { readonly files: FileLayer; code: string | undefined } {
  const own = {
    code: undefined as string | undefined,
    files: {
      ...nodeFiles,
      async open(path, mode) {
        const file = await nodeFiles.open(path, mode);
        const layered: LayerFile = {
          write: (buffers, offset) =>
            own.code === undefined
              ? file.write(buffers, offset)
              : Promise.reject(Object.assign(new Error(`${own.code}: planted`), { code: own.code })),
          read: (buffer, offset) => file.read(buffer, offset),
          datasync: () => file.datasync(),
          size: () => file.size(),
          close: () => file.close(),
        };
        return layered;
      },
    } satisfies FileLayer,
  };
  return own;
}

function post({ otlp }: Running, id: number): Promise<Response> {
  return fetch(`${otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(writeTraces([toolSpan({ id, trace: id, parent: 1_000 })], 'protobuf')),
  });
}

for (const code of ['ENOSPC', 'EDQUOT']) {
  test(`full disk: ${code} in the journal is called that, and is over when there is room, without a request`, async () => {
    const lines: string[] = [];
    const own = disk();
    const journal = join(folder, 'journal');
    const jury = (open = await running(`journal: { url: "disk:${journal}" }\nlimits: { body_bytes: 1MiB, journal_bytes: 16MiB }\n`, {
      files: own.files,
      logger: pino({}, { write: (line: string) => void lines.push(line) }),
    }));
    const ready = (): Promise<Response> => fetch(`${jury.console}/readyz`);
    expect([(await post(jury, 1)).status, (await ready()).status]).toEqual([200, 200]);

    own.code = code;
    const refused = await post(jury, 2);
    const again = await post(jury, 3);
    for (const answer of [refused, again]) {
      expect([answer.status, Number(answer.headers.get('retry-after')) >= 1]).toEqual([503, true]);
      expect(await answer.text()).toContain('The disk is full.');
    }
    const unready = await ready();
    expect([unready.status, await unready.text()]).toEqual([
      503,
      expect.stringContaining(`The disk is full: no room in ${journal}.`) as string,
    ]);
    expect(lines.filter((line) => line.includes(`the disk is full: no room in ${journal}`))).not.toEqual([]);
    expect(sample(await jury.metrics(), 'tracejury_journal_refused_total', { tracejury_reason: 'disk_full' })).toBeGreaterThanOrEqual(2);

    own.code = undefined;
    await eventually(async () => ((await ready()).status === 200 ? true : undefined), 'a service that is ready');
    expect((await post(jury, 4)).status).toBe(200);
  });
}

test('full disk: another error of the disk is not called that', async () => {
  const own = disk();
  const jury = (open = await running(
    `journal: { url: "disk:${join(folder, 'journal')}" }\nlimits: { body_bytes: 1MiB, journal_bytes: 16MiB }\n`,
    { files: own.files },
  ));
  own.code = 'EIO';
  const refused = await post(jury, 1);
  expect([refused.status, (await refused.text()).includes('disk is full')]).toEqual([503, false]);
  expect((await fetch(`${jury.console}/readyz`)).status).toBe(200);
  own.code = undefined;
});

test('full disk: a start that finds no room fails and names the folder', async () => {
  const own = disk();
  own.code = 'ENOSPC';
  const journal = join(folder, 'journal');
  await expect(
    running(`journal: { url: "disk:${journal}" }\nlimits: { body_bytes: 1MiB, journal_bytes: 16MiB }\n`, { files: own.files }),
  ).rejects.toThrow(`the disk is full: no room in ${journal}`);
});
