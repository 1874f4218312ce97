/**
 * The part of a store with figures over time: sums of runs by agent, tool, model and evaluator, in steps of five minutes, hours and days (UTC).
 * A question costs as much as the steps and not as the runs. Days stay longer than the runs that they count.
 */
import type { Tenant } from '../ids.ts';
import type { QuantileSketch } from '../quantile-sketch.ts';
import type { Micros } from '../timestamp.ts';

/**
 * The counts of each kind. Sketches of `took` are of microseconds, those of `cost` of US dollars.
 *
 * run: runs of an agent. failed: with a verdict `fail`. errors: that ended in an error. costed: of known cost. tool: calls of a tool, whose keyed
 * counts are calls by refused argument. model: calls of a model; its sketches of tokens and cost are of what one run used. evaluator: verdicts by
 * word, sums of weights w = 1 / p over those with a pass or fail, pairs of two of them in one session, each in both
 * orders, those of runs that were raised, the runs reaching the service that these and the others represent, the scores of passes and of fails, and
 * as keyed counts the scores by bin. worded: scores of passes, fails and raw verdicts; the sums of earlier releases have fewer of them than verdicts.
 */
export const rollupShapes = {
  run: {
    counts: [
      'runs',
      'failed',
      'errors',
      'timed',
      'took',
      'inputTokens',
      'outputTokens',
      'tokened',
      'cost',
      'costed',
      'toolCalls',
      'toolErrors',
      'paused',
    ],
    sketches: ['took', 'tokens', 'cost'],
  },
  tool: { counts: ['runs', 'calls', 'errors', 'notExecuted', 'timed', 'took'], sketches: ['took'] },
  model: {
    counts: ['runs', 'calls', 'errors', 'inputTokens', 'outputTokens', 'tokened', 'cost', 'costed'],
    sketches: ['took', 'tokens', 'cost'],
  },
  evaluator: {
    counts: [
      'pass',
      'fail',
      'raw',
      'skipped',
      'error',
      'weight',
      'weightSquares',
      'passedWeight',
      'passedSquares',
      'scored',
      'score',
      'pairs',
      'raised',
      'raisedRuns',
      'usualRuns',
      'passedScore',
      'failedScore',
      'worded',
    ],
    sketches: [],
  },
} as const;

export type RollupKind = keyof typeof rollupShapes;
type CountName<Kind extends RollupKind> = (typeof rollupShapes)[Kind]['counts'][number];
type SketchName<Kind extends RollupKind> = (typeof rollupShapes)[Kind]['sketches'][number];

/** Upper edges of the bins of scores, inclusive. The first bin has only exact zeros, the last one 1 and near misses. */
export const scoreEdges = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1] as const;

/** Stands for what a step has no room for. */
export const otherRollup = 'other';

export interface RollupQuery {
  /** Runs from this time on. The start of its step counts. */
  readonly from: Micros;
  /** Runs before this time. The end of its step counts. */
  readonly to: Micros;
  readonly now: Micros;
  readonly agent?: string;
  readonly tenant?: Tenant;
  /** Name of the tool, the model or the evaluator. */
  readonly name?: string;
  /** True for rows by agent. */
  readonly byAgent?: boolean;
  /** True for rows by name. */
  readonly byName?: boolean;
  /** Rows for each step of this width; absent: over the whole time. */
  readonly stepMicros?: RollupStep;
}

/** Five minutes, an hour, a day. */
export const rollupSteps = [300_000_000, 3_600_000_000, 86_400_000_000] as const;
export type RollupStep = (typeof rollupSteps)[number];

export interface RollupRow<Kind extends RollupKind> {
  /** Empty: runs without an agent, or all agents. */
  readonly agent: string;
  readonly name: string;
  /** Start of the step; 0 without steps. */
  readonly at: Micros;
  readonly counts: { readonly [name in CountName<Kind>]: number };
  readonly sketches: { readonly [name in SketchName<Kind>]: QuantileSketch };
  /** By key, most first. */
  readonly keyed: readonly (readonly [key: string, count: number])[];
}

export interface Rollups<Kind extends RollupKind> {
  /** Ordered by agent, name and step. */
  readonly rows: readonly RollupRow<Kind>[];
  /** Start of the first step. */
  readonly from: Micros;
  /** End of the last step. */
  readonly to: Micros;
}

/** Steps of five minutes are kept this long. */
export const fineRollupMicros: Micros = 6 * 3_600_000_000;
