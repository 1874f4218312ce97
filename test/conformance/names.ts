/** How the names of the vectors map to the product's own. Data only: nothing here knows a case. */
import type { JsonObject } from '../../src/model/json.ts';

export interface Names {
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

const own: { readonly [evaluator: string]: Partial<Names> } = {
  task_completion: { options: { derive_tasks: false } },
};

export function namesOf(evaluator: string): Names {
  const special = Object.hasOwn(own, evaluator) ? own[evaluator] : undefined;
  return { config: { ...common.config, ...special?.config }, options: { ...common.options, ...special?.options }, expected: { ...common.expected, ...special?.expected } };
}
