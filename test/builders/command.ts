/** Runs a command line in this process. */
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';

export interface CommandEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function command(words: readonly string[], env: { readonly [name: string]: string } = {}): Promise<CommandEnd> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCommandLine({
    words,
    commands,
    version: '',
    env,
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}
