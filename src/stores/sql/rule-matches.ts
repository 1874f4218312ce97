/** Runs that wait for a rule of the configuration, in the SQLite store. */
import type { Kysely, Transaction } from 'kysely';
import type { RunKey } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import type { NewRuleMatch, RuleMatchStore } from '../../model/store/rule-match-store.ts';
import { oneOf } from './rows.ts';
import type { Tables } from './tables.ts';

/** In the transaction that writes the run. */
export async function writeMatches(tx: Transaction<Tables>, runId: number, matches: readonly NewRuleMatch[]): Promise<void> {
  for (const { kind, rule, at, residual } of matches)
    await tx
      .insertInto('rule_matches')
      .values({ kind, rule, run_id: runId, at_us: at, residual })
      .onConflict((conflict) =>
        conflict.columns(['kind', 'rule', 'run_id']).doUpdateSet({ residual: null }).where('excluded.residual', 'is', null),
      )
      .execute();
}

export function ruleMatchStore(db: Kysely<Tables>): RuleMatchStore {
  return {
    async left({ kind, before, limit }) {
      const rows = await db
        .selectFrom('rule_matches as m')
        .innerJoin('runs', 'runs.id', 'm.run_id')
        .select(['m.rule', 'm.residual', 'runs.tenant', 'runs.trace_id', 'runs.span_id'])
        .where('m.kind', '=', kind)
        .where('m.at_us', '<', before)
        .orderBy('m.at_us')
        .orderBy('m.run_id')
        .orderBy('m.rule')
        .limit(limit)
        .execute();
      return rows.map(({ rule, residual, tenant, trace_id: traceId, span_id: spanId }) => ({
        rule,
        residual,
        run: { tenant: tenant as Tenant, traceId: traceId as TraceId, spanId: spanId as SpanId },
      }));
    },
    async handled(kind, matches) {
      if (matches.length === 0) return;
      await db.transaction().execute(async (tx) => {
        const ids = await idsOf(
          tx,
          matches.map(({ run }) => run),
        );
        for (const { rule, run } of matches)
          await tx
            .deleteFrom('rule_matches')
            .where('kind', '=', kind)
            .where('rule', '=', rule)
            .where('run_id', '=', ids.get(keyOf(run)) ?? 0)
            .execute();
      });
    },
  };
}

async function idsOf(tx: Transaction<Tables>, runs: readonly RunKey[]): Promise<ReadonlyMap<string, number>> {
  const rows = await tx
    .selectFrom('runs')
    .select(['id', 'tenant', 'trace_id as traceId', 'span_id as spanId'])
    .where('trace_id', 'in', oneOf([...new Set(runs.map(({ traceId }) => traceId))]))
    .execute();
  return new Map(rows.map((row) => [keyOf(row), row.id]));
}

function keyOf({ tenant, traceId, spanId }: { readonly [part in keyof RunKey]: string }): string {
  return `${traceId}/${spanId}/${tenant}`;
}
