/** The commands, in the order of the usage text. */
import type { Command } from '../command.ts';
import { config } from './config.ts';
import { dataset } from './dataset.ts';
import { demo } from './demo.ts';
import { evaluate } from './eval.ts';
import { evaluators } from './evaluators.ts';
import { experiment } from './experiment.ts';
import { exportScores } from './export.ts';
import { init } from './init.ts';
import { inspect } from './inspect.ts';
import { judge } from './judge.ts';
import { queue } from './queue.ts';
import { record } from './record.ts';
import { replayRuns } from './replay.ts';
import { runs } from './runs.ts';
import { serve } from './serve.ts';

export const commands: readonly Command[] = [
  serve,
  init,
  runs,
  evaluate,
  replayRuns,
  judge,
  dataset,
  experiment,
  queue,
  inspect,
  record,
  exportScores,
  config,
  evaluators,
  demo,
];
