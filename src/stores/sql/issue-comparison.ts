/** Reads the runs of an issue and other runs of its agent, to compare them. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { type ComparedQuery, type ComparedRun, earlierRunsMax, type IssueStore } from '../../model/store/issue-store.ts';
import type { ToolCounts } from '../run-counts.ts';
import { hasMark, readMarks } from './marks.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;

export async function comparedRuns(
  db: Db,
  { id, tenant, agent, name }: Parameters<IssueStore['compared']>[0],
  { from, to, judged, limit }: ComparedQuery,
): ReturnType<IssueStore['compared']> {
  const issue = Number.parseInt(id, 16);
  const marks = (await readMarks(db)).filter((mark) => mark.name === name && (mark.word === 'pass' || mark.word === 'fail'));
  const ofIssue = db
    .selectFrom('issue_runs')
    .where('issue_runs.issue', '=', issue)
    .where('issue_runs.started_us', '>=', from)
    .where('issue_runs.started_us', '<', to);
  const { runs } = await ofIssue.select(({ fn }) => fn.countAll<number>().as('runs')).executeTakeFirstOrThrow();
  const own = await ofIssue
    .innerJoin('runs', 'runs.id', 'issue_runs.run_id')
    .select(compared)
    .where(isDrawn(sql`issue_runs.run_id`, Math.ceil(Number(runs) / limit)))
    .limit(spare * limit)
    .execute();
  const others = await db
    .selectFrom('runs')
    .select(compared)
    .where('runs.agent', agent === '' ? 'is' : '=', agent === '' ? null : agent)
    .where('runs.started_us', '>=', from)
    .where('runs.started_us', '<', to)
    .where(isDrawn(sql`runs.id`, Math.ceil(judged / limit)))
    // The plus keeps SQLite to the index of the agent.
    .where(sql<boolean>`+runs.tenant = ${tenant}`)
    .where('runs.part_of', 'is', null)
    .where((eb) => hasMark(eb, marks))
    .where(sql<boolean>`not exists (select 1 from issue_runs as i where i.run_id = runs.id and i.issue = ${issue})`)
    .limit(spare * limit)
    .execute();
  return { own: own.map(comparedRun), others: others.map(comparedRun) };
}

/** The draw gives about the wanted number of runs. A limit that cut them would leave out the newest ones. */
const spare = 2;
/** A linear step and a step that is not linear: ids of a regular rhythm stay regular in the first one. All products fit into 64 bits. */
const scramble = { factor: 1_103_515_245, more: 12_345, modulus: 2_147_483_647, part: 30_011 } as const;

/** Every `step`th run by a scrambled id, so that a rhythm of the traffic does not choose. */
function isDrawn(runId: RawBuilder<unknown>, step: number): RawBuilder<boolean> {
  if (step <= 1) return sql<boolean>`true`;
  const [factor, more, modulus, part] = [scramble.factor, scramble.more, scramble.modulus, scramble.part].map((number) => sql.lit(number));
  const once = sql`((${runId} % ${modulus} * ${factor} + ${more}) % ${modulus})`;
  return sql<boolean>`(${once} * (${once} % ${part} + 1)) % ${modulus} % ${sql.lit(step)} = 0`;
}

const earlierRuns = sql<number | null>`case when runs.session_id is null or runs.session_id = '' then null else (
  select count(*) from (select 1 from runs as s where s.session_id = runs.session_id and s.started_us < runs.started_us
    and s.tenant = runs.tenant limit ${sql.lit(earlierRunsMax)}) as earlier) end`;

const compared = [
  'runs.version',
  'runs.model',
  'runs.service',
  'runs.user_id',
  'runs.environment',
  'runs.prompt',
  'runs.input_tokens',
  'runs.tools',
  'runs.started_us',
  earlierRuns.as('earlier'),
] as const;

interface ComparedRow extends Pick<
  Tables['runs'],
  'version' | 'model' | 'service' | 'user_id' | 'environment' | 'prompt' | 'input_tokens' | 'tools' | 'started_us'
> {
  readonly earlier: number | null;
}

function comparedRun({ tools, earlier, ...row }: ComparedRow): ComparedRun {
  return {
    version: known(row.version),
    model: known(row.model),
    service: known(row.service),
    user: known(row.user_id),
    environment: known(row.environment),
    prompt: known(row.prompt),
    inputTokens: row.input_tokens ?? undefined,
    tools: tools === null ? [] : (JSON.parse(tools) as readonly ToolCounts[]).map(([name]) => name),
    earlierRuns: earlier === null ? undefined : Number(earlier),
    startedAt: row.started_us,
  };
}

function known(value: string | null): string | undefined {
  return value === null || value === '' ? undefined : value;
}
