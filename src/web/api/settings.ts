/** The route of the settings: what the service runs with, and what it keeps. */
import type { JsonObject } from '../../model/json.ts';
import { count, described, inline, many, number, ofMs, orNull, resource, schemasOf, text, textOrNull, time } from '../../model/resource.ts';
import type { ConfigRemark, ConfigStatus, KeepLimits, ServiceStatus, TokenStatus } from '../../model/service-status.ts';
import type { StoreUsage } from '../../model/store/store.ts';
import { exporterResource, exporterRows } from './exports.ts';
import type { Route } from './route.ts';

const seconds = (description: string): JsonObject => ({ ...number, minimum: 0, description });

const remark = resource<ConfigRemark>()('ConfigRemark', {
  file: text,
  line: { ...count, description: 'From 1; 0: no line.' },
  column: count,
  key: { ...text, description: 'As in `closing.settle`; empty: the whole file.' },
  problem: text,
  todo: text,
});

const retention = inline<KeepLimits>()({
  bytes: { ...count, description: '`store.keep.bytes`: beyond it the oldest runs go.' },
  runs_seconds: [seconds('`store.keep.runs`.'), ({ runsMs }) => runsMs / 1_000],
  content_seconds: [seconds('`store.keep.content`: of texts and spans.'), ({ contentMs }) => contentMs / 1_000],
  exports_seconds: [seconds('`store.keep.exports`: of waiting scores and dead letters.'), ({ exportsMs }) => exportsMs / 1_000],
  export_rows: [{ ...count, description: '`store.keep.export_rows`.' }, (keep) => keep.exports],
});

interface Storage extends StoreUsage {
  readonly keep: KeepLimits;
}

const storage = inline<Storage>()({
  bytes: { ...count, description: 'Bytes that the store uses.' },
  runs: { ...count, description: 'Stored runs.' },
  oldest_run_at: [orNull(time, 'Start of the oldest run; null: there is none.'), ({ oldestAt }) => oldestAt],
  retention: [described(retention, 'Ages in seconds.'), ({ keep }) => keep],
});

const token = inline<TokenStatus>()({
  name: text,
  rights: [many({ enum: ['ingest', 'read', 'annotate', 'operate'] }), ({ may }) => may],
  sees: [{ enum: ['all', 'own'], description: '`own`: the tenant of its name alone.' }, ({ seesOwn }) => (seesOwn ? 'own' : 'all')],
});

interface Settings {
  readonly configuration: ConfigStatus;
  readonly exporters: readonly JsonObject[];
  readonly storage: Storage;
  readonly status: ServiceStatus;
}

const settings = resource<Settings>()('Settings', {
  read_at: [
    { ...time, description: 'Time at which the service read the configuration.' },
    ({ configuration }) => ofMs(configuration.readAtMs),
  ],
  file: [textOrNull('Null: the service runs on defaults.'), ({ configuration }) => configuration.file],
  configuration: [
    {
      type: ['object', 'null'],
      description: 'In the form of the file, with all defaults. Secrets are masked. Null: the program that runs the service gave none.',
    },
    ({ configuration }) => configuration.printed,
  ],
  warnings: [many(remark, 'Probable mistakes in the configuration.'), ({ configuration }) => configuration.warnings],
  restart_needed: [
    many(text, 'Keys whose new values take effect after a restart. Until then the service keeps the values from its start.'),
    ({ configuration }) => configuration.waiting,
  ],
  refused: [
    many(remark, 'Faults of the last reload, which changed nothing. Empty: the last reload was applied.'),
    ({ configuration }) => configuration.refused,
  ],
  exporters: many(exporterResource.schema, 'As `GET /exporters` lists them.'),
  storage,
  tokens: [many(token, '`listen.tokens` without their values.'), ({ status }) => status.tokens],
  version: [{ ...text, description: 'Version of tracejury.' }, ({ status }) => status.version],
  node: [{ ...text, description: 'Version of Node.js.' }, ({ status }) => status.node],
  started_at: [time, ({ status }) => ofMs(status.startedAtMs)],
});

export const settingsSchemas = schemasOf(settings, remark);

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
