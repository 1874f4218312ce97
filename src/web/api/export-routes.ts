/** What waits for backends, and what they have refused. */
import { exportStates } from '../../model/store/export-store.ts';
import { entryJson, exportJson, strangerJson } from './exports-json.ts';
import { limitDefault, list, pages, text } from './pages.ts';
import { cursorText, named, placeOf } from './query.ts';
import type { Route } from './route.ts';

const exporter = { ...text, description: 'Name of an entry of `export`.' } as const;
/** Dead letters of one request: a second of work at most. */
const retriedMax = 10_000;

export const exportRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/exporters',
    summary:
      'What each entry of `export` has still to send, and how its backend does; also of entries that are no longer in the configuration. One that sends spans on has two rows: of these, and of scores that came too late for them. Metrics have one where they are pushed.',
    path_parameters: {},
    query_parameters: {},
    answer: list('exporters', 'Exporter'),
    async handle({ store, clock, exporters }) {
      const counts = new Map((await store.exports.counts()).map((count) => [count.exporter, count]));
      // After the store, so that what was written meanwhile is not told twice.
      const entries = exporters.standings();
      const known = new Set(entries.flatMap(({ name, status: standing }) => (standing.sends === 'scores' ? [name] : [])));
      const strangers = [...counts.values()]
        .filter((count) => !known.has(count.exporter))
        .map((count) => ({ name: count.exporter, sends: 'scores', row: strangerJson(count, clock.nowMs()) }));
      const rows = [
        ...entries.map((entry) => ({
          name: entry.name,
          sends: entry.status.sends,
          row: entryJson(entry, counts.get(entry.name), clock.nowMs()),
        })),
        ...strangers,
      ];
      return {
        exporters: rows.toSorted((one, other) => order(one.name, other.name) || order(one.sends, other.sends)).map(({ row }) => row),
        next: null,
      };
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
    answer: {
      type: 'object',
      required: ['retried'],
      properties: { retried: { type: 'integer', minimum: 0, description: 'Dead letters that wait again.' } },
    },
    async handle({ store, clock, exporters }, query) {
      const { id } = query;
      const retried = await store.exports.retry({
        ...named(query, 'exporter', 'exporter'),
        ...(typeof id === 'number' ? { ids: [id] } : {}),
        now: Math.floor(clock.nowMs() * 1_000),
        limit: retriedMax,
      });
      await exporters.recount();
      return { retried };
    },
  },
];

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
