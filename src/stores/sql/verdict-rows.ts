/** Single verdicts for figures over many runs. Each question goes along the start of runs, and takes a page or counts what marks say. */
import { sql, type ExpressionBuilder, type Kysely } from 'kysely';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { evaluatorsMax, type DecidedRuns, type RunPeriod, type VerdictRows } from '../../model/store/verdict-rows.ts';
import type { Connection } from './connection.ts';
import { globOf, hasMark, markedOf, marksByChar, readMarks, type Marked } from './marks.ts';
import { readEntries } from './run-entries.ts';
import type { Tables } from './tables.ts';

export function verdictRows({ db, scan }: Pick<Connection, 'db' | 'scan'>): VerdictRows {
  return {
    async evaluators() {
      const marks = (await readMarks(db)).filter(({ word }) => word !== null);
      const byChar = marksByChar(marks);
      const found: { readonly name: string; readonly kind: string }[] = [];
      for (const [name, own] of Map.groupBy(marks, (mark) => mark.name)) {
        const row = await db
          .selectFrom('runs')
          .select('marks')
          .where((eb) => hasMark(eb, own))
          .orderBy('started_us', 'desc')
          .orderBy('id', 'desc')
          .limit(1)
          .executeTakeFirst();
        const newest = [...(row?.marks ?? '')].map((char) => byChar.get(char)).find((mark) => mark?.name === name);
        const kind = newest?.kind ?? undefined;
        if (kind !== undefined) found.push({ name, kind });
      }
      return found.toSorted((one, other) => (one.name < other.name ? -1 : 1)).slice(0, evaluatorsMax + 1);
    },
    async since({ runsMax, ...period }) {
      const { from } = period;
      const row = await db
        .selectFrom('runs')
        .select('started_us')
        .where((eb) => within(eb, period))
        .orderBy('started_us', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .offset(runsMax)
        .executeTakeFirst();
      return row === undefined ? from : row.started_us + 1;
    },
    async page({ name, limit, after, ...period }) {
      const marks = await readMarks(db);
      const rows = await db
        .selectFrom('runs')
        .select([
          'id',
          'started_us',
          'marks',
          'figures',
          'agent',
          'version',
          'model',
          'prompt',
          'session_id',
          'tenant',
          'trace_id',
          'span_id',
        ])
        .where((eb) =>
          hasMark(
            eb,
            marks.filter((mark) => mark.name === name && mark.word !== null),
          ),
        )
        .where((eb) => within(eb, period))
        .$if(after !== undefined, (select) => select.where(sql<boolean>`(started_us, id) < (${after?.startedAt ?? 0}, ${after?.id ?? 0})`))
        .orderBy('started_us', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const byChar = marksByChar(marks);
      const marked = page.map((row) => ({ row, said: markedOf(row, byChar, name) }));
      const labels = await longLabels(db, name, marked);
      return {
        rows: marked.map(({ row, said }) => ({
          tenant: row.tenant as Tenant,
          traceId: row.trace_id as TraceId,
          spanId: row.span_id as SpanId,
          agent: row.agent ?? undefined,
          version: row.version ?? undefined,
          model: row.model ?? undefined,
          prompt: row.prompt ?? undefined,
          sessionId: row.session_id ?? undefined,
          word: said?.mark.word ?? 'error',
          score: said?.score,
          label: said?.mark.label ?? labels.get(row.id) ?? '',
          sampleProbability: said?.sampleProbability ?? 1,
          ...said?.by,
        })),
        next: rows.length > limit && last !== undefined ? { startedAt: last.started_us, id: last.id } : undefined,
      };
    },
    async decided({ weightMax = Number.MAX_VALUE, ...query }) {
      const ended = await scan({ of: 'decided', query: { ...query, weightMax } });
      const groups = new Map(ended.map((row) => [groupKey(row), row]));
      for (const row of await waitingRuns(db, { ...query, weightMax })) {
        const before = groups.get(groupKey(row));
        groups.set(groupKey(row), before === undefined ? row : sumOf(before, row));
      }
      return [...groups.values()].toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
    },
  };
}

const periodColumns = ['agent', 'tenant', 'version', 'model', 'prompt'] as const;

function within(eb: ExpressionBuilder<Tables, 'runs'>, period: RunPeriod) {
  const equal = periodColumns.flatMap((column) => (period[column] === undefined ? [] : [eb(column, '=', period[column])]));
  return eb.and([eb('started_us', '>=', period.from), eb('started_us', '<', period.to), ...equal]);
}

/** Labels of runs whose mark has none, by the ids of their rows. */
async function longLabels(
  db: Kysely<Tables>,
  name: string,
  marked: readonly { readonly row: { readonly id: number }; readonly said: Marked | undefined }[],
): Promise<ReadonlyMap<number, string>> {
  const entries = await readEntries(
    db,
    marked.flatMap(({ row, said }) => (said?.mark.label === null ? [row.id] : [])),
  );
  return new Map([...entries].map(([id, own]) => [id, own.find((entry) => entry.name === name)?.verdict?.label ?? '']));
}

/** Jobs of runs that a judge is still to be asked about, and of sessions that are still to be judged. */
async function waitingRuns(
  db: Kysely<Tables>,
  { name, weightMax, ...period }: RunPeriod & { readonly name: string; readonly weightMax: number },
): Promise<readonly DecidedRuns[]> {
  const said = (await readMarks(db)).filter((mark) => mark.name === name);
  const unsaid = said.length === 0 ? sql`true` : sql`not glob(${globOf(said)}, r.marks)`;
  const { from, to } = period;
  const equal = periodColumns.flatMap((column) =>
    period[column] === undefined ? [] : [sql`and ${sql.ref(`r.${column}`)} = ${period[column]}`],
  );
  const inPeriod = sql`r.started_us >= ${from} and r.started_us < ${to} ${sql.join(equal, sql` `)}`;
  const { rows } =
    await sql<DecidedRow>`select agent, 'waiting' as decision, count(*) as runs, sum(p is not null) as chosen, total(min(1.0 / p, ${Math.min(weightMax, Number.MAX_VALUE)})) as weight, sum(p is null) as unchosen from (
      select r.agent, j.probability as p from judge_jobs j join runs r on r.id = j.run_id where j.name = ${name} and ${unsaid} and ${inPeriod}
      union all
      select r.agent, s.probability
        from sessions s join runs r on r.id = (select t.run_id from session_turns t where t.session = s.id order by t.started_us desc, t.run_id desc limit 1)
        where s.name = ${name} and s.probability is not null and s.run_id is null and ${inPeriod}) as waiting
    group by agent`.execute(db);
  return rows.map(({ agent: of, ...row }) => ({ agent: of ?? undefined, ...row }));
}

function groupKey({ agent, decision }: DecidedRuns): string {
  return JSON.stringify([agent, decision]);
}

function sumOf(one: DecidedRuns, other: DecidedRuns): DecidedRuns {
  return {
    ...one,
    runs: one.runs + other.runs,
    chosen: one.chosen + other.chosen,
    weight: one.weight + other.weight,
    unchosen: one.unchosen + other.unchosen,
  };
}

/** Runs without an agent come first. */
function isBefore(one: DecidedRuns, other: DecidedRuns): boolean {
  if (one.agent !== other.agent) return one.agent === undefined || (other.agent !== undefined && one.agent < other.agent);
  return one.decision < other.decision;
}

interface DecidedRow extends Omit<DecidedRuns, 'agent'> {
  readonly agent: string | null;
}
