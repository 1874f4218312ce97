/** The contract of a command: its place in the usage text, and what it does. Only `main.ts` ends the process. */
import type { Environment } from '../config/substitution.ts';

/** 0 all is well, 1 the thing that was checked has faults, 2 bad usage or input. */
export type ExitCode = 0 | 1 | 2;

interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** What stands for its value in the usage text. */
  readonly value?: string;
  readonly summary: string;
}

export interface CommandInput {
  readonly options: { readonly [name: string]: string | boolean | readonly (string | boolean)[] | undefined };
  readonly positionals: readonly string[];
  readonly env: Environment;
  /** What a person types to run the program, for hints that name a command: `npm run tracejury --` in a checkout. */
  readonly program: string;
  /** Writes the result to standard output. */
  readonly say: (text: string) => void;
  /** Writes faults and warnings to standard error. */
  readonly complain: (text: string) => void;
}

/** A line to copy, and what it does. */
export interface CommandExample {
  readonly line: string;
  readonly does: string;
}

/** The first argument of a command that has several; `--help` behind it shows it alone. */
export interface Subcommand {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** Names of the command's options that are for it. */
  readonly options: readonly string[];
  readonly examples: readonly CommandExample[];
}

export interface Command {
  readonly name: string;
  /** What follows the name in the usage text; together they fit a line of 80 columns. */
  readonly usage: string;
  /** Whole sentences that begin with a verb. */
  readonly summary: string;
  readonly options: { readonly [name: string]: CommandOption };
  readonly subcommands?: readonly Subcommand[];
  readonly examples: readonly CommandExample[];
  /** Most arguments that are not options. */
  readonly positionalsMax: number;
  /** Gives the exit code; a command that runs another one exits as that one. */
  readonly run: (input: CommandInput) => number | Promise<number>;
}

/** Thrown for a mistyped command line: the message goes out with the way to the command's help, and the exit code is 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
