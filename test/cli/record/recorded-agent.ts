/** `tracejury record` around the agent of `agent.ts`, as a separate process. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { command, type CommandEnd } from '../../builders/command.ts';

export async function recordedAgent(
  folder: string,
  words: readonly string[],
  { env, options = [] }: { readonly env?: { readonly [name: string]: string }; readonly options?: readonly string[] } = {},
): Promise<CommandEnd & { readonly file: string }> {
  const file = join(mkdtempSync(join(folder, 'run-')), 'spans.jsonl');
  const agent = join(import.meta.dirname, 'agent.ts');
  return {
    ...(await command(['record', '--output', file, ...options, '--', process.execPath, agent, ...words], {
      PATH: process.env['PATH'] ?? '',
      ...env,
    })),
    file,
  };
}
