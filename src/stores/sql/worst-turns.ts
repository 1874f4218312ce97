/** The worst turns of a session, found in the thread that has the file: only they leave it. */
import { worstTurns } from '../../analytics/worst-turns.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { sessionRunsMax, type WorstTurns } from '../../model/store/session-list.ts';
import type { VerdictWord } from '../../model/verdict.ts';
import { parsedEntries } from '../run-record.ts';
import { eachMark, marksByChar, type KnownMark } from './marks.ts';
import type { Statements } from './statements.ts';

export interface WorstTurnsQuery {
  readonly tenant: Tenant;
  readonly id: string;
}

const turnsOfSession = `select r.trace_id, r.span_id, r.marks, r.figures, block_text(b.body, r.verdicts_at, r.verdicts_length)
  from runs r left join blocks b on b.id = r.verdicts_block
  where r.session_id = ? and +r.tenant = ? and r.part_of is null order by r.started_us desc, r.id desc limit ${sessionRunsMax + 1}`;

type TurnRow = readonly [traceId: string, spanId: string, marks: string, figures: Uint8Array | null, verdicts: string | null];

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
  const scores = turns.map((row) => scoresOf(row, byChar));
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

/** Ordered by name. */
function scoresOf(row: TurnRow, byChar: ReadonlyMap<string, KnownMark>): readonly Scored[] {
  const [, , marks, figures] = row;
  const ofSession = sessionVerdicts(row);
  const scores: Scored[] = [];
  eachMark({ marks, figures }, byChar, ({ name, word }, score) => {
    if (word !== null && ofSession?.has(name) !== true) scores.push({ name, score, verdict: word });
  });
  return scores.sort((one, other) => (one.name < other.name ? -1 : 1));
}

const sessionMember = '"session"';

/** Names of verdicts on the whole session, which are stored with one of its turns. They have no mark, and few texts hold the word. */
function sessionVerdicts([, , , , verdicts]: TurnRow): ReadonlySet<string> | undefined {
  return verdicts?.includes(sessionMember) === true ? sessionNames(verdicts) : undefined;
}

function sessionNames(verdicts: string): ReadonlySet<string> {
  return new Set(parsedEntries(verdicts).flatMap(({ name, verdict }) => (verdict?.details['session'] === undefined ? [] : [name])));
}
