/** What is done to the traffic: `redact`, `tools`, `groups`. */
import { readyPatterns, replacementDefault } from '../../redaction/settings.ts';
import { TASK_PATH } from '../../pipeline/reporting/task-keys.ts';
import type { Section } from './section.ts';

export const redact: Section = {
  key: 'redact',
  schema: {
    type: 'array',
    description:
      'Texts that are replaced before runs are stored, judged, exported or logged. Rules read the true values. Where matches overlap, what stands first in the list says what stands in their place. docs/guides/redaction.md says more.',
    default: [],
    maxItems: 100,
    items: {
      type: 'object',
      additionalProperties: false,
      properties: {
        match: { enum: readyPatterns, description: 'A ready pattern.' },
        pattern: { type: 'string', minLength: 1, maxLength: 1000, 'x-pattern': true, description: 'A regular expression of your own.' },
        replace: {
          type: 'string',
          maxLength: 1000,
          default: replacementDefault,
          description: 'What stands in its place. No entry of the list may match it.',
        },
      },
    },
  },
};

export const tools: Section = {
  key: 'tools',
  schema: {
    type: 'array',
    description:
      'Tool definitions for agents whose spans carry none. Where the spans of a run name its tools, what they lack about these is filled in, and no tool is added.',
    default: [],
    maxItems: 10_000,
    items: {
      type: 'object',
      additionalProperties: false,
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 1000, description: 'Name of the tool, as the spans carry it.' },
        description: { type: 'string', default: '', description: 'What the model reads about it.' },
        input_schema: { type: 'object', description: 'JSON Schema of its arguments.' },
        file: {
          type: 'string',
          minLength: 1,
          description: 'Instead of the above: a JSON file with a list of definitions, from the folder of the configuration.',
        },
      },
    },
  },
};

export const groups: Section = {
  key: 'groups',
  schema: {
    type: 'object',
    description: 'Which runs are compared with one another: the last ones of the same agent and task.',
    additionalProperties: false,
    default: {},
    properties: {
      task_key: {
        type: 'string',
        pattern: TASK_PATH,
        'x-words': 'Write attributes. and the key of an attribute, or input.',
        default: 'attributes.task',
        description:
          'Where the name of the task stands. `attributes.KEY`: an attribute of the agent’s span, else of another span of its trace, else of the resource. `input`: what the agent was asked.',
      },
      runs: {
        type: 'integer',
        minimum: 2,
        maximum: 100,
        default: 50,
        'x-unit': 'runs',
        description: 'Runs of one agent and task that are compared, the last ones by their start.',
      },
      tasks: {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        default: 500,
        'x-unit': 'tasks',
        description: 'Pairs of agent and task that are remembered. Beyond it the one that had no run for longest is forgotten.',
      },
      steps: { enum: ['tool_calls', 'tool_and_model_calls'], default: 'tool_calls', description: 'What counts as a step.' },
      success: {
        type: 'string',
        maxLength: 100,
        description:
          'Name of an evaluator: a run succeeds when it passes, and is left out while it has no verdict. Left out: a run succeeds unless it ends in an error.',
      },
    },
  },
};
