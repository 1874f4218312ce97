/** The command line in this process, with a separate folder for store and files. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';

export const agent = join(import.meta.dirname, 'agent.ts');

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Workplace {
  readonly folder: string;
  /** Writes a file into the folder, and gives its path. */
  file(name: string, text: string): string;
  tracejury(words: readonly string[], env?: { readonly [name: string]: string }): Promise<Outcome>;
  /** The starts of the agent: its input on standard input, and in the variable. */
  starts(): readonly (readonly [string, string | number | null])[];
}

export function workplace(config = ''): Workplace {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-experiment-'));
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 3 }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const configFile = file('tracejury.yaml', `store: { url: 'sqlite:${join(folder, 'tracejury.db')}' }\n${config}`);
  const log = file('starts.jsonl', '');
  return {
    folder,
    file,
    async tracejury([command = '', action = '', ...words], env = {}) {
      const [out, err] = [[] as string[], [] as string[]];
      const code = await runCommandLine({
        words: [command, action, '-c', configFile, ...words],
        commands,
        version: '',
        env: { PATH: process.env['PATH'], AGENT_LOG: log, ...env },
        say: (text) => out.push(text),
        complain: (text) => err.push(text),
      });
      return { code, out: out.join('\n'), err: err.join('\n') };
    },
    starts: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as readonly [string, string | number | null]])),
  };
}
