/** A command with several actions: its first argument names one, and the table of actions sets how many more it takes. */
import { type CommandInput, type CommandProgram, type Subcommand, UsageError } from './command.ts';
import { didYouMean } from '../model/did-you-mean.ts';

export interface Action extends Subcommand {
  /** Most arguments behind the name of the action that are not options. */
  readonly argumentsMax: number;
  /** Gives the exit code. */
  readonly run: (input: CommandInput, given: readonly string[]) => number | Promise<number>;
}

/** The members of a command that follow from its actions. `usual`: the action of a command line that names none. */
export function commandOfActions(actions: readonly Action[], usual = ''): Pick<CommandProgram, 'subcommands' | 'positionalsMax' | 'run'> {
  const names = actions.map(({ name }) => name);
  return {
    subcommands: actions,
    // Allows one too many, so that the action can name it.
    positionalsMax: Math.max(...actions.map(({ argumentsMax }) => argumentsMax)) + 2,
    async run(input) {
      const [name = usual, ...given] = input.positionals;
      const action = actions.find((one) => one.name === name);
      if (action === undefined) throw new UsageError(faultOf(name, names));
      const { argumentsMax } = action;
      if (given.length > argumentsMax)
        throw new UsageError(`There are too many arguments, from ${JSON.stringify(given[argumentsMax])} on.`);
      return await action.run(input, given);
    },
  };
}

function faultOf(name: string, names: readonly string[]): string {
  const list = names.join(', ');
  if (name === '') return `Name the action: ${list}.`;
  const guess = didYouMean(name, names);
  return `${JSON.stringify(name)} is not one of ${list}.${guess === undefined ? '' : ` Did you mean ${guess}?`}`;
}
