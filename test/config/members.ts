/** A small family of evaluators for the tests of the configuration: one of each kind, with options of each kind, and the one for endpoints. */
import type { AnyEvaluator, JudgeEvaluator, RuleEvaluator } from '../../evaluators/evaluator.ts';
import { http } from '../../evaluators/http.ts';
import type { Outcome } from '../../src/model/verdict.ts';

const skipped: Outcome = { kind: 'skipped', reason: 'no_tool_calls', explanation: 'There are no tool calls.' };

const steady: RuleEvaluator<{ readonly strict: boolean; readonly errorPatterns: readonly string[] }> = {
  kind: 'rule',
  id: 'tool_error',
  version: 1,
  summary: 'The tools did not fail.',
  needs: ['tool_calls'],
  onByDefault: true,
  defaultThreshold: 1,
  defaults: { strict: false, errorPatterns: [] },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      strict: { type: 'boolean', description: 'Says more.' },
      error_patterns: { type: 'array', items: { type: 'string', format: 're2' } },
    },
  },
  source: 'tests',
  evaluate: () => skipped,
};

interface PathOptions {
  readonly mode: string;
  readonly calledMax: number;
  readonly arguments: { readonly mode: string; readonly trimStrings: boolean; readonly overrides: { readonly [tool: string]: string } };
}

const matching = { enum: ['exact', 'subset', 'ignore'] };

const path: RuleEvaluator<PathOptions> = {
  kind: 'rule',
  id: 'tool_trajectory',
  version: 2,
  summary: 'The tools were called in the expected order.',
  needs: ['tool_calls', 'expected_tool_calls'],
  onByDefault: false,
  defaultThreshold: 0.5,
  defaults: { mode: 'in_order', calledMax: 5, arguments: { mode: 'exact', trimStrings: false, overrides: {} } },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      mode: { enum: ['strict', 'in_order', 'any_order'] },
      called_max: { type: 'integer', minimum: 1, maximum: 10 },
      arguments: {
        type: 'object',
        additionalProperties: false,
        properties: { mode: matching, trim_strings: { type: 'boolean' }, overrides: { type: 'object', additionalProperties: matching } },
      },
    },
  },
  expectationSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['tool_calls'],
    $defs: {
      call: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: { name: { type: 'string' }, arguments: { type: 'object' }, tool_id: { type: 'string' } },
      },
    },
    properties: { tool_calls: { type: 'array', items: { $ref: '#/$defs/call' } } },
  },
  source: 'tests',
  evaluate: () => skipped,
};

const completion: JudgeEvaluator<{ readonly tasksMax: number }> = {
  kind: 'judge',
  id: 'task_completion',
  version: 1,
  summary: 'The tasks were done.',
  needs: ['input', 'tasks'],
  onByDefault: false,
  defaultThreshold: 0.5,
  defaults: { tasksMax: 10 },
  optionsSchema: { type: 'object', additionalProperties: false, properties: { tasks_max: { type: 'integer' } } },
  expectationSchema: { type: 'object', additionalProperties: false, properties: { tasks: { type: 'array', items: { type: 'string' } } } },
  source: 'tests',
  *evaluate() {
    return skipped;
  },
};

const goal: JudgeEvaluator<Record<string, never>> = {
  kind: 'judge',
  target: 'session',
  id: 'goal_reached',
  version: 1,
  summary: 'The session came to its goal.',
  needs: ['input'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: {},
  optionsSchema: { type: 'object', additionalProperties: false },
  source: 'tests',
  *evaluate() {
    return skipped;
  },
};

const raw: RuleEvaluator<Record<string, never>> = {
  kind: 'rule',
  id: 'tool_efficiency',
  version: 1,
  summary: 'Few calls were needed.',
  needs: ['tool_calls'],
  onByDefault: true,
  defaultThreshold: null,
  defaults: {},
  optionsSchema: { type: 'object', additionalProperties: false },
  source: 'tests',
  evaluate: () => skipped,
};

export const members: readonly AnyEvaluator[] = [steady, path, completion, goal, raw, http];
