/** From the words of a command line to an exit code. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { ConfigError } from '../config/diagnostic.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import type { Environment } from '../config/substitution.ts';
import { JuryError } from '../model/errors.ts';
import { UsageError, type Command, type CommandInput, type Subcommand } from './command.ts';
import { faultsText } from './faults-text.ts';
import { InputFaults } from './input-faults.ts';
import { commandUsageText, usageText } from './usage.ts';

export interface CommandLine {
  /** After the program's name. */
  readonly words: readonly string[];
  readonly commands: readonly Command[];
  readonly version: string;
  readonly env: Environment;
  readonly say: (text: string) => void;
  readonly complain: (text: string) => void;
}

export async function runCommandLine(line: CommandLine): Promise<number> {
  const { words, commands, version, say, complain } = line;
  const [first, ...rest] = words;
  if (first === '--version' || first === '-v') {
    say(version);
    return 0;
  }
  if (first === undefined || first === '--help' || first === '-h') {
    (first === undefined ? complain : say)(usageText(commands));
    return first === undefined ? 2 : 0;
  }
  const command = commands.find(({ name }) => name === first);
  if (command === undefined) {
    const names = commands.map(({ name }) => name);
    const guess = didYouMean(first, names);
    complain(`tracejury: ${first} is not a command. ${guess === undefined ? `Commands: ${names.join(', ')}.` : `Did you mean ${guess}?`}`);
    return 2;
  }
  return runCommand(line, command, rest);
}

async function runCommand(line: CommandLine, command: Command, words: readonly string[]): Promise<number> {
  const { say, complain, env } = line;
  try {
    const { values, positionals } = parsed(command, words);
    if (values['help'] === true) {
      say(commandUsageText(command, subcommandIn(command, positionals)));
      return 0;
    }
    if (positionals.length > command.positionalsMax)
      throw new UsageError(`${JSON.stringify(positionals[command.positionalsMax])} is too much.`);
    return await command.run({ options: values, positionals, env, say, complain });
  } catch (error) {
    if (error instanceof UsageError)
      complain(`tracejury ${command.name}: ${error.message}\n\n${commandUsageText(command, subcommandIn(command, words))}`);
    else if (error instanceof ConfigError || (error instanceof InputFaults && error.faults.length > 0)) complain(faultsText(error.faults));
    else if (error instanceof JuryError) complain(`tracejury ${command.name}: ${error.message} ${error.todo}`);
    else throw error;
    return 2;
  }
}

function subcommandIn({ subcommands = [] }: Command, [first]: readonly string[]): Subcommand | undefined {
  return subcommands.find(({ name }) => name === first);
}

function parsed(
  command: Command,
  words: readonly string[],
): { readonly values: CommandInput['options']; readonly positionals: readonly string[] } {
  const options: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } };
  for (const [name, { type, short, multiple }] of Object.entries(command.options)) {
    options[name] = { type, ...(short === undefined ? {} : { short }), ...(multiple === undefined ? {} : { multiple }) };
  }
  try {
    return parseArgs({ args: [...words], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
