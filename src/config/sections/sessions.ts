import type { Section } from './section.ts';

/** `sessions`: when the turns of a conversation are judged as a whole. */
export const sessions: Section = {
  key: 'sessions',
  schema: {
    type: 'object',
    description:
      'Runs with one session id are the turns of a session. Evaluators that judge sessions as a whole, such as `goal_reached`, judge it after it has been quiet.',
    additionalProperties: false,
    default: {},
    properties: {
      quiet: duration(
        '10m',
        '1s',
        '7d',
        'Without a further turn for so long, a session is judged; a turn that comes later has it judged again.',
      ),
      latest: duration('6h', '1m', '30d', 'A session that never pauses is judged as often as this. At least `quiet`.'),
      keep: duration(
        '1d',
        '1m',
        '30d',
        'Without a turn for so long, a session is forgotten: a turn that comes later begins another one. At least `quiet`.',
      ),
      rows: {
        type: 'integer',
        minimum: 1,
        maximum: 1_000_000,
        default: 10_000,
        'x-unit': 'sessions',
        description:
          'How many sessions that were chosen to be judged are remembered, with their turns; while there are as many, those that begin end as `overload`.',
      },
    },
  },
};

function duration(preset: string, minimum: string, maximum: string, description: string) {
  return { type: 'string', 'x-quantity': { kind: 'duration', minimum, maximum }, default: preset, description } as const;
}
