import type { Section } from './section.ts';

export const closing: Section = {
  key: 'closing',
  schema: {
    type: 'object',
    description: 'When a run counts as finished and is scored.',
    additionalProperties: false,
    default: {},
    properties: {
      settle: duration('500ms', '0ms', '1h', 'Wait after the last span of a run of which nothing is missing.'),
      quiet: duration(
        '5s',
        '0ms',
        '1d',
        'Wait after the last span of a run whose agent span has come while other parts are missing. At least `settle`.',
      ),
      abandon: duration('10m', '1s', '30d', 'Wait after the last span of a run whose agent span never came. At least `quiet`.'),
      late: duration('1h', '0ms', '30d', 'How long after its close a run still takes late spans and is scored again.'),
    },
  },
};

function duration(preset: string, minimum: string, maximum: string, description: string) {
  return { type: 'string', 'x-quantity': { kind: 'duration', minimum, maximum }, default: preset, description } as const;
}
