/** `store` and `journal`: where data lies. */
import { contentChoices } from '../../stores/content-policy.ts';
import { type Section, duration, integer, settings } from './section.ts';

export const store: Section = {
  key: 'store',
  schema: settings('Where runs and verdicts are kept, and for how long. Ages count from the start of the run.', {
    url: {
      type: 'string',
      minLength: 1,
      'x-secret': 'url',
      'x-restart': true,
      default: 'sqlite:./tracejury-data/tracejury.db',
      description:
        '`sqlite:` and the path of a file, from the folder in which the service starts. `memory:` keeps the newest runs until the process ends, in an eighth of `limits.memory_bytes` at most.',
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
    keep: settings('What is deleted when it is older or more than this.', {
      runs: duration(
        '30d',
        '1h',
        '3650d',
        'Age of runs and verdicts, by the start of the run. A run with waiting scores stays until the backend has them, or until they are older than `exports`. A run that waits for a judge, alone or in a session, stays until that has ended.',
      ),
      content: duration('7d', '0s', '3650d', 'Age of texts, arguments, results and spans.'),
      bytes: {
        type: ['string', 'integer'],
        'x-quantity': { kind: 'bytes', minimum: '16MiB', maximum: '64TiB' },
        default: '20GiB',
        description: 'Size of the whole: of the file, or of what `memory:` holds. Beyond it the oldest runs go.',
      },
      exports: duration(
        '14d',
        '1m',
        '3650d',
        'Age of scores that a backend has not taken, dead letters among them, by the time at which they were made.',
      ),
      annotations: duration('1d', '1m', '3650d', 'How long an annotation waits for its run. Those of a run that is stored go with it.'),
      judge_age: duration('1d', '1m', '3650d', 'Age of runs that wait for a judge; older ones end as `overload`.'),
      judge_rows: integer(
        100_000,
        1,
        10_000_000,
        'pairs',
        'How many pairs of run and evaluator may wait for judges; beyond it they end as `overload`.',
      ),
      export_rows: integer(1_000_000, 100, 100_000_000, 'scores', 'How many rows. Beyond it the oldest go, dead letters first.'),
    }),
  }),
};

export const journal: Section = {
  key: 'journal',
  schema: settings('Where requests are written down before they are answered, until their runs are scored.', {
    url: {
      type: 'string',
      minLength: 1,
      'x-secret': 'url',
      'x-restart': true,
      default: 'disk:./tracejury-data/journal',
      description:
        '`disk:` and the path of a folder, from the folder in which the service starts; `memory:` loses what is open when the process dies.',
    },
  }),
};
