/**
 * PostgreSQL as one connection that answers questions in their order, as the thread of SQLite does. All who write hold one lock from the beginning of
 * their transactions, so ids rise in the order of the commits and what two replicas do at the same time is as if one did it after the other.
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
import { answering, beginText, done, failedAnswer, type Database } from '../sql/answers.ts';
import { rowsPerPage, type SqlValue, type Statements } from '../sql/statements.ts';
import type { Tables } from '../sql/tables.ts';
import { lineTo, preparedMax, type Line } from './line.ts';
import { migrated } from './migrations.ts';
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

function statementsOn(line: Line): Statements {
  const text = numbered();
  return {
    all: async (of, values) => (await line.query(text(of), values)).rows,
    first: async (of, values) => (await line.query(text(of), values)).rows[0],
    add: async (of, values) => Number((await line.query(`${text(of)} returning id`, values)).rows[0]?.['id']),
    run: async (of, values) => (await line.query(text(of), values)).rowCount ?? 0,
    async *lists(of, values) {
      const { rows } = await line.query(text(of), values, true);
      for (let at = 0; at < rows.length; at += rowsPerPage)
        yield rows.slice(at, at + rowsPerPage) as unknown as readonly (readonly SqlValue[])[];
    },
  };
}

const writes = /^\s*(insert|update|delete|with)\b/i;

/** Resolves when the tables are there. */
export async function postgresDatabase(url: string): Promise<Database> {
  const line = lineTo(url);
  await migrated(line);
  const recent = runNews(line.query);
  await line.each(recent.hear);
  let ownTransaction = false;
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const { rows, rowCount } = await line.query(sql, parameters as readonly SqlValue[]);
      return { rows: rows as readonly object[] as Row[], numAffectedRows: BigInt(rowCount ?? 0) };
    },
    streamQuery() {
      throw new Error('rows are read a page at a time');
    },
  };
  const answered = answering({
    statements: statementsOn(line),
    db: new Kysely<Tables>({
      dialect: {
        createDriver: () => ({
          async init() {},
          acquireConnection: async () => connection,
          beginTransaction: line.begin,
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
    recent,
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
      const isAlone = !ownTransaction && writes.test(sql);
      if (isAlone) await line.begin();
      try {
        const { rows, rowCount } = await line.query(sql, parameters);
        if (isAlone) await line.end('commit');
        return { ...done, rows, changes: rowCount ?? 0 };
      } catch (error) {
        if (isAlone) await line.end('rollback');
        throw error;
      }
    },
    transaction: (step) => (step === 'begin' ? line.begin() : line.end(step)),
    exec: async (sql) => void (await line.query(sql)),
    close: line.close,
  });
  return {
    answer: (ask) =>
      (ask.kind === 'backup' ? Promise.reject(new Error('pg_dump copies the tables of PostgreSQL')) : answered(ask)).then(
        (answer) => ({ id: ask.id, ...answer }),
        (error: unknown) => failedAnswer(ask.id, error),
      ),
  };
}

/** PostgreSQL refuses an empty list behind `in`. */
export const plugins = [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })];

/** Questions wait for one another, as a transaction of several is not to be interrupted. */
export class OneConnection extends PostgresAdapter {
  override get supportsMultipleConnections(): boolean {
    return false;
  }
}
