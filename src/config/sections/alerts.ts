import { conditionForms } from '../../analytics/alerts/condition.ts';
import { duration, integer, list, number, object, share, text } from '../field.ts';
import { ownName } from './section.ts';

export const alertsMax = 100;
export const alertDefaults = { by: 0, confidence: 0.99, estimate: 'interval', min_runs: 30 } as const;

const alert = object(
  { required: ['name', 'when'] },
  {
    name: ownName('Unique name in messages, metrics and the API. An alert with the same name keeps its state over a reload.'),
    when: text(
      { minLength: 1, maxLength: 300 },
      `The condition, in one of these forms: ${conditionForms.map((form) => `\`${form}\``).join(', ')}. NAME is an evaluator. Without \`over\` the last hour counts.`,
    ),
    agent: text({ maxLength: 1000 }, 'The agent. When left out, the alert looks at each agent by itself.'),
    tenant: text({ maxLength: 1000 }, 'Only runs of this tenant. Defaults to all tenants together.'),
    by: share(
      undefined,
      `The least difference between two versions that counts; ${alertDefaults.by} when left out. Only used by \`worse than previous version\`.`,
    ),
    confidence: number(
      { minimum: 0.5, maximum: 0.9999, 'x-unit': 'share' },
      `Confidence of intervals; ${alertDefaults.confidence} when left out. That of a share of runs holds while its window fills, that of a difference of two versions at all looks.`,
    ),
    estimate: text(
      { enum: ['interval', 'point'] },
      `The estimate of a rate, a burn rate, run errors or paused runs that must pass the threshold; \`${alertDefaults.estimate}\` when left out. \`interval\`: the whole interval at \`confidence\`. \`point\`: only the share of these runs. An agent that is exactly as good as its threshold is below it at every second look.`,
    ),
    objective: number(
      { minimum: 0.5, maximum: 0.999_99, 'x-unit': 'share' },
      'Share of runs that are to pass. For `burn rate` only, which needs it.',
    ),
    min_runs: integer(
      alertDefaults.min_runs,
      1,
      1_000_000,
      'runs',
      'With fewer runs the state is `no_data`. When two versions are compared, each needs as many.',
    ),
    for: duration('0ms', '0ms', '7d', 'Time that the condition must hold until the alert fires. Meanwhile it is `pending`.'),
    clear: duration('10m', '0ms', '7d', 'Time that the condition must not hold until a firing alert is over.'),
    repeat: duration(
      undefined,
      '5m',
      '30d',
      'Time after which another message is sent for a firing alert, unless it is acknowledged. When left out, one message is sent.',
    ),
    to: list(
      { maxItems: 20, default: [] },
      text({ minLength: 1, maxLength: 100 }),
      'Names of entries of `export` with `to: webhook`. The log, the metrics and the API report alerts in any case.',
    ),
  },
);

export const alerts = list(
  { maxItems: alertsMax, default: [] },
  alert,
  'Conditions on figures of agents. A message is sent once when one holds, and once when it is over. See docs/guides/alerts.md.',
);
