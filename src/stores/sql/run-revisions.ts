/** Changes of each revision of a run against the one before. The row of a run holds only its newest revision. */
import type { Kysely, Transaction } from 'kysely';
import { isJsonArray, isJsonObject, jsonText, member, parseJson, type JsonValue } from '../../model/json.ts';
import { type RevisionChange, type RunRevision, revisionsKeptMax } from '../../model/store/store.ts';
import type { ToolCounts } from '../run-counts.ts';
import type { RunEntry } from '../run-record.ts';
import type { Tables } from './tables.ts';

/** Columns of a run that are compared. */
export type ComparedColumns = Pick<Tables['runs'], 'completeness' | 'status' | 'ended_us' | 'tools' | 'input_tokens' | 'output_tokens'>;

export const comparedColumns = ['completeness', 'status', 'ended_us', 'tools', 'input_tokens', 'output_tokens'] as const;

/** Changes of one revision. */
const changesMax = 100;

export function columnChanges(before: ComparedColumns, after: ComparedColumns): readonly RevisionChange[] {
  const plain = (['completeness', 'status', 'ended_us', 'input_tokens', 'output_tokens'] as const).flatMap(
    (column): readonly RevisionChange[] =>
      before[column] === after[column]
        ? []
        : [{ of: column === 'ended_us' ? 'ended_at' : column, before: before[column], after: after[column] }],
  );
  const [had, has] = [callsIn(before.tools), callsIn(after.tools)];
  const tools = [...new Set([...had.keys(), ...has.keys()])].flatMap((name): readonly RevisionChange[] =>
    had.get(name) === has.get(name) ? [] : [{ of: 'tool_calls', name, before: had.get(name) ?? 0, after: has.get(name) ?? 0 }],
  );
  return [...plain, ...tools].slice(0, changesMax);
}

function callsIn(tools: string | null): ReadonlyMap<string, number> {
  const counts = tools === null ? [] : (JSON.parse(tools) as readonly ToolCounts[]);
  return new Map(counts.map(([name, calls]) => [name, calls]));
}

export function verdictChanges(before: readonly RunEntry[], after: Iterable<RunEntry>): readonly RevisionChange[] {
  const words = new Map(before.map(({ name, verdict }) => [name, verdict?.verdict ?? null]));
  return [...after]
    .flatMap(({ name, verdict }): readonly RevisionChange[] => {
      const [had, has] = [words.get(name) ?? null, verdict?.verdict ?? null];
      return had === has ? [] : [{ of: 'verdict', name, before: had, after: has }];
    })
    .slice(0, changesMax);
}

export interface WrittenRevision extends RunRevision {
  readonly runId: number;
}

export async function writeRunRevisions(tx: Transaction<Tables>, revisions: readonly WrittenRevision[]): Promise<void> {
  const kept = revisions.filter(({ revision, changes }) => revision <= revisionsKeptMax && changes.length > 0);
  for (const { runId, revision, changes } of kept)
    await tx
      .insertInto('run_revisions')
      .values({ run_id: runId, revision, changes: jsonText(changes.map(changeJson)) })
      .onConflict((conflict) => conflict.columns(['run_id', 'revision']).doNothing())
      .execute();
}

/** Oldest first. */
export async function readRunRevisions(db: Kysely<Tables>, runId: number): Promise<readonly RunRevision[]> {
  const rows = await db
    .selectFrom('run_revisions')
    .select(['revision', 'changes'])
    .where('run_id', '=', runId)
    .orderBy('revision')
    .limit(revisionsKeptMax)
    .execute();
  return rows.map(({ revision, changes }) => ({ revision, changes: changesIn(changes) }));
}

function changeJson({ of, name, before, after }: RevisionChange): JsonValue {
  return { of, ...(name === undefined ? {} : { name }), before, after };
}

function changesIn(text: string): readonly RevisionChange[] {
  const list = parseJson(text) ?? null;
  return isJsonArray(list) ? list.filter(isJsonObject).map(readChange) : [];
}

function readChange(json: Parameters<typeof member>[0]): RevisionChange {
  const name = member(json, 'name');
  const value = (key: string): string | number | null => {
    const found = member(json, key) ?? null;
    return typeof found === 'string' || typeof found === 'number' ? found : null;
  };
  return {
    of: String(member(json, 'of')) as RevisionChange['of'],
    ...(typeof name === 'string' ? { name } : {}),
    before: value('before'),
    after: value('after'),
  };
}
