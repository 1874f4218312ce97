/** Converts texts into vectors. It requests each distinct text once, several in a request, and caches the vectors. */
import { createHash } from 'node:crypto';
import type { Answer, EmbeddingRequest } from '../../../evaluators/evaluator.ts';
import { readVectors, type Vector } from '../../../evaluators/matching/vectors.ts';
import type { BudgetReservation, Tokens } from '../../model/budget.ts';
import type { HttpClient } from '../../http/http-client.ts';
import type { NoteCall } from '../../model/judge-call.ts';
import { callRecord } from './call-record.ts';
import type { RequestChain } from '../judge-chain.ts';
import type { Busy, RetryPolicy } from '../../runtime/retry.ts';
import type { JudgeDeps, JudgeSettings } from '../judge.ts';
import { tokensMost } from '../budget/budgets.ts';
import { weightedLru } from '../../runtime/lru.ts';
import type { JsonValue } from '../../model/json.ts';
import { field, openAiClient, failureOf, type Failed, type Refused } from './openai-client.ts';

export type Embedded =
  | { readonly kind: 'vectors'; readonly vectors: readonly Vector[]; readonly tokens: Tokens | undefined }
  | Busy
  | Refused
  | Failed;

export type Embed = (texts: readonly string[], signal: AbortSignal) => Promise<Embedded>;

/** `textsPerRequest` vectors of some thousand numbers of twenty digits. */
const answerBytesMax = 8 * 1024 * 1024;
export const textsPerRequest = 16;

export function embeddings(settings: JudgeSettings, http: HttpClient): Embed {
  const client = openAiClient(settings, { http, answerBytesMax });
  return async (texts, signal) => {
    try {
      return embeddedOf(
        await (await client).embeddings.create({ model: settings.model, input: [...texts], encoding_format: 'float' }, { signal }),
        texts.length,
      );
    } catch (error) {
      return await failureOf(error, { settings, sent: texts });
    }
  };
}

/** Trusts nothing in the body, in spite of its declared type. */
function embeddedOf(body: unknown, texts: number): Embedded {
  const data = field(body, 'data');
  const read = readVectors(Array.isArray(data) ? inOrder(data).map((entry) => field(entry, 'embedding') as JsonValue) : undefined, texts);
  if (read.kind === 'faulty') return { kind: 'failed', error: `judge_answer_invalid: ${read.fault}`, mayCost: true };
  const inputTokens = field(field(body, 'usage'), 'prompt_tokens');
  return {
    kind: 'vectors',
    vectors: read.vectors,
    tokens: typeof inputTokens === 'number' ? { input: inputTokens, output: 0 } : undefined,
  };
}

/** Sorts by index when every entry names one. */
function inOrder(data: readonly unknown[]): readonly unknown[] {
  const byIndex = new Map(data.map((entry) => [field(entry, 'index'), entry]));
  const ordered = data.map((_, at) => byIndex.get(at));
  return ordered.includes(undefined) ? data : ordered;
}

/** Texts of one call: each tool call of the largest scored run, and the texts to compare with. */
const textsMax = 2_000;

export interface EmbedderOptions {
  readonly settings: JudgeSettings;
  readonly http: HttpClient;
  readonly telemetry: JudgeDeps['telemetry'];
  readonly retry: RetryPolicy;
  readonly request: RequestChain;
}

/** The texts to embed, and who records and pays for the requests. */
interface Wanted {
  readonly texts: readonly string[];
  readonly note: NoteCall | undefined;
  /** Budget of the evaluator that asks. */
  readonly budget: BudgetReservation | undefined;
}

export function embedder({
  settings,
  http,
  telemetry,
  retry,
  request,
}: EmbedderOptions): (request: EmbeddingRequest, note: NoteCall | undefined, budget: BudgetReservation | undefined) => Promise<Answer> {
  const embed = embeddings(settings, http);
  const cache = embeddingCache();

  function count(outcome: 'cached' | 'asked', texts: number): void {
    telemetry.add('tracejury.judge.embeddings', texts, { 'tracejury.judge': settings.name, 'tracejury.outcome': outcome });
  }

  async function embedMissing(
    { texts, note, budget }: Wanted,
    known: ReadonlyMap<string, Vector>,
    missing: readonly string[],
  ): Promise<Answer> {
    const vectors = new Map(known);
    let tokens: Tokens | undefined;
    const record = callRecord(settings, retry.clock, note);
    for (let at = 0; at < missing.length; at += textsPerRequest) {
      const batch = missing.slice(at, at + textsPerRequest);
      const reply = await request<Exclude<Embedded, Busy>>({
        record,
        what: { operation: 'embeddings' },
        budget,
        most: { input: tokensMost(batch), output: 0 },
        send: () => embed(batch, retry.signal),
      });
      if (reply.kind !== 'vectors') return { kind: 'failed', error: reply.error };
      for (const [nth, text] of batch.entries()) vectors.set(text, reply.vectors[nth] ?? []);
      if (reply.tokens !== undefined) tokens = { input: (tokens?.input ?? 0) + reply.tokens.input, output: 0 };
    }
    const answer = answerOf(texts, vectors, tokens);
    // Vectors of different lengths come from different models, so none is kept.
    if (answer.kind === 'answered') for (const text of missing) cache.keep(text, vectors.get(text) ?? []);
    return answer;
  }

  function answerOf(texts: readonly string[], vectors: ReadonlyMap<string, Vector>, tokens: Tokens | undefined): Answer {
    const read = readVectors(
      texts.map((text) => vectors.get(text) ?? []),
      texts.length,
    );
    if (read.kind === 'faulty') return { kind: 'failed', error: `judge_answer_invalid: ${read.fault}` };
    return { kind: 'answered', value: read.vectors, truncated: false, model: settings.model, ...(tokens === undefined ? {} : { tokens }) };
  }

  return async ({ texts }, note, budget) => {
    if (texts.length > textsMax) return { kind: 'failed', error: `judge_overloaded: more than ${textsMax} texts at once` };
    const distinct = [...new Set(texts)];
    const known = new Map(
      distinct.flatMap((text) => {
        const vector = cache.of(text);
        return vector === undefined ? [] : [[text, vector] as const];
      }),
    );
    const missing = distinct.filter((text) => !known.has(text));
    if (known.size > 0) count('cached', known.size);
    if (missing.length === 0) return answerOf(texts, known, undefined);
    count('asked', missing.length);
    return await embedMissing({ texts, note, budget }, known, missing);
  };
}

/** Vectors by the hash of their text, of one endpoint and model; the least recently used go first. */
export interface EmbeddingCache {
  of(text: string): Vector | undefined;
  keep(text: string, vector: Vector): void;
}

/** Numbers of all vectors together, eight bytes each. */
export const cachedNumbersMax = 4_000_000;

export function embeddingCache(numbersMax: number = cachedNumbersMax): EmbeddingCache {
  const cache = weightedLru<Vector>({ weightOf: ({ length }) => length, weightMax: numbersMax });
  return {
    of(text) {
      const key = hashOf(text);
      const vector = cache.take(key);
      if (vector !== undefined) cache.put(key, vector);
      return vector;
    },
    keep: (text, vector) => cache.put(hashOf(text), vector),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
