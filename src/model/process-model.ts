/**
 * The normal process of one version of an agent, learnt from its runs: which tools directly follow each other, in which order tools stand,
 * and which arguments they get. All names of members are single words, so the data is the JSON of files and of the API as well.
 */
import { emptySketch, type QuantileSketch } from './quantile-sketch.ts';

export const argumentTypes = ['object', 'array', 'string', 'number', 'boolean', 'null'] as const;
export type ArgumentType = (typeof argumentTypes)[number];

/** A place in the arguments of a tool, such as `items[].sku`. */
export interface ArgumentPath {
  readonly path: string;
  /** Calls that have it. */
  readonly calls: number;
  /** Calls that have a value of the type there. */
  readonly types: { readonly [type in ArgumentType]?: number };
}

export interface ProcessTool {
  readonly name: string;
  /** Runs that call it. */
  readonly runs: number;
  readonly calls: number;
  /** Calls of the run that calls it most often; 0: not known. */
  readonly most: number;
  /** Calls whose arguments are known. */
  readonly shaped: number;
  readonly paths: readonly ArgumentPath[];
  /** Observations of paths that the model has no room for. */
  readonly beyond: number;
}

/** One call directly follows another; null is the start or the end of the run. */
export interface Transition {
  readonly from: string | null;
  readonly to: string | null;
  /** Runs in which it was possible: calls at the same time may be in any order. */
  readonly runs: number;
  /** Number of its occurrences, with calls at the same time in the order of their names: every entry into a tool has a matching exit. */
  readonly times: number;
}

/** Some call of `first` had ended before some call of `then` began. */
export interface ToolOrder {
  readonly first: string;
  readonly then: string;
  readonly runs: number;
}

export interface ProcessModel {
  /** Runs that it was learnt from. */
  readonly runs: number;
  readonly tools: readonly ProcessTool[];
  readonly transitions: readonly Transition[];
  readonly orders: readonly ToolOrder[];
  /** Tool calls of a run. */
  readonly calls: QuantileSketch;
  /** Milliseconds of a run. */
  readonly duration: QuantileSketch;
  /** Input and output tokens of a run. */
  readonly tokens: QuantileSketch;
  /** Observations that the model has no room for. */
  readonly beyond: { readonly tools: number; readonly transitions: number; readonly orders: number };
}

/** Limits of one model, which then takes some hundred kilobytes as JSON. */
export const processLimits = {
  tools: 100,
  transitions: 2_000,
  orders: 5_000,
  /** Limit over all tools. */
  paths: 2_000,
  /** UTF-16 units of a name or a path; longer ones are beyond the model. */
  text: 200,
} as const;

export const emptyProcess: ProcessModel = {
  runs: 0,
  tools: [],
  transitions: [],
  orders: [],
  calls: emptySketch,
  duration: emptySketch,
  tokens: emptySketch,
  beyond: { tools: 0, transitions: 0, orders: 0 },
};

/** A host's knowledge of the process of a run's agent and version. */
export interface ProcessKnowledge {
  /** Runs learnt from so far. */
  readonly runs: number;
  /** Absent until enough runs are learnt. It never changes: a later one is another object. */
  readonly model?: ProcessModel;
  /** Model of the version before this one. */
  readonly former?: ProcessModel;
  /** True when a model may be in the store and is not read yet, so that `runs` may be too few. */
  readonly isUnread?: boolean;
}
