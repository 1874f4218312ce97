/** Fills a database of PostgreSQL with copies of its runs, each with new ids and times, by statements of the database only. */
import pg from 'pg';
import { fineWidthMicros } from '../../../src/stores/sql/version-totals.ts';

const dayMicros = 86_400_000_000;

export interface ManyRuns {
  /** In all. */
  readonly runs: number;
  /** The runs that are there move back by these days, and their copies begin evenly from then on, so that newer runs have higher ids. */
  readonly days: number;
  /** Runs of this many last days have content and spans. */
  readonly contentDays: number;
}

/** A column of a copy as an expression; the others stay unchanged. `$1`: number of the copy, `$2`: microseconds between the first one and it. */
const changes = {
  blocks: { id: 'id + $1 * $4' },
  runs: {
    id: 'id + $1 * $3',
    trace_id: 'md5(trace_id || $1)',
    session_id: "session_id || '-' || $1",
    started_us: 'started_us + $2',
    ended_us: 'ended_us + $2',
    verdicts_block: 'verdicts_block + $1 * $4',
    content_block: 'case when $6 then content_block + $1 * $4 end',
    content_gone: "case when $6 then content_gone else 'expired' end",
    excerpt: 'case when $6 then excerpt end',
  },
  spans: { id: 'id + $1 * $5', trace_id: 'md5(trace_id || $1)', started_us: 'started_us + $2' },
  run_texts: { rowid: 'rowid + $1 * $3' },
} as const satisfies { readonly [table: string]: { readonly [column: string]: string } };

/** The rows of the first copy that have one in each further copy. */
const chosen: { readonly [table in keyof typeof changes]: string } = {
  blocks: 'id <= $4 and ($6 or id in (select verdicts_block from runs where id <= $3))',
  runs: 'id <= $3',
  spans: 'id <= $5 and $6',
  run_texts: 'rowid <= $3 and $6',
};

/** Times that are to be summed are noted; `onCopy` gets the number of runs. */
export async function multiplied(url: string, { runs, days, contentDays }: ManyRuns, onCopy: (runs: number) => void): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const most = async (table: string): Promise<number> =>
    Number((await client.query<{ id: string }>(`select coalesce(max(id), 0) as id from ${table}`)).rows[0]?.id);
  try {
    await client.query('set search_path = tracejury; set synchronous_commit = off');
    const [ofRuns, ofBlocks, ofSpans] = [await most('runs'), await most('blocks'), await most('spans')];
    const copies = Math.ceil(runs / ofRuns);
    for (const text of [...movedBack(days), ...sumTables.map((table) => `truncate ${table}`)]) await client.query(text);
    for (let copy = 1; copy < copies; copy++) {
      const shift = Math.round((copy * days * dayMicros) / copies);
      const values = [copy, shift, ofRuns, ofBlocks, ofSpans, shift > (days - contentDays) * dayMicros];
      for (const table of ['blocks', 'runs', 'spans', 'run_texts'] as const) await client.query(await copyText(client, table, values));
      onCopy((copy + 1) * ofRuns);
    }
    for (const table of ['blocks', 'runs', 'spans'])
      await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), max(id)) from ${table}`);
    await client.query('update run_texts_state set newest_id = (select max(id) from runs), oldest_id = 1');
    await client.query(
      `insert into version_changes (at_us) select distinct started_us / ${fineWidthMicros} * ${fineWidthMicros} from runs on conflict do nothing`,
    );
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** They are summed again. */
const sumTables = ['version_figures', 'version_totals', 'version_days', 'version_days_made', 'rollups'];

function movedBack(days: number): readonly string[] {
  const by = days * dayMicros;
  return [
    `update runs set started_us = started_us - ${by}, ended_us = ended_us - ${by}`,
    `update spans set started_us = started_us - ${by}`,
  ];
}

/** Only numbers, true and false, so they are in the text. */
async function copyText(client: pg.Client, table: keyof typeof changes, values: readonly (number | boolean)[]): Promise<string> {
  const { rows } = await client.query<{ readonly name: string }>(
    'select column_name as name from information_schema.columns where table_schema = $1 and table_name = $2 order by ordinal_position',
    ['tracejury', table],
  );
  const changed: { readonly [column: string]: string } = changes[table];
  const text = `insert into ${table} (${rows.map(({ name }) => name).join(', ')}) select ${rows.map(({ name }) => changed[name] ?? name).join(', ')} from ${table} where ${chosen[table]}`;
  return text.replaceAll(/\$(\d)/g, (_, nth: string) => String(values[Number(nth) - 1]));
}
