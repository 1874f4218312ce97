/** What is done to spans before they are scored: `redact`, `tools`, `groups`. */
import type { Section } from './section.ts';

export const redact: Section = {
  key: 'redact',
  schema: {
    type: 'array',
    description: 'What is blotted out before anything is stored, judged or exported, in this order.',
    default: [],
    maxItems: 100,
    items: {
      type: 'object',
      additionalProperties: false,
      properties: {
        match: { enum: ['email', 'credit_card'], description: 'A ready pattern.' },
        pattern: { type: 'string', minLength: 1, maxLength: 1000, 'x-pattern': true, description: 'A regular expression of your own.' },
        replace: { type: 'string', maxLength: 1000, default: '[redacted]', description: 'What stands in its place.' },
      },
    },
  },
};

export const tools: Section = {
  key: 'tools',
  schema: {
    type: 'array',
    description: 'Tool definitions for agents whose spans carry none. Where the spans of a run name its tools, what they lack about these is filled in, and no tool is added.',
    default: [],
    maxItems: 10_000,
    items: {
      type: 'object',
      additionalProperties: false,
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 1000, description: 'Name of the tool, as the spans tell it.' },
        description: { type: 'string', default: '', description: 'What the model is told about it.' },
        input_schema: { type: 'object', description: 'JSON Schema of its arguments.' },
        file: { type: 'string', minLength: 1, description: 'Instead of the above: a JSON file with a list of definitions, from the folder of the configuration.' },
      },
    },
  },
};

export const groups: Section = {
  key: 'groups',
  schema: {
    type: 'object',
    description: 'Which runs are compared with one another.',
    additionalProperties: false,
    default: {},
    properties: {
      task_key: { type: 'string', minLength: 1, maxLength: 1000, default: 'attributes.task', description: 'Where the name of the task stands: runs with the same value are runs of the same task.' },
    },
  },
};
