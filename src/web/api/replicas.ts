/** The route of the replicas: the processes on the same store. */
import type { JsonObject } from '../../model/json.ts';
import { timeText } from '../../model/timestamp.ts';
import { list, object, type Route, text, time } from './route.ts';

export const replicaRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/replicas',
    summary:
      'The processes on the same store, the oldest first: this one alone with SQLite. A process that has died is listed for a day. Each task has one process at a time that does it for all.',
    path_parameters: {},
    query_parameters: {},
    answer: list('replicas', 'Replica'),
    handle: async ({ status }) => ({
      replicas: (await status.replicas()).map(({ id, host, version, configuration, startedAt, seenAt, skew, isOwn, isAlive, tasks }) => ({
        id,
        host,
        version,
        configuration: configuration === '' ? null : configuration,
        started_at: timeText(BigInt(startedAt) * 1_000n),
        seen_at: timeText(BigInt(seenAt) * 1_000n),
        clock_skew_seconds: skew === undefined ? null : Math.round(skew / 1_000) / 1_000,
        state: isAlive ? 'alive' : 'silent',
        own: isOwn,
        tasks: [...tasks],
      })),
      next: null,
    }),
  },
];

export const replicaSchemas: { readonly [name: string]: JsonObject } = {
  Replica: object({
    id: { ...text, description: 'The name under which the process holds leases. A process over the same journal has the same one.' },
    host: text,
    version: { ...text, description: 'Version of tracejury.' },
    configuration: {
      type: ['string', 'null'],
      description:
        'Hash of the settings in force, without `listen`, `journal`, `limits`, `log` and `telemetry`. Null: it was started without a configuration.',
    },
    started_at: time,
    seen_at: { ...time, description: 'Time of the last sign of life, by the clock of the database.' },
    clock_skew_seconds: {
      type: ['number', 'null'],
      description:
        'By how much its clock is ahead of that of the database; below 0 when it is behind. Null: a replica of an earlier release, which does not say.',
    },
    state: { enum: ['alive', 'silent'], description: '`silent`: it has given no sign of life for 30 seconds. Others do its tasks.' },
    own: { type: 'boolean', description: 'True: the process that answers.' },
    tasks: { type: 'array', items: text, description: 'What it does for all, such as `retention` and `alerts`.' },
  }),
};
