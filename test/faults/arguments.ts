/** The command line of fault trials. */
import { runnerArguments } from '../runner-arguments.ts';

export interface TrialArguments {
  /** Trials of each fault. */
  readonly count: number;
  /** The number of the first one. */
  readonly from: number;
  readonly seed: number;
  /** A part of the names of faults. */
  readonly only: string;
}

export function trialArguments(): TrialArguments {
  const { values } = runnerArguments({
    options: {
      trials: { type: 'string', default: '3' },
      only: { type: 'string', default: '' },
      from: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
    },
  });
  return { count: Number(values.trials), from: Number(values.from), seed: Number(values.seed), only: values.only };
}
