/** The route of the replicas: the processes on the same store. */
import * as api from '../../model/resource.ts';
import type { ReplicaStatus } from '../../model/service-status.ts';
import { list, type Route } from './route.ts';

export const replica = api.resource<ReplicaStatus>()('Replica', {
  id: { ...api.text, description: 'The name under which the process holds leases. A process over the same journal has the same one.' },
  host: api.text,
  version: { ...api.text, description: 'Version of tracejury.' },
  configuration: [
    api.textOrNull(
      'Hash of the settings in force, without `listen`, `journal`, `limits`, `log` and `telemetry`. Null when it was started without a configuration.',
    ),
    ({ configuration }) => (configuration === '' ? null : configuration),
  ],
  started_at: api.time,
  seen_at: { ...api.time, description: 'Time of the last sign of life, by the clock of the database.' },
  clock_skew_seconds: [
    api.numberOrNull(
      'Seconds that its clock is ahead of the clock of the database; below 0 when it is behind. Null for a replica of an earlier release, which does not report it.',
    ),
    ({ skew }) => (skew === undefined ? null : Math.round(skew / 1_000) / 1_000),
  ],
  state: [
    { enum: ['alive', 'silent'], description: '`silent`: it has given no sign of life for 30 seconds. Others do its tasks.' },
    ({ isAlive }) => (isAlive ? 'alive' : 'silent'),
  ],
  own: [{ ...api.flag, description: 'True for the process that answers.' }, ({ isOwn }) => isOwn],
  tasks: api.many(api.text, 'Tasks that it does for all, such as `retention` and `alerts`.'),
});

export const replicaRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/replicas',
    summary:
      'The processes on the same store, the oldest first: only this one with SQLite. A process that has died is listed for a day. Each task has one process at a time that does it for all.',
    path_parameters: {},
    query_parameters: {},
    answer: list('replicas', replica),
    handle: async ({ status }) => ({ replicas: (await status.replicas()).map(replica.write), next: null }),
  },
];
