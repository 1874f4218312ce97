import { conditionForms } from '../../analytics/alerts/condition.ts';
import { duration, integer, type Section } from './section.ts';

export const alertsMax = 100;
export const alertDefaults = { by: 0, confidence: 0.99, estimate: 'interval', min_runs: 30, for: '0ms', clear: '10m' } as const;

export const alertsSection: Section = {
  key: 'alerts',
  schema: {
    type: 'array',
    maxItems: alertsMax,
    default: [],
    description:
      'Conditions on figures of agents. People are told once when one holds, and once when it is over. See docs/guides/alerts.md.',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['name', 'when'],
      properties: {
        name: {
          type: 'string',
          pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$',
          'x-words': 'Use letters, digits, dots, dashes and underscores, at most 100.',
          description: 'Unique name in messages, metrics and the API. An alert with the same name keeps its state over a reload.',
        },
        when: {
          type: 'string',
          minLength: 1,
          maxLength: 300,
          description: `The condition, in one of these forms: ${conditionForms.map((form) => `\`${form}\``).join(', ')}. NAME is an evaluator. Without \`over\` the last hour counts.`,
        },
        agent: { type: 'string', maxLength: 1000, description: 'The agent. When left out, the alert looks at each agent by itself.' },
        tenant: { type: 'string', maxLength: 1000, description: 'Runs of this tenant alone; when left out, of all tenants together.' },
        by: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          'x-unit': 'share',
          description: `The least difference between two versions that counts; ${alertDefaults.by} when left out. For \`worse than previous version\` only.`,
        },
        confidence: {
          type: 'number',
          minimum: 0.5,
          maximum: 0.9999,
          'x-unit': 'share',
          description: `Confidence of intervals; ${alertDefaults.confidence} when left out. That of a share of runs holds while its window fills, that of a difference of two versions at all looks.`,
        },
        estimate: {
          type: 'string',
          enum: ['interval', 'point'],
          description: `The estimate of a rate, a burn rate, run errors or paused runs that must pass the threshold; \`${alertDefaults.estimate}\` when left out. \`interval\`: the whole interval at \`confidence\`. \`point\`: the share of these runs alone. An agent that is exactly as good as its threshold is below it at every second look.`,
        },
        objective: {
          type: 'number',
          minimum: 0.5,
          maximum: 0.999_99,
          'x-unit': 'share',
          description: 'Share of runs that are to pass. For `burn rate` only, which needs it.',
        },
        min_runs: integer(
          alertDefaults.min_runs,
          1,
          1_000_000,
          'runs',
          'With fewer runs the state is `no_data`. Of two versions each needs as many.',
        ),
        for: duration(alertDefaults.for, '0ms', '7d', 'How long the condition must hold until the alert fires. Meanwhile it is `pending`.'),
        clear: duration(alertDefaults.clear, '0ms', '7d', 'How long the condition must not hold until a firing alert is over.'),
        repeat: duration(
          undefined,
          '5m',
          '30d',
          'Time after which people are told again that an alert fires, unless it is acknowledged. When left out, they are told once.',
        ),
        to: {
          type: 'array',
          maxItems: 20,
          items: { type: 'string', minLength: 1, maxLength: 100 },
          default: [],
          description: 'Names of entries of `export` with `to: webhook`. The log, the metrics and the API tell in any case.',
        },
      },
    },
  },
};
