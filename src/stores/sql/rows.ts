/**
 * Statements that write one row each. One statement for many rows is another text for every number of them, and reading it takes SQLite longer than
 * writing the rows.
 */
import { type Insertable, sql, type RawBuilder } from 'kysely';
import type { Lease } from '../../model/store/lease.ts';
import { piecesPerTraceMax } from '../../model/store/store.ts';
import { trimOldest } from '../../runtime/lru.ts';
import { withoutLabel } from '../run-record.ts';
import type { BlockRow } from './blocks.ts';
import { addMark, linesOf, markChar } from './marks.ts';
import type { SqlValue, Statements } from './statements.ts';
import type { Tables } from './tables.ts';
import { noteChange } from './version-sums.ts';
import { fineTime } from './version-totals.ts';
import { chunks as chunksOf } from '../../model/chunks.ts';

export type RunRow = Insertable<Tables['runs']>;
export type OutboxRow = Omit<Insertable<Tables['exports']>, 'owner' | 'leased_us'> & { readonly lease: Lease | undefined };
export type PieceRow = Insertable<Tables['spans']>;
export type JoinedTraceRow = Insertable<Tables['joined_traces']>;

/** Columns of a run's record. */
export type SaidColumns = Pick<Insertable<Tables['runs']>, (typeof saidColumns)[number]>;

export interface Rows {
  /** Resolves with its id. */
  run(row: RunRow): Promise<number>;
  /** A newer revision; what was said of it stays. */
  revision(id: number, row: RunRow): Promise<void>;
  said(id: number, columns: SaidColumns): Promise<void>;
  /** Its body is plain. Resolves with its id. */
  block(row: BlockRow): Promise<number>;
  /** The characters of these marks, a line each. */
  marks(lines: string): Promise<string>;
  /** Ids of runs that were written since the last call, also when only a later verdict was. */
  touched(): readonly number[];
  /** Written marks may be gone: marks are looked up again. */
  forget(): void;
  /** Resolves with its id. */
  exported(row: OutboxRow): Promise<number>;
  /** Most pieces of a trace. If a trace has more, or has one twice, nothing is written. */
  piece(row: PieceRow): Promise<void>;
  joinedTrace(row: JoinedTraceRow): Promise<void>;
  /** Runs that started at this time have changed. */
  changed(startedAt: number): Promise<void>;
}

/** The columns of a run that lists read. */
export const listedColumns = [
  'tenant',
  'trace_id',
  'span_id',
  'agent',
  'service',
  'version',
  'session_id',
  'model',
  'started_us',
  'ended_us',
  'completeness',
  'status',
  'revision',
  'part_of',
] as const;
/** Cache of figures over many runs. */
const figureColumns = ['user_id', 'environment', 'prompt', 'task', 'input_tokens', 'output_tokens', 'cost_usd', 'models'] as const;
const revisionColumns = [
  ...listedColumns,
  ...figureColumns,
  'content_gone',
  'tools',
  'content_block',
  'content_at',
  'content_length',
  'excerpt',
] as const;
const saidColumns = ['marks', 'figures', 'failures', 'verdicts_block', 'verdicts_at', 'verdicts_length'] as const;
const runColumns = [...revisionColumns, ...saidColumns] as const;
const blockColumns = ['live', 'body'] as const;
const pieceColumns = ['tenant', 'trace_id', 'digest', 'started_us', 'stored_us', 'spans', 'is_whole', 'is_redacted', 'body'] as const;
const joinedTraceColumns = ['tenant', 'trace_id', 'whole_id'] as const;
const exportColumns = [
  'run_id',
  'exporter',
  'part',
  'revision',
  'state',
  'attempts',
  'offered_us',
  'due_us',
  'reason',
  'item',
  'owner',
] as const;

/** Texts of marks that are kept. */
const knownMarksMax = 2_000;

/** `packed`: the body of a block as the engine stores it. */
export function rows(on: Statements, packed: (body: Uint8Array) => Uint8Array): Rows {
  /** Cache of whole texts: most runs share one of a few. */
  const known = new Map<string, string>();
  let touched = new Set<number>();

  async function codeOf(mark: string): Promise<number | undefined> {
    const code = (await on.first('select code from verdict_marks where mark = ?', [mark]))?.['code'];
    return code === undefined ? undefined : Number(code);
  }

  async function charOf(mark: string): Promise<string> {
    let code = await codeOf(mark);
    if (code === undefined) {
      await on.run(addMark, [mark]);
      code = await codeOf(mark);
    }
    if (code !== undefined) return markChar(code);
    const bare = withoutLabel(mark);
    await on.run('insert into verdict_marks (mark) values (?) on conflict (mark) do nothing', [bare]);
    return markChar((await codeOf(bare)) ?? Number.NaN);
  }

  return {
    async run(row) {
      const id = await on.add(insertRun, values(runColumns, row));
      touched.add(id);
      return id;
    },
    async revision(id, row) {
      await on.run(updateRevision, [...values(revisionColumns, row), id]);
      touched.add(id);
    },
    async said(id, columns) {
      await on.run(updateSaid, [...values(saidColumns, columns), id]);
      touched.add(id);
    },
    touched() {
      const ids = [...touched];
      touched = new Set();
      return ids;
    },
    block: ({ live, body }) => on.add(insertBlock, values(blockColumns, { live, body: packed(body) })),
    async marks(lines) {
      let chars = known.get(lines);
      if (chars === undefined) {
        chars = '';
        for (const line of linesOf(lines)) chars += await charOf(line);
      }
      known.set(lines, chars);
      trimOldest(known, knownMarksMax);
      return chars;
    },
    forget() {
      known.clear();
      touched.clear();
    },
    exported: ({ lease, ...row }) =>
      on.add(insertExport, [
        ...values(exportColumns, { ...row, owner: lease?.owner }),
        lease?.now ?? null,
        lease === undefined ? null : lease.until - lease.now,
      ]),
    piece: async (row) => void (await on.run(insertPiece, [...values(pieceColumns, row), row.trace_id, row.tenant])),
    changed: async (startedAt) => void (await on.run(noteChange, [fineTime(startedAt)])),
    joinedTrace: async (row) => void (await on.run(putJoinedTrace, values(joinedTraceColumns, row))),
  };
}

const insertRun = insert('runs', runColumns);
const insertBlock = insert('blocks', blockColumns);
const insertExport = `insert into exports (${exportColumns.join(', ')}, leased_us) values (${places(exportColumns)}, lease_clock(?) + ?)`;
const updateRevision = update(revisionColumns);
const updateSaid = update(saidColumns);
const insertPiece = `insert into spans (${pieceColumns.join(', ')}) select ${places(pieceColumns)} where (select count(*) from spans where trace_id = ? and tenant = ?) < ${piecesPerTraceMax} on conflict (trace_id, tenant, digest) do nothing`;
const putJoinedTrace = `${insert('joined_traces', joinedTraceColumns)} ${takeOver(joinedTraceColumns, ['trace_id', 'tenant'])}`;

function insert<Table extends keyof Tables>(table: Table, columns: readonly (string & keyof Insertable<Tables[Table]>)[]): string {
  return `insert into ${table} (${columns.join(', ')}) values (${places(columns)})`;
}

function places(columns: readonly string[]): string {
  return columns.map(() => '?').join(', ');
}

function takeOver<Column extends string>(columns: readonly Column[], key: readonly Column[]): string {
  const others = columns.filter((column) => !key.includes(column));
  return `on conflict (${key.join(', ')}) do update set ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`;
}

function update(columns: readonly (keyof RunRow)[]): string {
  return `update runs set ${columns.map((column) => `${column} = ?`).join(', ')} where id = ?`;
}

function values<Column extends string>(columns: readonly Column[], row: { readonly [column in Column]?: unknown }): SqlValue[] {
  return columns.map((column) => (row[column] ?? null) as SqlValue);
}

/** Rows of one statement: SQLite takes 32,766 values in one, and a row has 28 at most. */
const rowsPerStatement = 500;

export function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return chunksOf(items, rowsPerStatement);
}

/** For `where … in`: one value, so that the statement is the same for every number of items. */
export function oneOf<Item extends string | number>(items: readonly Item[]): RawBuilder<Item> {
  if (items.length === 0) return sql<Item>`(null)`;
  const value = typeof items[0] === 'number' ? sql`cast(value as bigint)` : sql`value`;
  return sql<Item>`(select ${value} from json_each(${JSON.stringify(items)}))`;
}
