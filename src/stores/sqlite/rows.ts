/**
 * Statements that write one row each, put together and prepared once. One statement for many rows is another text for every number of them, and reading it
 * takes SQLite longer than writing the rows.
 */
import type { Insertable } from 'kysely';
import type { StatementSync, SQLInputValue } from 'node:sqlite';
import type { Tables } from './tables.ts';

export type RunRow = Insertable<Tables['runs']>;
export type EvaluationRow = Insertable<Tables['evaluations']>;
export type DecisionRow = Insertable<Tables['decisions']>;
export type ToolCallRow = Insertable<Tables['tool_calls']>;
export type ExportRow = Insertable<Tables['exports']>;

/** A row takes over from one with the same key, evaluations and decisions not from one of a newer revision. */
export interface Rows {
  /** Gives its id. */
  run(row: RunRow): number;
  evaluation(row: EvaluationRow): void;
  decision(row: DecisionRow): void;
  toolCall(row: ToolCallRow): void;
  /** Gives its id. */
  exported(row: ExportRow): number;
}

const runColumns = ['tenant', 'trace_id', 'span_id', 'agent', 'service', 'version', 'session_id', 'model', 'started_us', 'ended_us', 'completeness', 'status', 'revision', 'part_of', 'content', 'content_gone'] as const;
const evaluationColumns = ['run_id', 'name', 'evaluator', 'kind', 'version', 'options_hash', 'revision', 'verdict', 'score', 'label', 'explanation', 'reason', 'evidence', 'details', 'sample_probability', 'agent', 'started_us'] as const;
const decisionColumns = ['run_id', 'name', 'evaluator', 'revision', 'decision', 'reason', 'probability'] as const;
const toolCallColumns = ['run_id', 'position', 'agent', 'name', 'ended', 'took_us', 'started_us'] as const;
const exportColumns = ['run_id', 'exporter', 'part', 'revision', 'state', 'attempts', 'offered_us', 'due_us', 'reason', 'item'] as const;

/** The tables must be there. */
export function rows(prepare: (sql: string) => StatementSync): Rows {
  const run = prepare(`${insert('runs', runColumns)} ${takeOver(runColumns, ['tenant', 'trace_id', 'span_id'])} returning id`);
  const evaluation = prepare(`${insert('evaluations', evaluationColumns)} ${takeOver(evaluationColumns, ['run_id', 'name'])} where excluded.revision >= evaluations.revision`);
  const decision = prepare(`${insert('decisions', decisionColumns)} ${takeOver(decisionColumns, ['run_id', 'name'])} where excluded.revision >= decisions.revision`);
  const toolCall = prepare(insert('tool_calls', toolCallColumns));
  const exported = prepare(insert('exports', exportColumns));
  return {
    run: (row) => Number(run.get(...values(runColumns, row))?.['id']),
    evaluation: (row) => void evaluation.run(...values(evaluationColumns, row)),
    decision: (row) => void decision.run(...values(decisionColumns, row)),
    toolCall: (row) => void toolCall.run(...values(toolCallColumns, row)),
    exported: (row) => Number(exported.run(...values(exportColumns, row)).lastInsertRowid),
  };
}

function insert<Table extends keyof Tables>(table: Table, columns: readonly (string & keyof Insertable<Tables[Table]>)[]): string {
  return `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`;
}

function takeOver<Column extends string>(columns: readonly Column[], key: readonly Column[]): string {
  const others = columns.filter((column) => !key.includes(column));
  return `on conflict (${key.join(', ')}) do update set ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`;
}

function values<Column extends string>(columns: readonly Column[], row: { readonly [column in Column]?: unknown }): SQLInputValue[] {
  return columns.map((column) => (row[column] ?? null) as SQLInputValue);
}
