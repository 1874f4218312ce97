/** The route of the settings: what the service runs with, and what it keeps. */
import type { JsonObject } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import type { ConfigRemark, ConfigStatus, KeepLimits, ServiceStatus, TokenStatus } from '../../model/service-status.ts';
import type { StoreUsage } from '../../model/store/store.ts';
import { exporterResource, exporterRows } from './exports.ts';
import type { Route } from './route.ts';

const seconds = (description: string): JsonObject => ({ ...api.number, minimum: 0, description });

const remark = api.resource<ConfigRemark>()('ConfigRemark', {
  file: api.text,
  line: { ...api.count, description: 'Line, counted from 1. 0 when there is no line.' },
  column: api.count,
  key: { ...api.text, description: 'Path of the key, such as `closing.settle`. Empty for the whole file.' },
  problem: api.text,
  todo: api.text,
});

const retention = api.inline<KeepLimits>()({
  bytes: { ...api.count, description: '`store.keep.bytes`: beyond it the oldest runs go.' },
  runs_seconds: [seconds('`store.keep.runs`.'), ({ runsMs }) => runsMs / 1_000],
  content_seconds: [seconds('`store.keep.content`: of texts and spans.'), ({ contentMs }) => contentMs / 1_000],
  exports_seconds: [seconds('`store.keep.exports`: of waiting scores and dead letters.'), ({ exportsMs }) => exportsMs / 1_000],
  export_rows: [{ ...api.count, description: '`store.keep.export_rows`.' }, (keep) => keep.exports],
});

interface Storage extends StoreUsage {
  readonly keep: KeepLimits;
}

const storage = api.inline<Storage>()({
  bytes: { ...api.count, description: 'Bytes that the store uses.' },
  runs: { ...api.count, description: 'Stored runs.' },
  oldest_run_at: [api.orNull(api.time, 'Start of the oldest run; null: there is none.'), ({ oldestAt }) => oldestAt],
  retention: [api.described(retention, 'Ages in seconds.'), ({ keep }) => keep],
});

const token = api.inline<TokenStatus>()({
  name: api.text,
  rights: [api.many({ enum: ['ingest', 'read', 'annotate', 'operate'] }), ({ may }) => may],
  sees: [{ enum: ['all', 'own'], description: '`own`: only the tenant of its name.' }, ({ seesOwn }) => (seesOwn ? 'own' : 'all')],
});

interface Settings {
  readonly configuration: ConfigStatus;
  readonly exporters: readonly JsonObject[];
  readonly storage: Storage;
  readonly status: ServiceStatus;
}

const settings = api.resource<Settings>()('Settings', {
  read_at: [
    { ...api.time, description: 'Time at which the service read the configuration.' },
    ({ configuration }) => api.ofMs(configuration.readAtMs),
  ],
  file: [api.textOrNull('Null when the service runs on defaults.'), ({ configuration }) => configuration.file],
  configuration: [
    {
      type: ['object', 'null'],
      description: 'In the form of the file, with all defaults. Secrets are masked. Null when the program that runs the service gave none.',
    },
    ({ configuration }) => configuration.printed,
  ],
  warnings: [api.many(remark, 'Probable mistakes in the configuration.'), ({ configuration }) => configuration.warnings],
  restart_needed: [
    api.many(api.text, 'Keys whose new values take effect after a restart. Until then the service keeps the values from its start.'),
    ({ configuration }) => configuration.waiting,
  ],
  refused: [
    api.many(remark, 'Faults of the last reload, which changed nothing. Empty: the last reload was applied.'),
    ({ configuration }) => configuration.refused,
  ],
  exporters: api.many(exporterResource.schema, 'The entries that `GET /exporters` lists.'),
  storage,
  tokens: [api.many(token, '`listen.tokens` without their values.'), ({ status }) => status.tokens],
  version: [{ ...api.text, description: 'Version of tracejury.' }, ({ status }) => status.version],
  node: [{ ...api.text, description: 'Version of Node.js.' }, ({ status }) => status.node],
  started_at: [api.time, ({ status }) => api.ofMs(status.startedAtMs)],
});

export const settingsSchemas = api.schemasOf(settings, remark);

export const settingsRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/settings',
    summary:
      'The configuration in force with its secrets masked, its warnings, exporters, the size and the retention of the store, and tokens by name.',
    path_parameters: {},
    query_parameters: {},
    answer: settings.schema,
    async handle(deps) {
      const { store, status } = deps;
      return settings.write({
        status,
        configuration: status.configuration(),
        storage: { ...(await store.usage()), keep: status.keep() },
        exporters: await exporterRows(deps),
      });
    },
  },
];
