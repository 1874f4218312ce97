/** The run kept to its budget of steps. Steps are the tool calls that ran and, where asked, the requests to models. */
import { rule } from './configuration/define.ts';
import { choice, required } from './configuration/option-table.ts';
import { evidenceOf, executedCalls, notCarried } from './evidence/calls.ts';
import { callName, count } from './explain/explanation.ts';

export const stepCount = rule({
  id: 'step_count',
  summary: 'The run kept to its budget of steps.',
  needs: ['tool_calls'],
  defaultThreshold: 1,
  options: {
    max: required(
      {
        type: 'integer',
        minimum: 1,
        maximum: 1_000_000,
        description: 'The budget. A run within it scores 1, a longer one the budget over its steps. Required.',
      },
      1,
    ),
    steps: choice(['tool_calls', 'tool_and_model_calls'], 'What counts as a step.'),
  },
  source: 'the step budget of convergence, for one run alone',
  evaluate({ trace }, { max, steps: kind }) {
    const stop = notCarried(trace);
    if (stop !== undefined) return stop;
    const calls = executedCalls(trace);
    const models = kind === 'tool_and_model_calls' ? trace.modelCalls.length : 0;
    const steps = calls.length + models;
    const beyond = kind === 'tool_calls' ? calls.slice(max) : [];
    const [first] = beyond;
    return {
      kind: 'scored',
      score: steps <= max ? 1 : max / steps,
      explanation:
        steps <= max
          ? `The run took ${count(steps, 'step')} of at most ${max}.`
          : `The run took ${count(steps, 'step')}, ${steps - max} more than the ${max} of its budget${first === undefined ? '' : `; ${callName(first)} is the first beyond it`}.`,
      evidence: evidenceOf(beyond),
      details: { steps, max, tool_calls: calls.length, ...(kind === 'tool_calls' ? {} : { model_calls: models }) },
    };
  },
});
