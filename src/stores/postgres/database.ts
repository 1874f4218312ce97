/**
 * PostgreSQL as one connection that answers questions in their order, as the thread of SQLite does, and some that read beside it. All who write hold
 * one lock from the beginning of their transactions, so ids rise in the order of the commits and what two replicas do at the same time is as if one
 * did it after the other.
 */
import {
  type CompiledQuery,
  HandleEmptyInListsPlugin,
  Kysely,
  replaceWithNoncontingentExpression,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
} from 'kysely';
import { answering, beginText, done, failedAnswer, type Ask, type Content, type Database, type Engine } from '../sql/answers.ts';
import { isReading, rowsPerPage, type SqlValue, type Statements } from '../sql/statements.ts';
import type { Tables } from '../sql/tables.ts';
import { lineTo, preparedMax, type Line, type LineOptions } from './line.ts';
import { checked, migrated } from './migrations.ts';
import { runNews } from './run-news.ts';

/** `?` becomes `$1`, `$2`, … */
function numbered(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let found = known.get(text);
    if (found !== undefined) return found;
    let at = 0;
    found = text.replaceAll('?', () => `$${++at}`);
    if (known.size < preparedMax) known.set(text, found);
    return found;
  };
}

export function statementsOn(line: Line): Statements {
  const text = numbered();
  let cursors = 0;
  return {
    all: async (of, values) => (await line.query(text(of), values)).rows,
    first: async (of, values) => (await line.query(text(of), values)).rows[0],
    add: async (of, values) => Number((await line.query(`${text(of)} returning id`, values)).rows[0]?.['id']),
    run: async (of, values) => (await line.query(text(of), values)).rowCount ?? 0,
    async *lists(of, values) {
      const cursor = `pages_${++cursors}`;
      await line.query(`declare ${cursor} no scroll cursor for ${text(of)}`, values);
      let found = rowsPerPage;
      try {
        while (found === rowsPerPage) {
          const { rows } = await line.query(`fetch ${rowsPerPage} from ${cursor}`, [], true);
          found = rows.length;
          if (found > 0) yield rows as unknown as readonly (readonly SqlValue[])[];
        }
      } finally {
        // A failed statement has ended the cursor with its transaction.
        await line.query(`close ${cursor}`).catch(() => undefined);
      }
    },
  };
}

/** Connections that read. They connect when they are asked first. */
const readersMax = 3;

/** Resolves when the tables are there. */
export async function postgresDatabase(url: string, options: Pick<LineOptions, 'statementMs' | 'answerMs'> = {}): Promise<Database> {
  const line = lineTo(url, options);
  await checked(line, () => lineTo(url, options));
  await migrated(line);
  const recent = runNews(line.query);
  await line.each(recent.hear);
  const write = answering({ ...writerOn(line), recent });
  const readers = Array.from({ length: readersMax }, () => readerTo(url, options));
  const isFree = (ask: Ask): boolean => ask.kind === 'scan' || ask.kind === 'recent' || (ask.kind === 'query' && ask.isFree === true);

  async function content(ask: Ask): Promise<Content> {
    if (ask.kind === 'backup') throw new Error('pg_dump copies the tables of PostgreSQL');
    if (ask.kind === 'close') await Promise.all(readers.map(({ close }) => close()));
    if (!isFree(ask)) return await write(ask);
    // The connection that writes hears of the runs of other processes. Without it their runs are reported as left out.
    const [answer] = await Promise.all([besides(ask), line.connect().catch(() => undefined)]);
    return answer;
  }

  async function besides(ask: Exclude<Ask, { readonly kind: 'backup' }>): Promise<Content> {
    if (ask.kind === 'recent') return { kind: 'recent', recent: recent.since(ask.after) };
    let refused: unknown;
    // A server may take no further connection: questions then wait for those that are there.
    for (const { read } of readers.toSorted((one, other) => one.asked() - other.asked())) {
      const given = await read(ask);
      if (given.kind !== 'refused') return given;
      refused ??= given.error;
    }
    throw refused;
  }

  return {
    isFree,
    answer: (ask) =>
      content(ask).then(
        (answer) => ({ id: ask.id, ...answer }),
        (error: unknown) => failedAnswer(ask.id, error),
      ),
  };
}

interface Reader {
  /** Questions that have no answer yet. */
  asked(): number;
  /** `refused`: there is no connection, and none could be made. */
  read(ask: Exclude<Ask, { readonly kind: 'backup' }>): Promise<Content | { readonly kind: 'refused'; readonly error: unknown }>;
  close(): Promise<void>;
}

function readerTo(url: string, options: LineOptions): Reader {
  const line = lineTo(url, { ...options, readsOnly: true });
  const read = answering({
    ...engineOn(line),
    scansInTransactions: true,
    transaction: (step) => (step === 'begin' ? line.beginReading() : line.end(step)),
  });
  let asked = 0;
  return {
    asked: () => asked,
    async read(ask) {
      asked++;
      try {
        const refused = await line.connect().then(
          () => undefined,
          (error: unknown) => ({ kind: 'refused', error }) as const,
        );
        return refused ?? (await read(ask));
      } finally {
        asked--;
      }
    },
    close: line.close,
  };
}

function writerOn(line: Line): Engine {
  const engine = engineOn(line);
  let ownTransaction = false;
  return {
    ...engine,
    async query(sql, parameters) {
      if (sql === beginText) {
        await line.begin();
        ownTransaction = true;
        return done;
      }
      if (sql === 'commit' || sql === 'rollback') {
        ownTransaction = false;
        await line.end(sql);
        return done;
      }
      if (ownTransaction || isReading(sql)) return await engine.query(sql, parameters);
      await line.begin();
      try {
        const answer = await engine.query(sql, parameters);
        await line.end('commit');
        return answer;
      } catch (error) {
        await line.end('rollback');
        throw error;
      }
    },
  };
}

function engineOn(line: Line): Engine {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const { rows, rowCount } = await line.query(sql, parameters as readonly SqlValue[]);
      return { rows: rows as readonly object[] as Row[], numAffectedRows: BigInt(rowCount ?? 0) };
    },
    streamQuery() {
      throw new Error('rows are read a page at a time');
    },
  };
  return {
    statements: statementsOn(line),
    db: new Kysely<Tables>({
      dialect: {
        createDriver: () => ({
          async init() {},
          acquireConnection: async () => connection,
          beginTransaction: () => line.begin(),
          commitTransaction: () => line.end('commit'),
          rollbackTransaction: () => line.end('rollback'),
          async releaseConnection() {},
          destroy: line.close,
        }),
        createQueryCompiler: () => new PostgresQueryCompiler(),
        createAdapter: () => new OneConnection(),
        createIntrospector: (of) => new PostgresIntrospector(of),
      },
      plugins,
    }),
    packed: (body) => body,
    async query(sql, parameters) {
      const { rows, rowCount } = await line.query(sql, parameters);
      return { ...done, rows, changes: rowCount ?? 0 };
    },
    transaction: (step) => (step === 'begin' ? line.begin() : line.end(step)),
    exec: async (sql) => void (await line.query(sql)),
    close: line.close,
  };
}

/** PostgreSQL refuses an empty list behind `in`. */
export const plugins = [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })];

/** Questions wait for one another, as a transaction of several is not to be interrupted. */
class OneConnection extends PostgresAdapter {
  override get supportsMultipleConnections(): boolean {
    return false;
  }
}
