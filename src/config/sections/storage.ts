/** `store` and `journal`: where data lies. */
import { contentChoices } from '../../stores/content-policy.ts';
import type { Section } from './section.ts';

export const store: Section = {
  key: 'store',
  schema: {
    type: 'object',
    description: 'Where runs and verdicts are kept, and for how long. Ages count from the start of the run.',
    additionalProperties: false,
    default: {},
    properties: {
      url: {
        type: 'string',
        minLength: 1,
        'x-secret': 'url',
        'x-restart': true,
        default: 'sqlite:./tracejury-data/tracejury.db',
        description:
          '`sqlite:` and the path of a file, from the folder in which the service starts; `memory:` keeps the newest runs until the process ends, in an eighth of `limits.memory_bytes` at most.',
      },
      content: {
        enum: contentChoices,
        default: 'failed_and_sampled',
        description:
          'The runs whose texts, arguments, results and spans are kept. `failed_and_sampled`: runs that failed a verdict, ended in an error, are not complete or were judged, and a sample of the others. The verdicts of all runs are kept.',
      },
      content_sample: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        default: 0.1,
        description: 'The share of the other runs, by trace id; for `failed_and_sampled`.',
      },
      keep: {
        type: 'object',
        description: 'What is deleted when it is older or more than this.',
        additionalProperties: false,
        default: {},
        properties: {
          runs: {
            type: 'string',
            'x-quantity': { kind: 'duration', minimum: '1h', maximum: '3650d' },
            default: '30d',
            description:
              'Age of runs and verdicts, by the start of the run. A run with waiting scores stays until the backend has them, or until they are older than `exports`. A run that waits for a judge, alone or in a session, stays until that has ended.',
          },
          content: {
            type: 'string',
            'x-quantity': { kind: 'duration', minimum: '0s', maximum: '3650d' },
            default: '7d',
            description: 'Age of texts, arguments, results and spans.',
          },
          bytes: {
            type: ['string', 'integer'],
            'x-quantity': { kind: 'bytes', minimum: '16MiB', maximum: '64TiB' },
            default: '20GiB',
            description: 'Size of the whole: of the file, or of what `memory:` holds. Beyond it the oldest runs go.',
          },
          exports: {
            type: 'string',
            'x-quantity': { kind: 'duration', minimum: '1m', maximum: '3650d' },
            default: '14d',
            description: 'Age of scores that a backend has not taken, dead letters among them, by the time at which they were made.',
          },
          annotations: {
            type: 'string',
            'x-quantity': { kind: 'duration', minimum: '1m', maximum: '3650d' },
            default: '1d',
            description: 'How long an annotation waits for its run. Those of a run that is stored go with it.',
          },
          judge_age: {
            type: 'string',
            'x-quantity': { kind: 'duration', minimum: '1m', maximum: '3650d' },
            default: '1d',
            description: 'Age of runs that wait for a judge; older ones end as `overload`.',
          },
          judge_rows: {
            type: 'integer',
            minimum: 1,
            maximum: 10_000_000,
            default: 100_000,
            'x-unit': 'pairs',
            description: 'How many pairs of run and evaluator may wait for judges; beyond it they end as `overload`.',
          },
          export_rows: {
            type: 'integer',
            minimum: 100,
            maximum: 100_000_000,
            default: 1_000_000,
            'x-unit': 'scores',
            description: 'How many rows. Beyond it the oldest go, dead letters first.',
          },
        },
      },
    },
  },
};

export const journal: Section = {
  key: 'journal',
  schema: {
    type: 'object',
    description: 'Where requests are written down before they are answered, until their runs are scored.',
    additionalProperties: false,
    default: {},
    properties: {
      url: {
        type: 'string',
        minLength: 1,
        'x-secret': 'url',
        'x-restart': true,
        default: 'disk:./tracejury-data/journal',
        description:
          '`disk:` and the path of a folder, from the folder in which the service starts; `memory:` loses what is open when the process dies.',
      },
    },
  },
};
