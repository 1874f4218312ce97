/** The worst turns of a session, found in the thread that has the file: only they leave it. */
import { worstTurns } from '../../analytics/worst-turns.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { sessionRunsMax, type WorstTurns } from '../../model/store/session-list.ts';
import type { VerdictWord } from '../../model/verdict.ts';
import { parsedEntries } from '../run-record.ts';
import { blockText } from './blocks.ts';
import { eachMark, marksByChar, type KnownMark } from './marks.ts';
import type { Statements } from './statements.ts';

export interface WorstTurnsQuery {
  readonly tenant: Tenant;
  readonly id: string;
}

const turnsOfSession = `select trace_id, span_id, marks, figures, verdicts_block, verdicts_at, verdicts_length from runs
  where session_id = ? and +tenant = ? and part_of is null order by started_us desc, id desc limit ${sessionRunsMax + 1}`;

type TurnRow = readonly [
  traceId: string,
  spanId: string,
  marks: string,
  figures: Uint8Array | null,
  block: number | null,
  at: number | null,
  length: number | null,
];

interface Scored {
  readonly name: string;
  readonly score: number | undefined;
  readonly verdict: VerdictWord;
}

export async function sessionWorstTurns(on: Statements, { tenant, id }: WorstTurnsQuery, marks: readonly KnownMark[]): Promise<WorstTurns> {
  const byChar = marksByChar(marks);
  const newest: TurnRow[] = [];
  for await (const rows of on.lists(turnsOfSession, [id, tenant])) newest.push(...(rows as readonly unknown[] as readonly TurnRow[]));
  const turns = newest.slice(0, sessionRunsMax).toReversed();
  const ofSession = await sessionVerdicts(on, turns);
  const scores = turns.map((row) => scoresOf(row, byChar, ofSession.get(row)));
  return {
    turns: turns.length,
    isWhole: newest.length <= sessionRunsMax,
    worst: worstTurns(scores).map(({ name, scored, worst, score }) => {
      const [traceId, spanId] = turns[worst ?? -1] ?? [];
      return {
        name,
        scored,
        turn: worst,
        score,
        verdict: scores[worst ?? -1]?.find((one) => one.name === name)?.verdict,
        traceId: traceId as TraceId | undefined,
        spanId: spanId as SpanId | undefined,
      };
    }),
  };
}

/** By name. */
function scoresOf(
  [, , marks, figures]: TurnRow,
  byChar: ReadonlyMap<string, KnownMark>,
  ofSession: ReadonlySet<string> | undefined,
): readonly Scored[] {
  const scores: Scored[] = [];
  eachMark({ marks, figures }, byChar, ({ name, word }, score) => {
    if (word !== null && ofSession?.has(name) !== true) scores.push({ name, score, verdict: word });
  });
  return scores.sort((one, other) => (one.name < other.name ? -1 : 1));
}

const sessionMember = '"session"';

/** Names of verdicts on the whole session, which are stored with one of its turns. No mark tells of them, and few texts hold the word. */
async function sessionVerdicts(on: Statements, turns: readonly TurnRow[]): Promise<ReadonlyMap<TurnRow, ReadonlySet<string>>> {
  const found = new Map<TurnRow, ReadonlySet<string>>();
  for (const [block, rows] of Map.groupBy(turns, ([, , , , of]) => of)) {
    if (block === null) continue;
    const texts = blockText((await on.first('select body from blocks where id = ?', [block]))?.['body'] as Uint8Array);
    for (const row of rows) {
      const [, , , , , at, length] = row;
      const text = length === null ? texts : texts.subarray(at ?? 0, (at ?? 0) + length);
      if (text.includes(sessionMember)) found.set(row, sessionNames(text.toString()));
    }
  }
  return found;
}

function sessionNames(verdicts: string): ReadonlySet<string> {
  return new Set(parsedEntries(verdicts).flatMap(({ name, verdict }) => (verdict?.details['session'] === undefined ? [] : [name])));
}
