/**
 * The thread that has the file. A transaction waits for the disk, and a question about a million runs takes its time: neither is to hold up a request.
 */
import { backup, DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { openedId, type Answer, type Ask, type ThreadData } from './thread-protocol.ts';

/** How long another process may hold the file. */
const busyMs = 5_000;
/** Prepared statements that are kept: the service has a few dozen forms. */
const statementsMax = 200;
const nothing = { rows: [], changes: 0, lastRowId: 0 } as const;

interface Statement {
  readonly prepared: StatementSync;
  readonly reads: boolean;
}

function opened(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyMs, enableForeignKeyConstraints: true });
  // The page size and the way of giving space back must stand before the first table.
  database.exec('pragma auto_vacuum = incremental; pragma journal_mode = wal; pragma synchronous = full; pragma temp_store = memory;');
  return database;
}

/** Statements are prepared once for each text. */
function statements(database: DatabaseSync): (sql: string) => Statement {
  const known = new Map<string, Statement>();
  return (sql) => {
    const found = known.get(sql) ?? prepared(database, sql);
    // The one that was used last goes to the end; the first is the one that was used longest ago.
    known.delete(sql);
    known.set(sql, found);
    const [oldest] = known.keys();
    if (known.size > statementsMax && oldest !== undefined) known.delete(oldest);
    return found;
  };
}

function prepared(database: DatabaseSync, sql: string): Statement {
  const statement = database.prepare(sql);
  return { prepared: statement, reads: statement.columns().length > 0 };
}

function served(port: MessagePort, file: string): void {
  const database = opened(file);
  const statement = statements(database);

  async function answered(ask: Ask): Promise<Omit<Extract<Answer, { readonly kind: 'done' }>, 'id' | 'kind'>> {
    switch (ask.kind) {
      case 'query': {
        const { prepared: ready, reads } = statement(ask.sql);
        if (reads) return { ...nothing, rows: ready.all(...ask.parameters) };
        const { changes, lastInsertRowid } = ready.run(...ask.parameters);
        return { ...nothing, changes, lastRowId: lastInsertRowid };
      }
      case 'exec':
        database.exec(ask.sql);
        return nothing;
      case 'backup':
        await copied(file, ask.to);
        return nothing;
      default:
        database.close();
        return nothing;
    }
  }

  port.on('message', (ask: Ask) => {
    answered(ask).then(
      (answer) => port.postMessage({ id: ask.id, kind: 'done', ...answer } satisfies Answer),
      (error: unknown) => port.postMessage({ id: ask.id, kind: 'failed', message: messageOf(error) } satisfies Answer),
    );
  });
}

/** From a connection of its own that stays at one point in time: a copy cannot be made from one that is writing, and begins anew when another one writes. */
async function copied(file: string, to: string): Promise<void> {
  const source = new DatabaseSync(file, { timeout: busyMs, readOnly: true });
  try {
    source.exec('begin; select count(*) from sqlite_master;');
    await backup(source, to);
  } finally {
    source.close();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}

if (parentPort !== null) {
  try {
    served(parentPort, (workerData as ThreadData).file);
    parentPort.postMessage({ id: openedId, kind: 'done', ...nothing } satisfies Answer);
  } catch (error) {
    parentPort.postMessage({ id: openedId, kind: 'failed', message: messageOf(error) } satisfies Answer);
  }
}
