/**
 * Marks in SQLite. Each mark has a character, and a run has a text of such characters, which GLOB searches: faster than an index
 * is kept up to date for every verdict.
 */
import { sql, type ExpressionBuilder, type Kysely } from 'kysely';
import { sampledBy, type SampledBy } from '../../model/verdict.ts';
import { parsedMark, withoutLabel, type Mark } from '../run-record.ts';
import type { Statements } from './statements.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;

export interface KnownMark extends Mark {
  readonly char: string;
}

/** More marks than evaluators with their own labels need; beyond it a mark has no label. A pattern of all of them is shorter than the longest of SQLite. */
export const marksMax = 10_000;

/** Below it are the characters that a pattern reads as something else; a text holds no half of a surrogate pair. */
const firstChar = 0x100;
const surrogates = { from: 0xd800, to: 0xe000 } as const;

export function markChar(code: number): string {
  const point = code + firstChar - 1;
  return String.fromCodePoint(point < surrogates.from ? point : point + surrogates.to - surrogates.from);
}

/** One that is there or has room; else that without its label, which is always added. */
export const addMark = `insert into verdict_marks (mark) select ? where (select count(*) from verdict_marks) < ${marksMax} on conflict (mark) do nothing`;

export async function knownMarks(on: Statements): Promise<readonly KnownMark[]> {
  return (await on.all('select code, mark from verdict_marks')).map(({ code, mark }) => ({
    ...parsedMark(String(mark)),
    char: markChar(Number(code)),
  }));
}

export async function readMarks(db: Db): Promise<readonly KnownMark[]> {
  const rows = await db.selectFrom('verdict_marks').selectAll().orderBy('code').execute();
  return rows.map(({ code, mark }) => ({ ...parsedMark(mark), char: markChar(code) }));
}

/** The characters of these lines, for the few runs that are not written by a batch. */
export async function markChars(tx: Db, marks: string): Promise<string> {
  const chars: string[] = [];
  for (const mark of linesOf(marks)) chars.push(markChar(await codeOf(tx, mark)));
  return chars.join('');
}

async function codeOf(tx: Db, mark: string): Promise<number> {
  for (const text of [mark, withoutLabel(mark)]) {
    const code = async (): Promise<number | undefined> =>
      (await tx.selectFrom('verdict_marks').select('code').where('mark', '=', text).executeTakeFirst())?.code;
    const found = await code();
    if (found !== undefined) return found;
    await sql`insert into verdict_marks (mark) select ${text} where ${text === mark ? 0 : 1} or (select count(*) from verdict_marks) < ${marksMax}`.execute(
      tx,
    );
    const added = await code();
    if (added !== undefined) return added;
  }
  throw new Error('a mark was not written');
}

export function linesOf(marks: string): readonly string[] {
  return marks === '' ? [] : marks.split('\n');
}

/** Runs with one of these marks, and none where there are no marks. */
export function hasMark(eb: ExpressionBuilder<Tables, 'runs'>, marks: readonly KnownMark[]) {
  return marks.length === 0 ? eb.lit(false) : sql<boolean>`glob(${globOf(marks)}, runs.marks)`;
}

export function globOf(marks: readonly KnownMark[]): string {
  return `*[${marks.map(({ char }) => char).join('')}]*`;
}

/** Marks of one evaluator. */
export interface Marked {
  readonly mark: KnownMark;
  readonly score: number | undefined;
  readonly sampleProbability: number | undefined;
  /** Reason of the decision. */
  readonly probability: number | undefined;
  readonly by: SampledBy;
}

export function marksByChar(marks: readonly KnownMark[]): ReadonlyMap<string, KnownMark> {
  return new Map(marks.map((mark) => [mark.char, mark]));
}

interface MarkedRow {
  readonly marks: string;
  readonly figures: Uint8Array | null;
}

/** Marks under that name. */
export function markedOf(row: MarkedRow, known: ReadonlyMap<string, KnownMark>, name: string): Marked | undefined {
  let found: Marked | undefined;
  eachMark(row, known, (mark, score, sampleProbability, probability, raisedBy, upstream) => {
    if (mark.name === name) found = { mark, score, sampleProbability, probability, by: sampledBy({ raisedBy, upstream }) };
  });
  return found;
}

/** Without an object for each mark: counts over many runs see millions. */
export function eachMark(
  { marks, figures }: MarkedRow,
  known: ReadonlyMap<string, KnownMark>,
  visit: (
    mark: KnownMark,
    score: number | undefined,
    sampleProbability: number | undefined,
    probability: number | undefined,
    raisedBy: number | undefined,
    upstream: number | undefined,
  ) => void,
): void {
  const numbers = figures === null ? undefined : new DataView(figures.buffer, figures.byteOffset, figures.byteLength);
  let at = 0;
  const next = (): number => {
    at += Float64Array.BYTES_PER_ELEMENT;
    return numbers === undefined ? Number.NaN : numbers.getFloat64(at - Float64Array.BYTES_PER_ELEMENT, true);
  };
  for (const char of marks) {
    const mark = known.get(char);
    if (mark === undefined) throw new Error('a mark of a run is not known');
    const score = mark.score === 'x' ? next() : (mark.score ?? undefined);
    const sampleProbability = mark.sampleProbability === 'x' ? next() : (mark.sampleProbability ?? undefined);
    const probability = mark.probability === 'x' ? next() : undefined;
    const raisedBy = mark.raisedBy === 'x' ? next() : undefined;
    visit(mark, score, sampleProbability, probability, raisedBy, mark.upstream === 'x' ? next() : undefined);
  }
}

/** Null when there are none. */
export function figuresBytes(figures: readonly number[]): Uint8Array | null {
  if (figures.length === 0) return null;
  const bytes = new DataView(new ArrayBuffer(figures.length * Float64Array.BYTES_PER_ELEMENT));
  for (const [at, figure] of figures.entries()) bytes.setFloat64(at * Float64Array.BYTES_PER_ELEMENT, figure, true);
  return new Uint8Array(bytes.buffer);
}
