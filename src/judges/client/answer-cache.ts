/**
 * The cache asks the same question about the same texts once. It holds the last answers of a judge in memory, and more of them in the
 * store, as long as the judge's entry says. A second asker waits for a question in progress. The cache holds only answers that satisfy
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

type Answered = Extract<Answer, { readonly kind: 'answered' }>;

export interface AnswerCacheOptions {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Told of a store that could not be read or written: then it is asked. */
  readonly onFault?: (error: unknown) => void;
  readonly entriesMax?: number;
  readonly charsMax?: number;
}

/** What decides how a model answers a question. */
type AskedWith = Pick<JudgeSettings, 'model' | 'temperature' | 'reasoningEffort' | 'extraBody' | 'answerFormat'>;

export interface AnswerCache {
  /** Keeps answers in a store from now on, those of which every text may lie there. */
  open(store: JudgeAnswerStore, mayLie?: (text: string) => boolean): void;
  /** Rejects only when `ask` does. */
  through(
    judge: Pick<JudgeSettings, 'name' | 'baseUrl' | 'cacheMs'> & AskedWith,
    question: Question,
    ask: () => Promise<Answer>,
  ): Promise<Answer>;
}

/** An answer is a few hundred characters. */
const valueCharsMax = 64 * 1024;
const storeRowsMax = 100_000;
const storeCharsMax = 64 * 1024 * 1024;
const pruneEveryMs = 600_000;
/** No answer is kept for longer. */
export const cacheMsMax = 90 * 86_400_000;

export function answerCache({
  telemetry,
  clock,
  onFault = () => undefined,
  entriesMax = 10_000,
  charsMax = 16 * 1024 * 1024,
}: AnswerCacheOptions): AnswerCache {
  const held = weightedLru<KeptAnswer>({ weightOf: ({ value }) => value.length, weightMax: charsMax, entriesMax });
  const underWay = new Map<string, Promise<Answer>>();
  let store: JudgeAnswerStore | undefined;
  let prunedMs = -Infinity;
  let mayBeStored: (text: string) => boolean = () => true;

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
    if (store === undefined || !textsOf(value).every(mayBeStored)) return;
    try {
      await store.keep([one]);
      if (clock.nowMs() - prunedMs < pruneEveryMs) return;
      prunedMs = clock.nowMs();
      await store.prune({ before: Math.floor((clock.nowMs() - cacheMsMax) * 1_000), rows: storeRowsMax, chars: storeCharsMax });
    } catch (error) {
      onFault(error);
    }
  }

  async function asked(key: string, question: Question, ask: () => Promise<Answer>): Promise<Answer> {
    const answer = await ask();
    // One that a check found fault with was the best there was, and may be better another time.
    if (answer.kind === 'answered' && question.check?.(answer.value) === undefined) await keep(key, answer);
    return answer;
  }

  return {
    open(next, mayLie = () => true) {
      store = next;
      mayBeStored = mayLie;
    },
    async through(settings, question, ask) {
      const { name, baseUrl, cacheMs = 0 } = settings;
      if (cacheMs <= 0) return await ask();
      const count = (outcome: 'cached' | 'asked'): void =>
        telemetry.add('tracejury.judge.answers', 1, { 'tracejury.judge': name, 'tracejury.outcome': outcome });
      const key = questionKey(baseUrl, askedAs(settings), question);
      const found = cachedAnswer(await known(key, Math.floor((clock.nowMs() - cacheMs) * 1_000)), question);
      if (found !== undefined) {
        count('cached');
        return found;
      }
      const other = underWay.get(key);
      if (other !== undefined) {
        const answer = await other;
        // The first asker may have stopped, or run out of budget: that does not answer this one.
        if (answer.kind === 'answered') {
          count('cached');
          return {
            kind: 'answered',
            value: answer.value,
            truncated: answer.truncated,
            cached: true,
            ...(answer.model === undefined ? {} : { model: answer.model }),
          };
        }
      }
      count('asked');
      const own = asked(key, question, ask);
      underWay.set(key, own);
      try {
        return await own;
      } finally {
        if (underWay.get(key) === own) underWay.delete(key);
      }
    },
  };
}

/** Names of members among them. */
export function textsOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  if (isJsonArray(value)) return value.flatMap(textsOf);
  return isJsonObject(value) ? Object.entries(value).flatMap(([name, below]) => [name, ...textsOf(below)]) : [];
}

/** Undefined: there is none that can be used. */
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

/** A model that is asked in another way gives other answers. */
function askedAs({ model, temperature, reasoningEffort, extraBody, answerFormat }: AskedWith): string {
  const given = [temperature, reasoningEffort, extraBody, answerFormat];
  if (given.every((one) => one === undefined)) return model;
  const kept = [model, temperature ?? null, reasoningEffort ?? null, extraBody ?? null];
  return jsonText(answerFormat === undefined ? kept : [...kept, answerFormat], { sortKeys: true });
}

/** The texts as the judge sees them; the schema by its members, in any order. */
export function questionKey(baseUrl: string, model: string, { id, instruction, data, answerSchema, vote }: Question): string {
  const asked = [
    baseUrl,
    model,
    id,
    instruction,
    jsonText(answerSchema, { sortKeys: true }),
    ...(vote === undefined ? [] : [vote]),
    ...data.flatMap(({ title, text }) => [title, text]),
  ];
  return createHash('sha256').update(jsonText(asked)).digest('base64');
}
