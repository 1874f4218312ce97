/** Runs a command line and gives its exit code. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { type Command, type CommandExample, type CommandInput, type CommandProgram, type Subcommand, UsageError } from './command.ts';
import { faultsText, InputFaults } from './input-faults.ts';
import { ConfigError } from '../config/diagnostic.ts';
import type { Environment } from '../config/document.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import { JuryError } from '../model/errors.ts';
import { wrapped } from '../report/text.ts';

interface CommandLine {
  /** Arguments after the name of the program. */
  readonly words: readonly string[];
  readonly commands: readonly Command[];
  readonly version: string;
  /** The command that runs the program; `tracejury` by default. */
  readonly program?: string;
  readonly env: Environment;
  readonly say: (text: string) => void;
  readonly complain: (text: string) => void;
}

const plainProgram = 'tracejury';

export async function runCommandLine(line: CommandLine): Promise<number> {
  const { words, commands, version, program = plainProgram, say, complain } = line;
  const [first, ...rest] = words;
  if (first === '--version' || first === '-v') {
    say(version);
    return 0;
  }
  if (first === undefined || first === '--help' || first === '-h') {
    (first === undefined ? complain : say)(withProgram(usageText(commands), program));
    return first === undefined ? 2 : 0;
  }
  const command = commands.find(({ name }) => name === first);
  if (command === undefined) {
    const names = commands.map(({ name }) => name);
    const guess = didYouMean(first, names);
    const hint = guess === undefined ? `Commands: ${names.join(', ')}.` : `Did you mean ${guess}?`;
    complain(`tracejury: ${first} is not a command. ${hint} ${program} --help describes each of them.`);
    return 2;
  }
  return runCommand(line, { ...command, ...(await command.load()) }, rest);
}

interface LoadedCommand extends Command, CommandProgram {}

async function runCommand(line: CommandLine, command: LoadedCommand, words: readonly string[]): Promise<number> {
  const { say, complain, env, program = plainProgram } = line;
  try {
    const { values, positionals } = parsed(command, words);
    if (values['help'] === true) {
      say(withProgram(commandUsageText(command, subcommandIn(command, positionals)), program));
      return 0;
    }
    if (positionals.length > command.positionalsMax)
      throw new UsageError(`There are too many arguments, from ${JSON.stringify(positionals[command.positionalsMax])} on.`);
    return await command.run({ options: values, positionals, env, program, say, complain });
  } catch (error) {
    if (error instanceof UsageError) complain(usageFaultText(error, command, words, program));
    else if (error instanceof ConfigError || (error instanceof InputFaults && error.faults.length > 0)) complain(faultsText(error.faults));
    else if (error instanceof JuryError) complain(`tracejury ${command.name}: ${error.message} ${error.todo}`);
    else throw error;
    return 2;
  }
}

/** The message and a pointer to the help; the whole help when the command has no arguments. */
function usageFaultText({ message }: UsageError, command: LoadedCommand, words: readonly string[], program: string): string {
  const fault = `tracejury ${command.name}: ${message}`;
  if (words.length === 0) return `${fault}\n\n${withProgram(commandUsageText(command), program)}`;
  const page = [command.name, subcommandIn(command, words)?.name].filter((name) => name !== undefined).join(' ');
  return `${fault} Run ${program} ${page} --help for its options.`;
}

/** The help writes `tracejury`; where npm runs the program, a last line names the command to type. */
function withProgram(text: string, program: string): string {
  return program === plainProgram ? text : `${text}\n\nHere, type ${program} in place of tracejury.`;
}

function subcommandIn({ subcommands = [] }: CommandProgram, [first]: readonly string[]): Subcommand | undefined {
  return subcommands.find(({ name }) => name === first);
}

function parsed(
  command: CommandProgram,
  words: readonly string[],
): { readonly values: CommandInput['options']; readonly positionals: readonly string[] } {
  const options: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } };
  for (const [name, { type, short, multiple }] of Object.entries(command.options)) {
    options[name] = { type, ...(short === undefined ? {} : { short }), ...(multiple === undefined ? {} : { multiple }) };
  }
  try {
    return parseArgs({ args: [...words], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new UsageError(optionFault(error, Object.keys(options)));
  }
}

/** Node's message in one sentence; for an unknown option with the nearest known one. */
function optionFault(error: unknown, known: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const unknown = /^Unknown option '(-{1,2}[^']*)'/.exec(message)?.[1];
  if (unknown === undefined) return `${message.split('\n')[0]?.replace(/\.$/, '') ?? ''}.`;
  const guess = didYouMean(unknown.replace(/^-+/, ''), known);
  return `${unknown} is not an option.${guess === undefined ? '' : ` Did you mean --${guess}?`}`;
}

/** Columns of the usage text. */
const width = 80;
/** A longer left cell has its own line. */
const leftMax = 28;

function usageText(commands: readonly Command[]): string {
  return [
    'Usage: tracejury COMMAND',
    '',
    ...commands.flatMap((command) => [...wrapped(signature(command), 2, 6), ...wrapped(command.summary, 6)]),
    '  --help',
    ...wrapped('Shows this text; after a command, its options and examples.', 6),
    '  --version',
    ...wrapped('Shows the version.', 6),
    '',
    'Exit codes: 0 success, 1 a check failed, 2 wrong usage or input.',
  ].join('\n');
}

/** The help of a command, or of one of its subcommands. */
function commandUsageText(command: LoadedCommand, subcommand?: Subcommand): string {
  const page =
    subcommand === undefined
      ? command
      : {
          ...subcommand,
          options: Object.fromEntries(Object.entries(command.options).filter(([name]) => subcommand.options.includes(name))),
        };
  const options = Object.entries(page.options).map(([name, { short, value, summary }]) => {
    const letters = short === undefined ? '' : `-${short}, `;
    return [`${letters}--${name}${value === undefined ? '' : ` ${value}`}`, subcommand?.summaries?.[name] ?? summary] as const;
  });
  const below = subcommand === undefined ? (command.subcommands ?? []) : [];
  return [
    ...wrapped(`Usage: tracejury ${subcommand === undefined ? signature(command) : `${command.name} ${signature(subcommand)}`}`, 0, 7),
    '',
    ...wrapped(page.summary, 0),
    ...(below.length === 0
      ? []
      : ['', 'Subcommands:', ...below.flatMap((one) => [...wrapped(signature(one), 2, 6), ...wrapped(one.summary, 6)])]),
    ...(options.length === 0 ? [] : ['', 'Options:', ...wrappedColumns(options)]),
    ...examples(page.examples),
    ...(below.length === 0
      ? []
      : ['', ...wrapped(`More about one: tracejury ${command.name} ${below.map(({ name }) => name).join('|')} --help`, 0, 2)]),
  ].join('\n');
}

function examples(all: readonly CommandExample[]): readonly string[] {
  return all.length === 0 ? [] : ['', 'Examples:', ...all.flatMap(({ line, does }) => [...wrapped(does, 2), ...commandLines(line)])];
}

/** A longer command goes on in the next line, as a shell reads it. */
function commandLines(command: string): readonly string[] {
  const mark = ' \\';
  const lines: string[] = [];
  let line = '    ';
  for (const part of command.split(/ (?=-)/)) {
    const longer = line.trim() === '' ? `${line}${part}` : `${line} ${part}`;
    if (line.trim() !== '' && longer.length > width - mark.length) {
      lines.push(`${line}${mark}`);
      line = `      ${part}`;
    } else line = longer;
  }
  return [...lines, line];
}

function wrappedColumns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const widest = Math.max(0, ...rows.map(([left]) => left.length).filter((length) => length <= leftMax));
  return rows.flatMap(([left, right]) => {
    const lines = wrapped(right, widest + 4);
    return left.length > leftMax
      ? [`  ${left}`, ...lines]
      : [`  ${left.padEnd(widest)}  ${(lines[0] ?? '').trimStart()}`, ...lines.slice(1)];
  });
}

function signature({ name, usage }: Pick<Command, 'name' | 'usage'>): string {
  return `${name} ${usage}`.trimEnd();
}
