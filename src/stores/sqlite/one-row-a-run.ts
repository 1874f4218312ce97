/**
 * The step from a row for each verdict, decision and tool call to one row a run: in one transaction, so that a file is either unchanged or complete. Verdicts
 * and contents move to blocks, and the keys of runs to one index.
 */
import { sql, type Insertable, type Kysely } from 'kysely';
import type { EvaluatorKind, Decision, VerdictWord } from '../../model/verdict.ts';
import { isJsonArray, isJsonObject, parseJson } from '../../model/json.ts';
import type { ToolCounts } from '../run-counts.ts';
import { compressed } from '../compression.ts';
import { encodedEntries, type RunEntry } from '../run-record.ts';
import { writeBlocks, type TextPlace } from '../sql/blocks.ts';
import { markChars } from '../sql/marks.ts';
import { listedColumns, oneOf } from '../sql/rows.ts';
import { blockOf, saidColumns } from '../sql/run-entries.ts';
import type { Tables } from '../sql/tables.ts';

/** Tables that the step reads, and the one that it fills. */
interface Before {
  readonly runs: Omit<Insertable<Tables['runs']>, 'marks'> & { readonly id: number; readonly content: Uint8Array | null };
  readonly evaluations: {
    readonly run_id: number;
    readonly name: string;
    readonly evaluator: string;
    readonly kind: string;
    readonly version: number;
    readonly options_hash: string;
    readonly revision: number;
    readonly verdict: string;
    readonly score: number | null;
    readonly label: string;
    readonly explanation: string;
    readonly reason: string | null;
    readonly evidence: string;
    readonly details: string;
    readonly sample_probability: number;
  };
  readonly decisions: {
    readonly run_id: number;
    readonly name: string;
    readonly evaluator: string;
    readonly revision: number;
    readonly decision: string;
    readonly reason: string | null;
    readonly probability: number | null;
  };
  readonly tool_calls: {
    readonly run_id: number;
    readonly position: number;
    readonly name: string;
    readonly ended: string;
    readonly took_us: number | null;
  };
  readonly runs_anew: Tables['runs'] & { readonly id: number };
}

const runsPerStep = 200;

const tables = [
  'create table verdict_marks (code integer primary key, mark text not null unique) strict',
  'create table blocks (id integer primary key, live integer not null, body blob not null) strict',
  `create table runs_anew (
     id integer primary key, tenant text not null, trace_id text not null, span_id text not null,
     agent text, service text, version text, session_id text, model text,
     started_us integer not null, ended_us integer not null,
     completeness text not null, status text not null, revision integer not null, part_of text, content_gone text,
     marks text not null, figures blob, tools text,
     verdicts_block integer, verdicts_at integer, verdicts_length integer,
     content_block integer, content_at integer, content_length integer,
     unique (trace_id, span_id, tenant)) strict`,
];

/** A run lets go of a block when it goes, or refers to another one. */
function letsGo(column: 'verdicts_block' | 'content_block'): readonly string[] {
  const statements = `update blocks set live = live - 1 where id = old.${column}; delete from blocks where id = old.${column} and live <= 0;`;
  return [
    `create trigger ${column}_of_gone_run after delete on runs when old.${column} is not null begin ${statements} end`,
    `create trigger ${column}_before after update of ${column} on runs when old.${column} is not null and old.${column} is not new.${column} begin ${statements} end`,
  ];
}

const afterwards = [
  'drop table evaluations',
  'drop table decisions',
  'drop table tool_calls',
  'drop table runs',
  'alter table runs_anew rename to runs',
  'create index runs_by_start on runs (started_us, id)',
  'create index runs_by_agent on runs (agent, started_us, id)',
  'create index runs_by_session on runs (session_id, started_us, id) where session_id is not null',
  'create index runs_with_content on runs (started_us, id) where content_block is not null',
  ...letsGo('verdicts_block'),
  ...letsGo('content_block'),
];

export async function oneRowARun(any: Kysely<unknown>): Promise<void> {
  const db = any as Kysely<Tables>;
  const run = (statement: string): Promise<unknown> => sql.raw(statement).execute(db);
  // Otherwise what refers to runs would go with their old table. It has no effect within a transaction.
  await run('pragma foreign_keys = off');
  try {
    await run('begin immediate');
    try {
      const { rows } = await sql`select 1 from sqlite_master where name = 'evaluations'`.execute(db);
      // The step may have been done by a process that ended before it could note it.
      if (rows.length > 0) await moveAll(any, run);
      await run('commit');
    } catch (error) {
      await run('rollback');
      throw error;
    }
  } finally {
    await run('pragma foreign_keys = on');
  }
}

async function moveAll(db: Kysely<Tables & Before>, run: (statement: string) => Promise<unknown>): Promise<void> {
  for (const statement of tables) await run(statement);
  const marksKnown = new Map<string, string>();
  for (let after = 0; ;) {
    const rows = await db
      .selectFrom('runs')
      .select([...listedColumns, 'id', 'content', 'content_gone'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(runsPerStep)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.id;
    await moveSome(db, rows, marksKnown);
  }
  for (const statement of afterwards) await run(statement);
}

type OldRun = Pick<Before['runs'], (typeof listedColumns)[number] | 'id' | 'content' | 'content_gone'>;

async function moveSome(db: Kysely<Tables & Before>, rows: readonly OldRun[], marksKnown: Map<string, string>): Promise<void> {
  const ids = rows.map(({ id }) => id);
  const entries = await entriesBefore(db, ids);
  const tools = await toolsBefore(db, ids);
  const said = ids.map((id) => encodedEntries([...(entries.get(id)?.values() ?? [])]));
  const places = await placesOf(
    db,
    said.map(({ marks, verdicts }) => (marks === '' ? undefined : verdicts)),
  );
  const anew: Insertable<Before['runs_anew']>[] = [];
  for (const [at, { content, ...row }] of rows.entries()) {
    const { marks = '', figures = [] } = said[at] ?? {};
    const chars = marksKnown.get(marks) ?? (await markChars(db, marks));
    marksKnown.set(marks, chars);
    // The table has no such column yet.
    const { failures: _later, ...columns } = saidColumns({ marks: chars, figures, failures: null }, places[at]);
    anew.push({
      ...row,
      tools: tools.get(row.id) ?? null,
      ...columns,
      // It is compressed already.
      content_block: content === null ? null : await blockOf(db, content),
      content_at: content === null ? null : 0,
      content_length: null,
    });
  }
  await db.insertInto('runs_anew').values(anew).execute();
}

async function placesOf(db: Kysely<Tables & Before>, texts: readonly (string | undefined)[]): Promise<readonly (TextPlace | undefined)[]> {
  const given = texts.filter((text) => text !== undefined);
  const places = await writeBlocks(
    given,
    async ({ live, body }) =>
      (
        await db
          .insertInto('blocks')
          .values({ live, body: compressed(body) })
          .returning('id')
          .executeTakeFirstOrThrow()
      ).id,
  );
  let next = 0;
  return texts.map((text) => (text === undefined ? undefined : places[next++]));
}

async function entriesBefore(db: Kysely<Tables & Before>, ids: readonly number[]): Promise<ReadonlyMap<number, Map<string, RunEntry>>> {
  const found = new Map<number, Map<string, RunEntry>>(ids.map((id) => [id, new Map()]));
  const evaluations = await db.selectFrom('evaluations').selectAll().where('run_id', 'in', oneOf(ids)).execute();
  for (const row of evaluations) {
    const [evidence, details] = [parseJson(row.evidence) ?? null, parseJson(row.details)];
    found.get(row.run_id)?.set(row.name, {
      name: row.name,
      verdict: {
        evaluator: row.evaluator,
        kind: row.kind as EvaluatorKind,
        version: row.version,
        optionsHash: row.options_hash,
        revision: row.revision,
        verdict: row.verdict as VerdictWord,
        score: row.score ?? undefined,
        label: row.label,
        explanation: row.explanation,
        reason: row.reason ?? undefined,
        evidence: isJsonArray(evidence) ? evidence.filter((one) => typeof one === 'string') : [],
        details: isJsonObject(details) ? details : {},
        sampleProbability: row.sample_probability,
      },
    });
  }
  const decisions = await db.selectFrom('decisions').selectAll().where('run_id', 'in', oneOf(ids)).execute();
  for (const { run_id: id, name, evaluator, revision, decision, reason, probability } of decisions) {
    const entry = found.get(id)?.get(name);
    found.get(id)?.set(name, {
      ...entry,
      name,
      decision: {
        evaluator,
        evaluatorKind: entry?.verdict?.kind ?? 'rule',
        decision: decision as Decision,
        revision,
        ...(reason === null ? {} : { reason }),
        ...(probability === null ? {} : { probability }),
      },
    });
  }
  return found;
}

async function toolsBefore(db: Kysely<Tables & Before>, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await sql<
    { readonly id: number; readonly name: string } & { readonly [count in 'calls' | 'errors' | 'not_executed' | 'timed' | 'took']: number }
  >`
    select run_id as id, name, count(*) as calls, sum(ended = 'failed') as errors, sum(ended = 'not_executed') as not_executed, count(took_us) as timed, total(took_us) as took
    from tool_calls where run_id in ${oneOf(ids)} group by run_id, name order by run_id, min(position)`.execute(db);
  const counts = (row: (typeof rows.rows)[number]): ToolCounts => [row.name, row.calls, row.errors, row.not_executed, row.timed, row.took];
  return new Map([...Map.groupBy(rows.rows, ({ id }) => id)].map(([id, own]) => [id, JSON.stringify(own.map(counts))]));
}
