import type { Section } from './section.ts';

export const logFormats = ['auto', 'json', 'pretty'] as const;
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const log: Section = {
  key: 'log',
  schema: {
    type: 'object',
    description: 'What the service says while it runs, on standard output ([the log](../guides/operations.md#the-log)).',
    additionalProperties: false,
    default: {},
    properties: {
      format: {
        enum: logFormats,
        'x-restart': true,
        default: 'auto',
        description:
          '`json`: one JSON object a line, without texts of runs. `pretty`: readable lines with local time, and at the start what is on. `auto`: `pretty` on a terminal, `json` elsewhere.',
      },
      level: {
        enum: logLevels,
        'x-restart': true,
        default: 'info',
        description: 'The least severe lines that are written; `silent`: none.',
      },
    },
  },
};
