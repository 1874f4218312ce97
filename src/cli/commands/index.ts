/** The commands, in the order of the usage text. */
import type { Command } from '../command.ts';
import { config } from './config.ts';
import { dataset } from './dataset.ts';
import { demo } from './demo.ts';
import { evaluate } from './eval.ts';
import { evaluators } from './evaluators.ts';
import { exportScores } from './export.ts';
import { inspect } from './inspect.ts';
import { judge } from './judge.ts';
import { serve } from './serve.ts';

export const commands: readonly Command[] = [serve, evaluate, judge, dataset, inspect, exportScores, config, evaluators, demo];
