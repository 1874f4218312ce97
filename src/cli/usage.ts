/** The usage text, from the table of commands. No line is wider than a terminal of 80 columns. */
import type { Command, CommandExample, Subcommand } from './command.ts';

const width = 80;
/** A longer left cell stands on a line of its own. */
const leftMax = 28;

export function usageText(commands: readonly Command[]): string {
  return [
    'Usage: tracejury COMMAND',
    '',
    ...commands.flatMap((command) => [`  ${signature(command)}`, ...wrapped(command.summary, 6)]),
    '  --help',
    ...wrapped('Shows this text; after a command, its options and examples.', 6),
    '  --version',
    ...wrapped('Shows the version.', 6),
    '',
    'Exit codes: 0 all is well, 1 what was checked has faults, 2 bad usage or input.',
  ].join('\n');
}

/** The page of a command, or of one of its subcommands. */
export function commandUsageText(command: Command, subcommand?: Subcommand): string {
  const page =
    subcommand === undefined
      ? command
      : {
          ...subcommand,
          options: Object.fromEntries(Object.entries(command.options).filter(([name]) => subcommand.options.includes(name))),
        };
  const options = Object.entries(page.options).map(([name, { short, value, summary }]) => {
    const letters = short === undefined ? '' : `-${short}, `;
    return [`${letters}--${name}${value === undefined ? '' : ` ${value}`}`, summary] as const;
  });
  const below = subcommand === undefined ? (command.subcommands ?? []) : [];
  return [
    `Usage: tracejury ${subcommand === undefined ? signature(command) : `${command.name} ${signature(subcommand)}`}`,
    '',
    ...wrapped(page.summary, 0),
    ...(below.length === 0 ? [] : ['', 'Subcommands:', ...below.flatMap((one) => [`  ${signature(one)}`, ...wrapped(one.summary, 6)])]),
    ...(options.length === 0 ? [] : ['', 'Options:', ...wrappedColumns(options)]),
    ...examples(page.examples),
    ...(below.length === 0 ? [] : ['', `More about one: tracejury ${command.name} ${below.map(({ name }) => name).join('|')} --help`]),
  ].join('\n');
}

/** Two columns, the first as wide as its longest cell. */
export function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const widest = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(widest)}  ${right}`.trimEnd());
}

function examples(all: readonly CommandExample[]): readonly string[] {
  return all.length === 0 ? [] : ['', 'Examples:', ...all.flatMap(({ line, does }) => [...wrapped(does, 2), `    ${line}`])];
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

/** A word that is longer than a line stays whole. */
function wrapped(text: string, indent: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && longer.length > width - indent) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((one) => `${' '.repeat(indent)}${one}`);
}

function signature({ name, usage }: Pick<Command, 'name' | 'usage'>): string {
  return `${name} ${usage}`.trimEnd();
}
