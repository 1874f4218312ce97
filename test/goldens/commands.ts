/** Command lines in this process and what they say, as texts that are the same on each machine and at each time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { command } from '../builders/command.ts';
import { expectGolden } from './golden.ts';

export const recordings = join(import.meta.dirname, '../fixtures/recordings');

export interface GoldenCommands {
  readonly folder: string;
  /** Writes a file into the folder, and gives its path. */
  written(name: string, text: string): string;
  /** Runs the command lines one after another, and compares what they say with the golden of the name. `masked` hides what differs each time. */
  golden(name: string, lines: readonly (readonly string[])[], masked?: (text: string) => string): Promise<void>;
}

export function goldenCommands(): GoldenCommands {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-goldens-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const said = async (words: readonly string[]): Promise<string> => {
    const short = (text: string): string => text.replaceAll(recordings, 'recordings').replaceAll(folder, 'folder');
    const { code, out, err } = await command(words, { USER: 'ann' });
    return short(`$ tracejury ${words.join(' ')}\n${out}${err}\nexit code ${code}`)
      .replaceAll(/\b\d+(\.\d+)? m?s\b/g, '<time>')
      .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, (time) => (Date.parse(time) > performance.timeOrigin - 60_000 ? '<now>' : time));
  };
  return {
    folder,
    written(name, text) {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    async golden(name, lines, masked = (text) => text) {
      const texts: string[] = [];
      for (const words of lines) texts.push(await said(words));
      await expectGolden(masked(texts.join('\n\n')), `reports/${name}.txt`);
    },
  };
}
