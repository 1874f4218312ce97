/**
 * Statements that write one row each, put together and prepared once. One statement for many rows is another text for every number of them, and reading it
 * takes SQLite longer than writing the rows.
 */
import { type Insertable, sql, type RawBuilder } from 'kysely';
import type { StatementSync, SQLInputValue } from 'node:sqlite';
import { piecesPerTraceMax } from '../../model/store/store.ts';
import type { Tables } from './tables.ts';
import { chunks as chunksOf } from '../../model/chunks.ts';

export type RunRow = Insertable<Tables['runs']>;
export type EvaluationRow = Insertable<Tables['evaluations']>;
export type DecisionRow = Insertable<Tables['decisions']>;
export type ToolCallRow = Insertable<Tables['tool_calls']>;
export type OutboxRow = Insertable<Tables['exports']>;
export type PieceRow = Insertable<Tables['spans']>;
export type JoinedTraceRow = Insertable<Tables['joined_traces']>;

/** A row takes over from one with the same key, evaluations and decisions not from one of a newer revision. */
export interface Rows {
  /** Gives its id. */
  run(row: RunRow): number;
  evaluation(row: EvaluationRow): void;
  decision(row: DecisionRow): void;
  toolCall(row: ToolCallRow): void;
  /** Gives its id. */
  exported(row: OutboxRow): number;
  /** A trace has so many pieces at most, and none of them twice: else nothing is written. */
  piece(row: PieceRow): void;
  joinedTrace(row: JoinedTraceRow): void;
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
const runColumns = [...listedColumns, 'content', 'content_gone'] as const;
const evaluationColumns = [
  'run_id',
  'name',
  'evaluator',
  'kind',
  'version',
  'options_hash',
  'revision',
  'verdict',
  'score',
  'label',
  'explanation',
  'reason',
  'evidence',
  'details',
  'sample_probability',
  'agent',
  'started_us',
] as const;
const decisionColumns = ['run_id', 'name', 'evaluator', 'revision', 'decision', 'reason', 'probability'] as const;
const toolCallColumns = ['run_id', 'position', 'agent', 'name', 'ended', 'took_us', 'started_us'] as const;
const pieceColumns = ['tenant', 'trace_id', 'digest', 'started_us', 'stored_us', 'spans', 'is_whole', 'is_redacted', 'body'] as const;
const joinedTraceColumns = ['tenant', 'trace_id', 'whole_id'] as const;
const exportColumns = ['run_id', 'exporter', 'part', 'revision', 'state', 'attempts', 'offered_us', 'due_us', 'reason', 'item'] as const;

/** The tables must be there. */
export function rows(prepare: (sql: string) => StatementSync): Rows {
  const run = prepare(`${insert('runs', runColumns)} ${takeOver(runColumns, ['tenant', 'trace_id', 'span_id'])} returning id`);
  const evaluation = prepare(
    `${insert('evaluations', evaluationColumns)} ${takeOver(evaluationColumns, ['run_id', 'name'])} where excluded.revision >= evaluations.revision`,
  );
  const decision = prepare(
    `${insert('decisions', decisionColumns)} ${takeOver(decisionColumns, ['run_id', 'name'])} where excluded.revision >= decisions.revision`,
  );
  const toolCall = prepare(insert('tool_calls', toolCallColumns));
  const exported = prepare(insert('exports', exportColumns));
  const piece = prepare(
    `insert into spans (${pieceColumns.join(', ')}) select ${places(pieceColumns)} where (select count(*) from spans where trace_id = ? and tenant = ?) < ${piecesPerTraceMax} on conflict (trace_id, tenant, digest) do nothing`,
  );
  const joinedTrace = prepare(`${insert('joined_traces', joinedTraceColumns)} ${takeOver(joinedTraceColumns, ['trace_id', 'tenant'])}`);
  return {
    run: (row) => Number(run.get(...values(runColumns, row))?.['id']),
    evaluation: (row) => void evaluation.run(...values(evaluationColumns, row)),
    decision: (row) => void decision.run(...values(decisionColumns, row)),
    toolCall: (row) => void toolCall.run(...values(toolCallColumns, row)),
    exported: (row) => Number(exported.run(...values(exportColumns, row)).lastInsertRowid),
    piece: (row) => void piece.run(...values(pieceColumns, row), row.trace_id, row.tenant),
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

function values<Column extends string>(columns: readonly Column[], row: { readonly [column in Column]?: unknown }): SQLInputValue[] {
  return columns.map((column) => (row[column] ?? null) as SQLInputValue);
}

/** Rows of one statement: SQLite takes 32,766 values in one, and a row has 18 at most. */
const rowsPerStatement = 500;

export function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return chunksOf(items, rowsPerStatement);
}

/** For `where … in`: one value, so that the statement is the same for every number of items. */
export function oneOf<Item extends string | number>(items: readonly Item[]): RawBuilder<Item> {
  return sql<Item>`(select value from json_each(${JSON.stringify(items)}))`;
}
