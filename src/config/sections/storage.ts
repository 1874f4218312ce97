/** The sections `store` and `journal`. */
import { journalAddress } from '../../journals/index.ts';
import { isJsonObject, member, type JsonValue } from '../../model/json.ts';
import { contentChoices } from '../../stores/content-policy.ts';
import { storeAddress } from '../../stores/index.ts';
import { as, bytes, duration, flag, integer, number, oneOf, settings, text } from '../field.ts';

/** The value of the file, with `content_per_minute` where another key of the file decides whose content is kept. */
export function withContentPerMinute(value: JsonValue): JsonValue {
  const written = isJsonObject(value) ? member(value, 'store') : undefined;
  if (!isJsonObject(value) || !isJsonObject(written) || member(written, 'content_per_minute') !== undefined) return value;
  const isChosen = member(written, 'content') !== undefined || member(written, 'content_sample') !== undefined;
  return isChosen ? { ...value, store: { ...written, content_per_minute: 0 } } : value;
}

/** Runs a minute. */
export const contentPerMinuteDefault = 20;

export const store = settings('The store of runs and verdicts, and its retention. Ages count from the start of the run.', {
  url: as(
    text(
      { minLength: 1, 'x-secret': 'url', 'x-restart': true, default: 'sqlite:./tracejury-data/tracejury.db' },
      '`sqlite:` and the path of a file, relative to the working directory. `postgres://user:password@host:5432/database` keeps the runs in PostgreSQL 15 or later, in a schema `tracejury`. `memory:` keeps the newest runs until the process ends, in at most an eighth of `limits.memory_bytes`.',
    ),
    storeAddress,
  ),
  content: oneOf(
    contentChoices,
    'failed_and_sampled',
    'The runs whose texts, arguments, results and spans are stored. `failed_and_sampled`: runs with a failed verdict or an error, incomplete runs, judged runs, and a sample of the others. The store keeps the verdicts of all runs.',
  ),
  content_sample: number({ minimum: 0, maximum: 1, default: 0.1 }, 'Share of the other runs by trace id, for `failed_and_sampled`.'),
  content_per_minute: integer(
    contentPerMinuteDefault,
    0,
    10_000,
    'runs a minute',
    'Further runs whose content `failed_and_sampled` keeps, so that a service with few runs has all of them; up to those of five minutes at once. Tenants share them. `0` beside a written `content` or `content_sample`.',
  ),
  search: flag(
    true,
    'Indexes the words of stored inputs and final answers, for `text` of `/api/v1/runs`. `false`: nothing new is indexed.',
  ),
  search_chars: integer(
    2_000,
    100,
    100_000,
    'characters',
    'Characters at the beginning of an input, and of a final answer, whose words are indexed. A new value holds for runs that are not indexed yet.',
  ),
  keep: settings('Bounds beyond which the store deletes data.', {
    runs: duration(
      '30d',
      '1h',
      '3650d',
      'Age of runs and verdicts, by the start of the run. A run with waiting scores stays until they are sent or older than `exports`. A run that waits for a judge stays until it has its verdict.',
    ),
    content: duration('7d', '0s', '3650d', 'Age of texts, arguments, results and spans.'),
    bytes: bytes(
      '20GiB',
      '16MiB',
      '64TiB',
      'Size of the file, or of the content of `memory:`. Beyond it the store deletes the oldest runs.',
    ),
    exports: duration('14d', '1m', '3650d', 'Age of unsent scores and dead letters, by the time of the score.'),
    annotations: duration(
      '1d',
      '1m',
      '3650d',
      'Time that an annotation waits for its run. The store deletes other annotations with their run.',
    ),
    experiments: duration('365d', '1d', '3650d', 'Time that an experiment stays after its last result.'),
    judge_age: duration('1d', '1m', '3650d', 'Age of runs that wait for a judge; older ones end as `overload`.'),
    judge_rows: integer(
      100_000,
      1,
      10_000_000,
      'pairs',
      'Most pairs of run and evaluator that wait for judges; further ones end as `overload`.',
    ),
    export_rows: integer(
      1_000_000,
      100,
      100_000_000,
      'scores',
      'Most rows of unsent scores. Beyond it the store deletes the oldest, dead letters first.',
    ),
  }),
});

export const journal = settings('The journal of requests. It has each request before the answer, until its runs are scored.', {
  url: as(
    text(
      { minLength: 1, 'x-secret': 'url', 'x-restart': true, default: 'disk:./tracejury-data/journal' },
      '`disk:` and the path of a folder, relative to the working directory. `kafka://user:password@host:9092,other:9092/topic` shares the requests among all replicas that use the same `store.url`; `?tls=true`, `?sasl=plain`, `scram-sha-256` or `scram-sha-512`, and `?group=` may follow. `memory:` loses open runs when the process dies.',
    ),
    journalAddress,
  ),
});
