/** The help of each command. */
import { test } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { command } from '../builders/command.ts';
import { expectGolden } from './golden.ts';

test('goldens: the help of each command and subcommand is as before', async () => {
  const pages: string[] = [];
  const show = async (...words: readonly string[]): Promise<void> => {
    const { out, err } = await command([...words, '--help']);
    pages.push(`$ tracejury ${[...words, '--help'].join(' ')}\n${out}${err}`);
  };
  await show();
  for (const { name, load } of commands) {
    await show(name);
    for (const subcommand of (await load()).subcommands ?? []) await show(name, subcommand.name);
  }
  await expectGolden(pages.join('\n\n'), 'help.txt');
});

test('goldens: the JSON Schema of the configuration is as before', async () => {
  await expectGolden((await command(['config', 'schema'])).out, 'configuration.schema.json');
});
