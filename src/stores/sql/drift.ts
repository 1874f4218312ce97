/** Looks of drift watches in the SQLite store. */
import type { Kysely, Selectable } from 'kysely';
import {
  driftMeasurementsMax,
  driftStates,
  type DriftAnswer,
  type DriftMeasurement,
  type DriftResult,
  type DriftStore,
} from '../../model/store/drift-store.ts';
import { isJsonObject, jsonText, parseJson, type JsonValue } from '../../model/json.ts';
import type { Tables } from './tables.ts';

export function driftStore(db: Kysely<Tables>): DriftStore {
  return {
    async names() {
      const rows = await db.selectFrom('drift_looks').select('name').distinct().orderBy('name').execute();
      return rows.map(({ name }) => name);
    },
    async looks({ name, state, limit }) {
      const query = db
        .selectFrom('drift_looks')
        .selectAll()
        .where('name', '=', name)
        .orderBy('series', 'desc')
        .orderBy('look', 'desc')
        .limit(limit);
      return (await (state === undefined ? query : query.where('state', '=', state)).execute()).map(lookOf);
    },
    async baseline(name, series) {
      const row = await db
        .selectFrom('drift_looks')
        .selectAll()
        .where('name', '=', name)
        .where('series', '=', series)
        .where('look', '=', 0)
        .where('state', '=', 'kept')
        .executeTakeFirst();
      return row === undefined ? undefined : lookOf(row);
    },
    async write({ name, series, look, state, beganAt, endedAt, runs, answers, result }) {
      const text = (value: unknown): string => jsonText(value as JsonValue);
      const columns = {
        series_began_us: series.beganAt,
        asked: text(series.asked),
        because: text(series.because),
        state,
        began_us: beganAt,
        ended_us: endedAt ?? null,
        runs,
        answers: text(answers),
        result: result === undefined ? null : text(result),
      };
      await db.transaction().execute(async (tx) => {
        await tx
          .insertInto('drift_looks')
          .values({ name, series: series.number, look, ...columns })
          .onConflict((conflict) => conflict.columns(['name', 'series', 'look']).doUpdateSet(columns))
          .execute();
        const surplus = await tx
          .selectFrom('drift_looks')
          .select(['series', 'look'])
          .where('name', '=', name)
          .orderBy('series', 'desc')
          .orderBy('look', 'desc')
          .limit(driftMeasurementsMax)
          .offset(driftMeasurementsMax)
          .execute();
        for (const one of surplus)
          if (one.look !== 0 || one.series !== series.number)
            await tx
              .deleteFrom('drift_looks')
              .where('name', '=', name)
              .where('series', '=', one.series)
              .where('look', '=', one.look)
              .execute();
      });
    },
  };
}

function lookOf(row: Selectable<Tables['drift_looks']>): DriftMeasurement {
  const asked = parseJson(row.asked);
  return {
    name: row.name,
    series: {
      number: row.series,
      beganAt: row.series_began_us,
      asked: isJsonObject(asked) ? asked : {},
      because: parseJson(row.because) as unknown as readonly string[],
    },
    look: row.look,
    state: driftStates.find((state) => state === row.state) ?? 'unfinished',
    beganAt: row.began_us,
    endedAt: row.ended_us ?? undefined,
    runs: row.runs,
    answers: parseJson(row.answers) as unknown as readonly DriftAnswer[],
    result: row.result === null ? undefined : resultOf(parseJson(row.result) as unknown as DriftResult),
  };
}

/** JSON knows no undefined. */
function resultOf({ counts, planned, word, shown }: DriftResult): DriftResult {
  return { counts, planned: planned ?? undefined, word, shown };
}
