/**
 * The index of the words of stored texts: input and final answer of runs with content. It is filled behind the writes, in steps, from what is
 * stored, so it holds nothing that redaction has removed. Triggers remove the words with their content and with their run.
 */
import { isJsonObject, jsonText, member, type JsonValue } from '../../model/json.ts';
import { matchesTerms, searchTerms, wordsOf } from '../../model/search-words.ts';
import type { IndexedTexts, IndexOptions } from '../../model/store/store.ts';
import { excerptOf, readContent } from '../blob-codec.ts';
import type { Statements } from './statements.ts';

/** Rows without content that one step passes over. */
const rowsPerStep = 1_000;
/** Characters of content that one step reads. */
const contentCharsPerStep = 4_000_000;

export const textTables: readonly string[] = [
  // The words themselves are only in the index. Without places a word is in a run or not, which is all that a search asks.
  "create virtual table run_texts using fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii')",
  // Runs from the oldest to the newest of these are in the index.
  'create table run_texts_state (newest_id integer not null, oldest_id integer not null) strict',
  'insert into run_texts_state select coalesce(max(id), 0), coalesce(max(id), 0) + 1 from runs',
  // Runs between these whose content has changed.
  'create table run_texts_waiting (run_id integer primary key) strict',
  `create trigger run_texts_of_gone_run after delete on runs when old.content_block is not null begin
     delete from run_texts where rowid = old.id; delete from run_texts_waiting where run_id = old.id; end`,
  // Ids of the newest runs are given again when these runs are gone.
  `create trigger run_texts_state_of_gone_run after delete on runs when old.id > coalesce((select max(id) from runs), 0) begin
     update run_texts_state set newest_id = min(newest_id, coalesce((select max(id) from runs), 0)), oldest_id = min(oldest_id, coalesce((select max(id) from runs), 0) + 1); end`,
  `create trigger run_texts_of_content after update of content_block on runs when old.content_block is not new.content_block begin
     delete from run_texts where rowid = old.id;
     insert or ignore into run_texts_waiting select new.id where new.content_block is not null; end`,
];

/** The question to the index; `undefined` when the text has no word. Words hold no sign that the index reads as an operator. */
export function textQuery(text: string): string | undefined {
  const { words, prefix } = searchTerms(text);
  const terms = [...words.map((word) => `"${word}"`), ...(prefix === undefined ? [] : [`"${prefix}"*`])];
  return terms.length === 0 ? undefined : terms.join(' ');
}

/** One step, within a transaction: changed runs, then new ones, then those of before the index, newest first. */
export async function indexed(on: Statements, options: IndexOptions): Promise<IndexedTexts> {
  const step = indexStep(on, options);
  const state = await on.first('select newest_id, oldest_id from run_texts_state');
  const [newest, oldest] = [Number(state?.['newest_id']), Number(state?.['oldest_id'])];
  const changed = await on.all('select run_id from run_texts_waiting limit ?', [options.runsMax]);
  for (const { run_id: id } of changed) {
    if (step.isFull()) return step.done(true);
    await step.index(Number(id));
    await on.run('delete from run_texts_waiting where run_id = ?', [Number(id)]);
  }
  const [upTo, isAtEnd] = await step.along('id > ? order by id', newest);
  const [downTo, isAtBegin] = isAtEnd ? await step.along('id < ? order by id desc', oldest) : [oldest, false];
  if (upTo !== newest || downTo !== oldest) await on.run('update run_texts_state set newest_id = ?, oldest_id = ?', [upTo, downTo]);
  return step.done(!isAtBegin || changed.length === options.runsMax);
}

interface IndexStep {
  readonly done: (more: boolean) => IndexedTexts;
  readonly isFull: () => boolean;
  readonly index: (id: number) => Promise<void>;
  /** Resolves with the last run, and whether the runs ended. */
  readonly along: (which: string, from: number) => Promise<readonly [last: number, isEnd: boolean]>;
}

function indexStep(on: Statements, { runsMax, charsMax }: IndexOptions): IndexStep {
  const content = `select r.excerpt is null as bare, block_text(c.body, r.content_at, r.content_length) as content
     from runs r join blocks c on c.id = r.content_block where r.id = ? and r.part_of is null`;
  let runs = 0;
  let chars = 0;
  let cut = 0;
  const isFull = (): boolean => runs >= runsMax || chars >= contentCharsPerStep;

  async function index(id: number): Promise<void> {
    const row = await on.first(content, [id]);
    const text = row?.['content'];
    if (typeof text !== 'string') return;
    runs++;
    chars += text.length;
    const { input, answer } = textsOf(text);
    const all = wordsOf(`${input.slice(0, charsMax)}\n${answer.slice(0, charsMax)}`);
    const words = withinBytes(all);
    if (words.length < all.length) cut++;
    await on.run('delete from run_texts where rowid = ?', [id]);
    if (words.length > 0) await on.run('insert into run_texts (rowid, words) values (?, ?)', [id, words.join(' ')]);
    // Files of an earlier release have none.
    if (row?.['bare'] === 1) await on.run('update runs set excerpt = ? where id = ?', [excerptOf(input) ?? null, id]);
  }

  return {
    done: (more) => ({ runs, cut, more }),
    isFull,
    index,
    async along(which, from) {
      let last = from;
      const rows = await on.all(`select id, content_block from runs where ${which} limit ${rowsPerStep}`, [from]);
      for (const { id, content_block: block } of rows) {
        if (isFull()) return [last, false];
        if (block !== null) await index(Number(id));
        last = Number(id);
      }
      return [last, rows.length < rowsPerStep];
    },
  };
}

/** PostgreSQL takes no more of one text. */
const wordBytesMax = 1_048_575;

/** The first of these words, as many as the index takes of one run. */
function withinBytes(words: readonly string[]): readonly string[] {
  let bytes = 0;
  const end = words.findIndex((word) => (bytes += Buffer.byteLength(word)) > wordBytesMax);
  return end === -1 ? words : words.slice(0, end);
}

export interface TextsQuery {
  readonly ids: readonly number[];
  readonly text: string;
}

/** Characters of an input, and of an answer, in which words are looked up without the index. */
const charsReadMax = 100_000;

/** Finds the runs that have the words in their stored texts, whether they are in the index or not. */
export async function runsWithWords(on: Statements, { ids, text }: TextsQuery): Promise<readonly number[]> {
  const terms = searchTerms(text);
  const content =
    'select block_text(c.body, r.content_at, r.content_length) as content from runs r join blocks c on c.id = r.content_block where r.id = ?';
  const found: number[] = [];
  for (const id of ids) {
    const stored = (await on.first(content, [id]))?.['content'];
    if (typeof stored !== 'string') continue;
    const { input, answer } = textsOf(stored);
    if (matchesTerms(wordsOf(`${input.slice(0, charsReadMax)}\n${answer.slice(0, charsReadMax)}`), terms)) found.push(id);
  }
  return found;
}

function textsOf(content: string): { readonly input: string; readonly answer: string } {
  const run = readContent(content);
  return { input: plainText(member(run, 'input')), answer: plainText(member(run, 'final_response')) };
}

function plainText(value: JsonValue | undefined): string {
  return typeof value === 'string'
    ? value
    : value === undefined || value === null
      ? ''
      : isJsonObject(value) || Array.isArray(value)
        ? jsonText(value)
        : String(value);
}
