/** What waits for backends, and what they have refused. */
import { exportStates } from '../../model/export-store.ts';
import { exporterJson, exportJson } from './exports-json.ts';
import { limitDefault, list, pages, text } from './pages.ts';
import { cursorText, named, placeOf } from './query.ts';
import type { Route } from './routes.ts';

const exporter = { ...text, description: 'Name of an entry of `export`.' } as const;
/** Dead letters of one request: a second of work at most. */
const retriedMax = 10_000;

export const exportRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/exporters',
    summary: 'What each exporter has still to send, in memory and in the store, and how its backend does; also for entries that are no longer in the configuration.',
    path_parameters: {},
    query_parameters: {},
    answer: list('exporters', 'Exporter'),
    async handle({ store, clock, exporters }) {
      const counts = new Map((await store.exports.counts()).map((count) => [count.exporter, count]));
      // After the store, so that what was written meanwhile is not told twice.
      const standings = exporters.standings();
      const names = [...new Set([...standings.keys(), ...counts.keys()])].sort();
      return { exporters: names.map((name) => exporterJson(name, { standing: standings.get(name), count: counts.get(name), nowMs: clock.nowMs() })), next: null };
    },
  },
  {
    method: 'get',
    path: '/exports',
    summary: 'Scores that wait in the store for a backend, and dead letters, oldest first.',
    path_parameters: {},
    query_parameters: { exporter, state: { enum: exportStates, description: '`waiting`, or `dead`: given up.' }, ...pages },
    answer: list('exports', 'Export'),
    async handle({ store }, query) {
      const { state, cursor, limit } = query;
      const page = await store.exports.list({
        limit: typeof limit === 'number' ? limit : limitDefault,
        ...named(query, 'exporter', 'exporter'),
        ...(state === 'waiting' || state === 'dead' ? { state } : {}),
        ...(typeof cursor === 'string' ? { after: placeOf(cursor).id } : {}),
      });
      return { exports: page.exports.map(exportJson), next: page.next === undefined ? null : cursorText({ startedAt: 0, id: page.next }) };
    },
  },
  {
    method: 'post',
    path: '/exports/retry',
    summary: `Sends dead letters again: all, those of one exporter, or a single one; the oldest ${retriedMax} of them, so a request that answers with so many is worth another.`,
    path_parameters: {},
    query_parameters: { exporter, id: { type: 'integer', minimum: 1, description: '`id` of a dead letter.' } },
    answer: { type: 'object', required: ['retried'], properties: { retried: { type: 'integer', minimum: 0, description: 'Dead letters that wait again.' } } },
    async handle({ store, clock, exporters }, query) {
      const { id } = query;
      const retried = await store.exports.retry({ ...named(query, 'exporter', 'exporter'), ...(typeof id === 'number' ? { ids: [id] } : {}), now: Math.floor(clock.nowMs() * 1_000), limit: retriedMax });
      await exporters.recount();
      return { retried };
    },
  },
];
