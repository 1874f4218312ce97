/** `keep.bytes` in PostgreSQL, whose tables keep the room of deleted rows. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from '../../../src/stores/postgres/postgres-store.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { emptyPostgres } from '../../builders/postgres.ts';
import { retention } from '../../builders/retention.ts';
import { scored, scoredRun } from '../../builders/scored-run.ts';
import { eventually } from '../../service/running.ts';
import { nth, piece } from '../numbered.ts';

const runs = 2_000;
const batch = 100;

test('postgres: of runs that hold too many bytes the oldest go, and the room of deleted rows takes no further one', async () => {
  const url = await emptyPostgres();
  const store = await postgresStore(url, { inThread: false });
  onTestFinished(() => store.stop());
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  for (let from = 0; from < runs; from += batch) {
    const numbers = Array.from({ length: batch }, (_, at) => from + at);
    const text = (): string => randomBytes(2_000).toString('base64');
    await store.write(numbers.map((at) => scoredRun({ a: scored(1) }, nth(at, { trace: agentTrace({ input: text() }) }))));
    await store.writeSpans(numbers.map((at) => piece(at, { body: randomBytes(3_000) })));
  }
  // The server counts rows some time after they were written.
  await eventually(async () => {
    const { rows } = await other.query<{ rows: number }>(
      "select n_live_tup::int as rows from pg_stat_user_tables where relname in ('runs', 'spans') order by 1",
    );
    return rows[0]?.rows === runs ? true : undefined;
  }, 'the count of the rows');
  const { bytes } = await store.usage();
  const pruned = async (bytesMax: number): Promise<number> => {
    let gone = 0;
    for (let more = true; more;) {
      const step = await store.prune(retention({ bytesMax, stepRuns: 50 }));
      gone += step.runs;
      more = step.more;
    }
    return gone;
  };
  expect(await pruned(bytes)).toBe(0);
  const half = await pruned(Math.round(bytes / 2));
  expect(half / runs).toBeGreaterThan(0.4);
  expect(half / runs).toBeLessThan(0.65);
  // The files are as large as before.
  expect((await store.usage()).bytes).toBeGreaterThan(bytes * 0.9);
  expect(await pruned(Math.round(bytes / 2))).toBe(0);
});
