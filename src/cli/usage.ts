/** The usage text, from the table of commands. */
import type { Command } from './command.ts';

export function usageText(commands: readonly Command[]): string {
  const lines = commands.map((command) => [signature(command), command.summary] as const);
  return [
    'Usage: tracejury COMMAND',
    '',
    ...columns([...lines, ['--help', 'this text; after a command, the text of that command'], ['--version', 'the version']]),
    '',
    'Exit codes: 0 all is well, 1 what was checked has faults, 2 bad usage or input.',
  ].join('\n');
}

export function commandUsageText(command: Command): string {
  const options = Object.entries(command.options).map(([name, { short, value, summary }]) => {
    const letters = short === undefined ? '' : `-${short}, `;
    return [`${letters}--${name}${value === undefined ? '' : ` ${value}`}`, summary] as const;
  });
  return [`Usage: tracejury ${signature(command)}`, '', command.summary, ...(options.length === 0 ? [] : ['', ...columns(options)])].join('\n');
}

/** Two columns, the first as wide as its longest cell. */
export function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd());
}

function signature(command: Command): string {
  return `${command.name} ${command.usage}`.trimEnd();
}
