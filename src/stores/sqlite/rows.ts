/**
 * Statements that write one row each, put together and prepared once. One statement for many rows is another text for every number of them, and reading it
 * takes SQLite longer than writing the rows.
 */
import { type Insertable, sql, type RawBuilder } from 'kysely';
import type { StatementSync, SQLInputValue } from 'node:sqlite';
import { piecesPerTraceMax } from '../../model/store/store.ts';
import { trimOldest } from '../../runtime/lru.ts';
import { withoutLabel } from '../run-record.ts';
import type { BlockRow } from './blocks.ts';
import { addMark, linesOf, markChar } from './marks.ts';
import type { Tables } from './tables.ts';
import { noteChange } from './version-sums.ts';
import { fineTime } from './version-totals.ts';
import { chunks as chunksOf } from '../../model/chunks.ts';

export type RunRow = Insertable<Tables['runs']>;
export type OutboxRow = Insertable<Tables['exports']>;
export type PieceRow = Insertable<Tables['spans']>;
export type JoinedTraceRow = Insertable<Tables['joined_traces']>;

/** What is said of a run: its columns. */
export type SaidColumns = Pick<Insertable<Tables['runs']>, (typeof saidColumns)[number]>;

export interface Rows {
  /** Gives its id. */
  run(row: RunRow): number;
  /** A newer revision; what was said of it stays. */
  revision(id: number, row: RunRow): void;
  said(id: number, columns: SaidColumns): void;
  /** Gives its id. */
  block(row: BlockRow): number;
  /** The characters of these marks, a line each. */
  marks(lines: string): string;
  /** Ids of runs that were written since the last call, also of a later verdict alone. */
  touched(): readonly number[];
  /** What was written may be gone: marks are looked up again. */
  forget(): void;
  /** Gives its id. */
  exported(row: OutboxRow): number;
  /** A trace has so many pieces at most, and none of them twice: else nothing is written. */
  piece(row: PieceRow): void;
  joinedTrace(row: JoinedTraceRow): void;
  /** Runs that started at this time have changed. */
  changed(startedAt: number): void;
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
/** Of figures over many runs. */
const figureColumns = ['prompt', 'task', 'input_tokens', 'output_tokens', 'cost_usd', 'models'] as const;
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
const exportColumns = ['run_id', 'exporter', 'part', 'revision', 'state', 'attempts', 'offered_us', 'due_us', 'reason', 'item'] as const;

/** Texts of marks that are kept. */
const knownMarksMax = 2_000;

/** The tables must be there. */
export function rows(prepare: (sql: string) => StatementSync): Rows {
  const run = prepare(insert('runs', runColumns));
  const revision = prepare(update(revisionColumns));
  const said = prepare(update(saidColumns));
  const block = prepare(insert('blocks', blockColumns));
  const mark = prepare('select code from verdict_marks where mark = ?');
  const newMark = prepare(addMark);
  const newMarkInAnyCase = prepare('insert into verdict_marks (mark) values (?) on conflict (mark) do nothing');
  const exported = prepare(insert('exports', exportColumns));
  const piece = prepare(
    `insert into spans (${pieceColumns.join(', ')}) select ${places(pieceColumns)} where (select count(*) from spans where trace_id = ? and tenant = ?) < ${piecesPerTraceMax} on conflict (trace_id, tenant, digest) do nothing`,
  );
  const joinedTrace = prepare(`${insert('joined_traces', joinedTraceColumns)} ${takeOver(joinedTraceColumns, ['trace_id', 'tenant'])}`);
  const change = prepare(noteChange);
  /** Of whole texts: what is said of runs is mostly one of a few. */
  const known = new Map<string, string>();
  let touched = new Set<number>();
  const codeOf = (text: string): number | undefined => {
    const code = mark.get(text)?.['code'];
    return code === undefined ? undefined : Number(code);
  };
  const charOf = (text: string): string => {
    let code = codeOf(text);
    if (code === undefined) {
      newMark.run(text);
      code = codeOf(text);
    }
    if (code !== undefined) return markChar(code);
    newMarkInAnyCase.run(withoutLabel(text));
    return markChar(codeOf(withoutLabel(text)) ?? Number.NaN);
  };
  return {
    run(row) {
      const id = Number(run.run(...values(runColumns, row)).lastInsertRowid);
      touched.add(id);
      return id;
    },
    revision(id, row) {
      revision.run(...values(revisionColumns, row), id);
      touched.add(id);
    },
    said(id, columns) {
      said.run(...values(saidColumns, columns), id);
      touched.add(id);
    },
    touched() {
      const ids = [...touched];
      touched = new Set();
      return ids;
    },
    block: (row) => Number(block.run(...values(blockColumns, row)).lastInsertRowid),
    marks(lines) {
      const chars = known.get(lines) ?? linesOf(lines).map(charOf).join('');
      known.set(lines, chars);
      trimOldest(known, knownMarksMax);
      return chars;
    },
    forget() {
      known.clear();
      touched.clear();
    },
    exported: (row) => Number(exported.run(...values(exportColumns, row)).lastInsertRowid),
    piece: (row) => void piece.run(...values(pieceColumns, row), row.trace_id, row.tenant),
    changed: (startedAt) => void change.run(fineTime(startedAt)),
    joinedTrace: (row) => void joinedTrace.run(...values(joinedTraceColumns, row)),
  };
}

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

function values<Column extends string>(columns: readonly Column[], row: { readonly [column in Column]?: unknown }): SQLInputValue[] {
  return columns.map((column) => (row[column] ?? null) as SQLInputValue);
}

/** Rows of one statement: SQLite takes 32,766 values in one, and a row has 28 at most. */
const rowsPerStatement = 500;

export function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return chunksOf(items, rowsPerStatement);
}

/** For `where … in`: one value, so that the statement is the same for every number of items. */
export function oneOf<Item extends string | number>(items: readonly Item[]): RawBuilder<Item> {
  return sql<Item>`(select value from json_each(${JSON.stringify(items)}))`;
}
