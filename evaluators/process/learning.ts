/** Chooses the process model that an evaluator compares a run with, and has the options of evaluators that learn. */
import type { Run } from '../../src/model/agent-trace.ts';
import type { ProcessModel } from '../../src/model/process-model.ts';
import { option, flag, optional } from '../configuration/define.ts';
import { cutShort, notCarried, skipped, type Skipped } from '../evidence/calls.ts';
import type { EvaluationContext, Fault, Subject } from '../evaluator.ts';
import { readProcessModel } from './model-json.ts';
import { grouped } from './seen.ts';

/** Fewer runs give a model that can hardly call anything unusual. */
const runsLeast = 20;
const runsMost = 1_000_000;

/** The options of every evaluator that learns. */
export const learningOptions = {
  runs_min: option<number>(
    { type: 'integer', minimum: runsLeast, maximum: runsMost, description: 'Passing runs to learn from before the first verdict.' },
    200,
  ),
  runs_max: option<number>(
    {
      type: 'integer',
      minimum: runsLeast,
      maximum: runsMost,
      description: 'Passing runs to learn from altogether. The largest number of several such entries applies.',
    },
    1_000,
  ),
  freeze: flag(
    'True to keep the model of a version unchanged after runs_max runs. False to go on, with older runs losing weight: when it has runs_max runs, all counts are halved.',
    true,
  ),
  learn_when: optional<string>({
    type: 'string',
    maxLength: 500,
    description:
      'The runs to learn from, as an expression about the verdicts of rules: `tool_error = 1 and agent = support`. Defaults to runs without an error that no other rule fails.',
  }),
  former_version: flag('Scores the runs of a new version by the model of the version before it, until its own is learnt.'),
  model: optional<unknown>({
    type: ['object', 'string'],
    description:
      'A fixed model instead of a learnt one: the JSON of `GET /api/v1/processes/{agent}/{version}`, or the path of a file with it, relative to the configuration.',
  }),
} as const;

export interface LearningOptions {
  readonly runsMin: number;
  readonly runsMax: number;
  readonly freeze: boolean;
  readonly learnWhen?: string;
  readonly formerVersion: boolean;
  readonly model?: unknown;
}

export function learningFaults({ runsMin, runsMax, model }: LearningOptions): readonly Fault[] {
  const read = model === undefined ? undefined : readProcessModel(model);
  return [
    ...(runsMin > runsMax ? [{ path: ['runs_min'], problem: `is more than runs_max (${runsMax}), so no run would be scored` }] : []),
    ...(typeof model === 'string' ? [{ path: ['model'], problem: `names a file, ${JSON.stringify(model)}, that was not loaded` }] : []),
    ...(read?.kind === 'faulty' && typeof model !== 'string' ? [{ path: ['model', ...read.path], problem: read.problem }] : []),
  ];
}

export type Learnt =
  | {
      readonly kind: 'learnt';
      readonly model: ProcessModel;
      /** True when it is the model of the version before that of the run. */
      readonly isFormer: boolean;
    }
  | Skipped;

/** The model for a run, or why the run is not compared with one. */
export function learntProcess({ trace, run }: Subject, options: LearningOptions, context: EvaluationContext): Learnt {
  const known = run === undefined ? undefined : context.processOf?.(run);
  const missing = notCarried(trace);
  if (missing !== undefined) return missing;
  if (options.model === undefined && known === undefined)
    return skipped(
      'no_model',
      'No process is learnt here; a running service learns one, and options.model names the file of one that the API gave out.',
    );
  if (run !== undefined && run.completeness !== 'complete') return incomplete(run);
  if (trace.truncated?.includes('spans') === true) return cutShort('spans (some may be tool calls),');
  if (options.model !== undefined) return { kind: 'learnt', model: fixedModel(options.model, options, context), isFormer: false };
  const { runs, model, former, isUnread } = known ?? { runs: 0 };
  if (model !== undefined && model.runs >= options.runsMin) return { kind: 'learnt', model, isFormer: false };
  if (options.formerVersion && former !== undefined && former.runs >= options.runsMin)
    return { kind: 'learnt', model: former, isFormer: true };
  if (isUnread === true)
    return skipped('learning', 'The process of this version is being read from the store.', { runs_min: options.runsMin });
  return skipped('learning', `The process of this version is not known yet; learning: ${grouped(runs)} of ${grouped(options.runsMin)}.`, {
    runs,
    runs_min: options.runsMin,
  });
}

/** A call that has not arrived would look like one that the agent left out. */
function incomplete({ completeness }: Run): Skipped {
  return skipped('incomplete', `The run is ${completeness}, and a call whose span is missing would look like one that was left out.`);
}

function fixedModel(model: unknown, options: object, context: EvaluationContext): ProcessModel {
  const read = context.once(model as object, options, () => readProcessModel(model));
  if (read.kind === 'faulty') throw new Error('an unchecked process model');
  return read.model;
}
