/**
 * The answer cache asks the same question about the same texts once. It keeps recent answers of a judge in memory, and more of them in the
 * store, for the time in the judge's entry. A second asker waits for a question in progress. The cache holds only answers that satisfy
 * their schema, never failures.
 */
import { createHash } from 'node:crypto';
import type { Answer, Question } from '../../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, jsonText, member, parseJson, type JsonValue } from '../../model/json.ts';
import type { JudgeAnswerStore, KeptAnswer } from '../../model/store/judge-store.ts';
import type { Clock } from '../../model/clock.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { JudgeSettings } from '../judge.ts';
import { weightedLru } from '../../runtime/lru.ts';
import { present } from '../../model/present.ts';

type Answered = Extract<Answer, { readonly kind: 'answered' }>;

export interface AnswerCacheOptions {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Called when the store fails; the question is then asked. */
  readonly onFault?: (error: unknown) => void;
  readonly entriesMax?: number;
  readonly charsMax?: number;
}

/** The settings that decide how a model answers. */
type AnswerSettings = Pick<JudgeSettings, 'model' | 'temperature' | 'reasoningEffort' | 'extraBody' | 'answerFormat'>;

export interface AnswerCache {
  /** Stores answers from now on, if `mayLie` allows each text of theirs. */
  open(store: JudgeAnswerStore, mayStore?: (text: string) => boolean): void;
  /** Answers from the cache or by `ask`. Rejects only when `ask` does. */
  answer(
    judge: Pick<JudgeSettings, 'name' | 'baseUrl' | 'cacheMs'> & AnswerSettings,
    question: Question,
    ask: () => Promise<Answer>,
  ): Promise<Answer>;
}

/** Longest stored answer; a usual one has a few hundred characters. */
const valueCharsMax = 64 * 1024;
export const storeRowsMax = 100_000;
const storeCharsMax = 64 * 1024 * 1024;
const pruneEveryMs = 600_000;
/** Longest retention of an answer. */
export const cacheMsMax = 90 * 86_400_000;

export function answerCache({
  telemetry,
  clock,
  onFault = () => undefined,
  entriesMax = 10_000,
  charsMax = 16 * 1024 * 1024,
}: AnswerCacheOptions): AnswerCache {
  const held = weightedLru<KeptAnswer>({ weightOf: ({ value }) => value.length, weightMax: charsMax, entriesMax });
  const inProgress = new Map<string, Promise<Answer>>();
  let store: JudgeAnswerStore | undefined;
  let prunedMs = -Infinity;
  let isStorable: (text: string) => boolean = () => true;

  async function known(key: string, since: number): Promise<KeptAnswer | undefined> {
    const here = held.take(key);
    if (here !== undefined && here.answeredAt >= since) {
      held.put(key, here);
      return here;
    }
    try {
      const found = await store?.find(key, since);
      if (found !== undefined) held.put(key, found);
      return found;
    } catch (error) {
      onFault(error);
      return undefined;
    }
  }

  async function keep(key: string, { value, truncated, model }: Answered): Promise<void> {
    const text = jsonText({ value, truncated, ...(model === undefined ? {} : { model }) });
    if (text.length > valueCharsMax) return;
    const one: KeptAnswer = { key, value: text, answeredAt: Math.floor(clock.nowMs() * 1_000) };
    held.put(key, one);
    if (store === undefined || !textsOf(value).every(isStorable)) return;
    try {
      await store.keep([one]);
      if (clock.nowMs() - prunedMs < pruneEveryMs) return;
      prunedMs = clock.nowMs();
      await store.prune({ before: Math.floor((clock.nowMs() - cacheMsMax) * 1_000), rows: storeRowsMax, chars: storeCharsMax });
    } catch (error) {
      onFault(error);
    }
  }

  async function askAndKeep(key: string, question: Question, ask: () => Promise<Answer>): Promise<Answer> {
    const answer = await ask();
    // A faulty answer was the best one available; another request may bring a better one.
    if (answer.kind === 'answered' && question.check?.(answer.value) === undefined) await keep(key, answer);
    return answer;
  }

  return {
    open(next, mayLie = () => true) {
      store = next;
      isStorable = mayLie;
    },
    async answer(settings, question, ask) {
      const { name, baseUrl, cacheMs = 0 } = settings;
      if (cacheMs <= 0) return await ask();
      const count = (outcome: 'cached' | 'asked'): void =>
        telemetry.add('tracejury.judge.answers', 1, { 'tracejury.judge': name, 'tracejury.outcome': outcome });
      const key = questionKey(baseUrl, modelKey(settings), question);
      const found = cachedAnswer(await known(key, Math.floor((clock.nowMs() - cacheMs) * 1_000)), question);
      if (found !== undefined) {
        count('cached');
        return found;
      }
      const other = inProgress.get(key);
      if (other !== undefined) {
        const answer = await other;
        // A failure concerns only the first asker, for example its budget.
        if (answer.kind === 'answered') {
          count('cached');
          return present({ kind: 'answered', value: answer.value, truncated: answer.truncated, cached: true, model: answer.model });
        }
      }
      count('asked');
      const own = askAndKeep(key, question, ask);
      inProgress.set(key, own);
      try {
        return await own;
      } finally {
        if (inProgress.get(key) === own) inProgress.delete(key);
      }
    },
  };
}

/** All strings in the value, names of members included. */
export function textsOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isJsonArray(value)) return value.flatMap(textsOf);
  return isJsonObject(value) ? Object.entries(value).flatMap(([name, below]) => [name, ...textsOf(below)]) : [];
}

/** `undefined` when the stored answer cannot be used. */
function cachedAnswer(kept: KeptAnswer | undefined, question: Question): Answered | undefined {
  const read = kept === undefined ? undefined : parseJson(kept.value);
  if (!isJsonObject(read)) return undefined;
  const [value, model] = [member(read, 'value'), member(read, 'model')];
  if (value === undefined || question.check?.(value) !== undefined) return undefined;
  return {
    kind: 'answered',
    value,
    truncated: member(read, 'truncated') === true,
    cached: true,
    ...(typeof model === 'string' ? { model } : {}),
  };
}

/** Identifies the model and the settings of its requests. */
function modelKey({ model, temperature, reasoningEffort, extraBody, answerFormat }: AnswerSettings): string {
  const given = [temperature, reasoningEffort, extraBody, answerFormat];
  if (given.every((one) => one === undefined)) return model;
  const kept = [model, temperature ?? null, reasoningEffort ?? null, extraBody ?? null];
  return jsonText(answerFormat === undefined ? kept : [...kept, answerFormat], { sortKeys: true });
}

/** Hash of the texts as the judge sees them; the order of the schema's members has no influence. */
export function questionKey(baseUrl: string, model: string, { id, instruction, data, answerSchema, vote }: Question): string {
  const parts = [
    baseUrl,
    model,
    id,
    instruction,
    jsonText(answerSchema, { sortKeys: true }),
    ...(vote === undefined ? [] : [vote]),
    ...data.flatMap(({ title, text }) => [title, text]),
  ];
  return createHash('sha256').update(jsonText(parts)).digest('base64');
}
