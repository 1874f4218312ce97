/** Which runs stay although they are too old: those that somebody still waits for. */
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import type { Retention } from '../../model/store/store.ts';
import { isUnjudged } from './sessions.ts';
import type { Tables } from './tables.ts';

/** Of a run: no backend waits for its scores, and no judge is to be asked about it or its session. */
export function isNotAwaited({ jobsBefore, turnsBefore }: Pick<Retention, 'jobsBefore' | 'turnsBefore'>) {
  return ({ and, exists, not, selectFrom }: ExpressionBuilder<Tables, 'runs'>): ExpressionWrapper<Tables, 'runs', SqlBool> =>
    and([
      not(
        exists(
          selectFrom('exports').select('exports.id').whereRef('exports.run_id', '=', 'runs.id').where('exports.state', '=', 'waiting'),
        ),
      ),
      not(
        exists(
          selectFrom('judge_jobs')
            .select('judge_jobs.id')
            .whereRef('judge_jobs.run_id', '=', 'runs.id')
            .where('judge_jobs.offered_us', '>=', jobsBefore),
        ),
      ),
      not(
        exists(
          selectFrom('session_turns as t')
            .innerJoin('sessions as s', 's.id', 't.session')
            .select('s.id')
            .whereRef('t.run_id', '=', 'runs.id')
            .where('t.noted_us', '>=', turnsBefore)
            .where(isUnjudged('s')),
        ),
      ),
    ]);
}
