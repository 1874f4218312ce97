/** The contract of a command. Only `main.ts` ends the process. */
import { writeFileSync } from 'node:fs';
import type { Environment } from '../config/document.ts';

/** 0 success, 1 a check failed, 2 wrong usage or input. */
export type ExitCode = 0 | 1 | 2;

export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** Placeholder of the value in the usage text. */
  readonly value?: string;
  readonly summary: string;
}

export interface CommandInput {
  readonly options: { readonly [name: string]: string | boolean | readonly (string | boolean)[] | undefined };
  readonly positionals: readonly string[];
  readonly env: Environment;
  /** The command to type in hints, such as `npm run tracejury --` in a checkout. */
  readonly program: string;
  /** Writes the result to standard output. */
  readonly say: (text: string) => void;
  /** Writes faults and warnings to standard error. */
  readonly complain: (text: string) => void;
}

/** A command line with its description. */
export interface CommandExample {
  readonly line: string;
  readonly does: string;
}

/** The first argument of a command with several actions. */
export interface Subcommand {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** Names of the options that apply to it. */
  readonly options: readonly string[];
  /** Summaries of options that mean something more exact here than in the help of the command. */
  readonly summaries?: { readonly [option: string]: string };
  readonly examples: readonly CommandExample[];
}

/** A row of the table of commands. The usage text needs no more, so it loads no command. */
export interface Command {
  readonly name: string;
  /** Arguments in the usage text; with the name they fit 80 columns. */
  readonly usage: string;
  /** Whole sentences that begin with a verb. */
  readonly summary: string;
  readonly load: () => Promise<CommandProgram>;
}

export interface CommandProgram {
  readonly options: { readonly [name: string]: CommandOption };
  readonly subcommands?: readonly Subcommand[];
  readonly examples: readonly CommandExample[];
  /** Most arguments that are not options. */
  readonly positionalsMax: number;
  /** Gives the exit code: an ExitCode, or that of the program that the command runs. */
  readonly run: (input: CommandInput) => number | Promise<number>;
}

/** A wrong command line: the exit code is 2, and the message points to the help of the command. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The value of an option of the type `string`; the last one when it is repeated. */
export function textOption({ options }: Pick<CommandInput, 'options'>, name: string): string | undefined {
  const given = options[name];
  return typeof given === 'string' ? given : undefined;
}

/** The values of an option that may be repeated. */
export function textOptions({ options }: Pick<CommandInput, 'options'>, name: string): readonly string[] {
  const given = options[name] ?? [];
  return Array.isArray(given) ? given.map(String) : [];
}

/** An address without a slash at the end. `what`: words for the message. */
export function addressOption(input: Pick<CommandInput, 'options'>, name: string, what: string): string | undefined {
  const url = textOption(input, name);
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`--${name} takes ${what}, which begins with http:// or https://.`);
  return url?.replace(/\/+$/, '');
}

export function reportFormat(input: Pick<CommandInput, 'options'>): 'text' | 'json' {
  const format = textOption(input, 'format') ?? 'text';
  if (format !== 'text' && format !== 'json') throw new UsageError('--format takes text or json.');
  return format;
}

/** Above 0, at most `most`; a percentage may end in a percent sign. */
export function numberOption(input: Pick<CommandInput, 'options'>, name: string, most: number): number | undefined {
  const given = textOption(input, name);
  if (given === undefined) return undefined;
  const written = most === 100 ? given.replace(/%$/, '') : given;
  const value = /^\d{1,9}(?:\.\d{1,9})?$/.test(written) ? Number(written) : Number.NaN;
  if (!(value > 0 && value <= most)) throw new UsageError(`--${name} takes a number above 0, at most ${most}.`);
  return value;
}

export function writeOutput(option: string, file: string, text: string): void {
  try {
    writeFileSync(file, `${text}\n`);
  } catch (error) {
    throw new UsageError(`--${option}: ${file} cannot be written (${codeOf(error)}).`);
  }
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
