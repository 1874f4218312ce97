/** Single verdicts for figures over many runs. Each question goes along an index, and takes a page or counts what an index holds. */
import { sql, type Kysely } from 'kysely';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { evaluatorsMax, type DecidedRuns, type VerdictRows } from '../../model/store/verdict-rows.ts';
import type { VerdictWord } from '../../model/verdict.ts';
import type { Tables } from './tables.ts';

export function verdictRows(db: Kysely<Tables>): VerdictRows {
  return {
    async evaluators() {
      // From name to name along the index, not over all verdicts.
      const { rows } = await sql<{ readonly name: string; readonly kind: string }>`with recursive names (name) as (
          select min(name) from evaluations union all select (select min(e.name) from evaluations e where e.name > names.name) from names where names.name is not null limit ${evaluatorsMax + 1})
        select name, (select kind from evaluations e where e.name = names.name order by started_us desc, run_id desc limit 1) as kind from names where name is not null order by name`.execute(
        db,
      );
      return rows;
    },
    async since({ from, to, agent, tenant, runsMax }) {
      const row = await db
        .selectFrom('runs')
        .select('started_us')
        .where('started_us', '>=', from)
        .where('started_us', '<', to)
        .$if(agent !== undefined, (select) => select.where('agent', '=', agent ?? ''))
        .$if(tenant !== undefined, (select) => select.where('tenant', '=', tenant ?? ''))
        .orderBy('started_us', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .offset(runsMax)
        .executeTakeFirst();
      return row === undefined ? from : row.started_us + 1;
    },
    async page({ name, from, to, agent, tenant, limit, after }) {
      const rows = await db
        .selectFrom('evaluations as e')
        .innerJoin('runs as r', 'r.id', 'e.run_id')
        .select([
          'e.run_id',
          'e.started_us',
          'e.verdict',
          'e.score',
          'e.label',
          'e.sample_probability',
          'e.agent',
          'r.session_id',
          'r.tenant',
          'r.trace_id',
          'r.span_id',
        ])
        .where('e.name', '=', name)
        .where('e.started_us', '>=', from)
        .where('e.started_us', '<', to)
        .$if(agent !== undefined, (select) => select.where('e.agent', '=', agent ?? ''))
        .$if(tenant !== undefined, (select) => select.where('r.tenant', '=', tenant ?? ''))
        .$if(after !== undefined, (select) =>
          select.where(sql<boolean>`(e.started_us, e.run_id) < (${after?.startedAt ?? 0}, ${after?.id ?? 0})`),
        )
        .orderBy('e.started_us', 'desc')
        .orderBy('e.run_id', 'desc')
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        rows: page.map((row) => ({
          tenant: row.tenant as Tenant,
          traceId: row.trace_id as TraceId,
          spanId: row.span_id as SpanId,
          agent: row.agent ?? undefined,
          sessionId: row.session_id ?? undefined,
          word: row.verdict as VerdictWord,
          score: row.score ?? undefined,
          label: row.label,
          sampleProbability: row.sample_probability,
        })),
        next: rows.length > limit && last !== undefined ? { startedAt: last.started_us, id: last.run_id } : undefined,
      };
    },
    async decided({ name, from, to, agent, tenant, weightMax = Number.MAX_VALUE }) {
      const within = sql`r.started_us >= ${from} and r.started_us < ${to} ${agent === undefined ? sql`` : sql`and r.agent = ${agent}`} ${tenant === undefined ? sql`` : sql`and r.tenant = ${tenant}`}`;
      const { rows } =
        await sql<DecidedRow>`select agent, decision, count(*) as runs, sum(p is not null and not judged) as chosen, total(case when judged then null else min(1.0 / p, ${Math.min(weightMax, Number.MAX_VALUE)}) end) as weight, sum(p is null and not judged) as unchosen from (
          select r.agent, d.decision, d.probability as p, e.run_id is not null as judged
            from runs r join decisions d on d.run_id = r.id and d.name = ${name} left join evaluations e on e.run_id = r.id and e.name = ${name} where ${within}
          union all
          select r.agent, 'waiting', j.probability, 0
            from judge_jobs j join runs r on r.id = j.run_id left join decisions d on d.run_id = r.id and d.name = ${name} left join evaluations e on e.run_id = r.id and e.name = ${name}
            where j.name = ${name} and d.run_id is null and e.run_id is null and ${within}
          union all
          select r.agent, 'waiting', s.probability, 0
            from sessions s join runs r on r.id = (select t.run_id from session_turns t where t.session = s.id order by t.started_us desc, t.run_id desc limit 1)
            where s.name = ${name} and s.probability is not null and s.run_id is null and ${within})
        group by agent, decision order by agent, decision`.execute(db);
      return rows.map(({ agent: of, ...row }) => ({ agent: of ?? undefined, ...row }));
    },
  };
}

interface DecidedRow extends Omit<DecidedRuns, 'agent'> {
  readonly agent: string | null;
}
