/** The product's names for the names of the vectors. Data only: nothing here knows a case. */
import type { JsonObject } from '../../src/model/json.ts';

export interface Names {
  /** The product's id, where it differs from the name of the file. */
  readonly evaluator?: string;
  /** Words of the vectors → the product's own, by the path of the product's config; `*` is any key. */
  readonly words?: { readonly [path: string]: { readonly [word: string]: string } };
  /** Config key of the vectors → where the product's entry has it; keys that are not here keep their name under `options`. */
  readonly config: { readonly [key: string]: readonly string[] };
  /** Options that make the product do what the originals do. */
  readonly options: JsonObject;
  /** Key of `expected` in the vectors → key under `expect`. */
  readonly expected: { readonly [key: string]: string };
}

const common: Names = {
  config: { threshold: ['threshold'], arguments_by_tool: ['options', 'arguments', 'overrides'] },
  options: {},
  expected: { tool_calls: 'tool_calls', tool_outputs: 'tool_outputs', expected_output: 'output' },
};

const turnedModes = { subset: 'superset', superset: 'subset' };

const own: { readonly [evaluator: string]: Partial<Names> } = {
  contains: { config: { line_by_line_evaluator: ['options', 'line_by_line'] } },
  exact_match: { config: { line_by_line_evaluator: ['options', 'line_by_line'] } },
  // The originals' switch for subsets changes nothing that can be seen.
  tool_call_args: { config: { subset: [] } },
  // Their words for arguments look from the call, ours from the expectation.
  trajectory_messages: {
    evaluator: 'trajectory_match',
    words: { 'options.arguments.mode': turnedModes, 'options.arguments.overrides.*.mode': turnedModes },
  },
  tool_argument_hallucination: { options: { precheck: false } },
  task_completion: { options: { derive_tasks: false } },
};

export function namesOf(evaluator: string): Names {
  const special = Object.hasOwn(own, evaluator) ? own[evaluator] : undefined;
  return {
    ...special,
    config: { ...common.config, ...special?.config },
    options: { ...common.options, ...special?.options },
    expected: { ...common.expected, ...special?.expected },
  };
}
