/** The batch side of a judge: requests to its endpoint, the lines of batch files, and the meaning of answers. */
import type OpenAI from 'openai';
import type { Question } from '../../../evaluators/evaluator.ts';
import type { HttpClient } from '../../http/http-client.ts';
import type { Tokens } from '../../model/budget.ts';
import { type JsonObject, type JsonValue, isJsonObject, jsonText, member, parseJson } from '../../model/json.ts';
import { chatBody, completionOf, type Completion } from '../client/completion.ts';
import type { Judge, AnswerFormat, JudgeSettings } from '../judge.ts';
import { mostOf, openingOf, ownAnswer, schemaNameOf } from '../client/prompt.ts';
import { field, openAiClient, failureOf, type RefusableMember, type Trouble } from '../client/openai-client.ts';

export interface BatchClient {
  readonly api: BatchApi;
  line(question: Question, custom: string): { readonly text: string; readonly most: Tokens };
  /** An upper bound of the tokens that a question uses. */
  most(question: Question): Tokens;
  /** `undefined` when the answer cannot be used. */
  read(question: Question, text: string): { readonly value: JsonValue; readonly truncated: boolean } | undefined;
}

/** A judge whose endpoint takes batches of questions and answers them later. */
export interface BatchingJudge extends Judge {
  readonly batches: BatchClient;
}

interface BatchClientOptions {
  readonly settings: JudgeSettings;
  readonly http: HttpClient;
  readonly nonce: () => string;
  /** The strictest format that the endpoint is not known to refuse. */
  readonly format: () => AnswerFormat;
  readonly refused: ReadonlySet<RefusableMember>;
  readonly signal: AbortSignal;
}

export function batchClient({ settings, http, nonce, format, refused, signal }: BatchClientOptions): BatchClient {
  return {
    api: batchApi(settings, http, signal),
    line(question, custom) {
      const { messages } = openingOf(question, nonce());
      const as = format();
      const body = chatBody(settings, {
        messages,
        format: as,
        schema: question.answerSchema,
        schemaName: schemaNameOf(question),
        refused,
      });
      return { text: batchLine(custom, body as unknown as JsonObject), most: mostOf(settings, question, messages, as) };
    },
    // The format of the line is not stored, and `tool_call` takes the most tokens.
    most: (question) => mostOf(settings, question, openingOf(question, '').messages, 'tool_call'),
    read(question, text) {
      const read = ownAnswer(question, text);
      return read.kind === 'answered' && read.fault === undefined
        ? { value: read.value, truncated: openingOf(question, '').truncated }
        : undefined;
    },
  };
}

export interface BatchApi {
  /** Creates a batch that carries our `id`; the id is also its idempotency key. Trouble with `mayCost`: the batch may exist. */
  submit(id: string, lines: readonly string[]): Promise<{ readonly kind: 'submitted'; readonly remoteId: string } | Trouble>;
  /** Searches the newest batches of the endpoint for our id. */
  find(id: string): Promise<{ readonly kind: 'found'; readonly remoteId: string } | { readonly kind: 'absent' } | Trouble>;
  status(remoteId: string): Promise<BatchStatus | { readonly kind: 'gone' } | Trouble>;
  /** Downloads a file of answers. */
  read(fileId: string): Promise<{ readonly kind: 'read'; readonly text: string } | Trouble>;
  /** Best effort: the batch may be over already. */
  cancel(remoteId: string): Promise<void>;
  /** Deletes files, which hold texts of runs. Best effort. */
  remove(fileIds: readonly string[]): Promise<void>;
}

export interface BatchStatus {
  readonly kind: 'batch';
  readonly state: 'working' | 'ended' | 'expired' | 'failed';
  /** Ids of the files with answers and with errors. */
  readonly files: readonly string[];
  /** Ids of the files with questions. */
  readonly input: readonly string[];
}

const idKey = 'tracejury_batch';
const outputBytesMax = 64 * 1024 * 1024;
/** Pages of the list of batches. */
const pagesMax = 5;
const pageSize = 100;
const idCharsMax = 500;

export function batchApi(settings: JudgeSettings, http: HttpClient, signal: AbortSignal): BatchApi {
  const opened = openAiClient(settings, { http, answerBytesMax: outputBytesMax });

  async function submitted(
    id: string,
    lines: readonly string[],
  ): Promise<{ readonly kind: 'submitted'; readonly remoteId: string } | Trouble> {
    const client = await opened;
    const { toFile } = await import('openai');
    const file = await toFile(Buffer.from(`${lines.join('\n')}\n`), `${id}.jsonl`, { type: 'application/jsonl' });
    let input: string | undefined;
    try {
      input = textOf(await client.files.create({ file, purpose: 'batch' }, { signal }), 'id');
    } catch (error) {
      // A file without a batch costs nothing and does nothing.
      return withoutCost(await failureOf(error));
    }
    if (input === undefined) return unnamed;
    const made = textOf(
      await client.batches.create(
        { input_file_id: input, endpoint: '/v1/chat/completions', completion_window: '24h', metadata: { [idKey]: id } },
        { signal, headers: { 'idempotency-key': id } },
      ),
      'id',
    );
    return made === undefined ? { ...unnamed, mayCost: true } : { kind: 'submitted', remoteId: made };
  }

  async function found(id: string): Promise<{ readonly kind: 'found'; readonly remoteId: string } | { readonly kind: 'absent' }> {
    const client = await opened;
    let page = await client.batches.list({ limit: pageSize }, { signal });
    for (let pages = 1; ; pages++) {
      const items: readonly unknown[] = Array.isArray(page.data) ? page.data : [];
      const own = items.find((item) => field(field(item, 'metadata'), idKey) === id);
      const remoteId = textOf(own, 'id');
      if (remoteId !== undefined) return { kind: 'found', remoteId };
      if (pages >= pagesMax || !page.hasNextPage()) return { kind: 'absent' };
      page = await page.getNextPage();
    }
  }

  return {
    submit: (id, lines) => orTrouble(() => submitted(id, lines)),
    find: (id) => orTrouble(() => found(id)),
    async status(remoteId) {
      try {
        return statusOf(await (await opened).batches.retrieve(remoteId, { signal }));
      } catch (error) {
        return field(error, 'status') === 404 ? { kind: 'gone' } : await failureOf(error);
      }
    },
    read: (fileId) =>
      orTrouble(async () => {
        const response = await (await opened).files.content(fileId, { signal });
        return { kind: 'read', text: await response.text() };
      }),
    async cancel(remoteId) {
      await (await opened).batches.cancel(remoteId, { signal }).catch(() => undefined);
    },
    async remove(fileIds) {
      for (const id of fileIds) await (await opened).files.delete(id, { signal }).catch(() => undefined);
    },
  };
}

const unnamed = { kind: 'failed', error: 'judge_answer_invalid: the endpoint did not name what it made' } as const;

function withoutCost(trouble: Trouble): Trouble {
  if (trouble.kind === 'refused') return trouble;
  return trouble.kind === 'busy'
    ? { kind: 'busy', error: trouble.error, retryAfter: trouble.retryAfter }
    : { kind: 'failed', error: trouble.error };
}

async function orTrouble<Result>(work: () => Promise<Result>): Promise<Result | Trouble> {
  try {
    return await work();
  } catch (error) {
    return await failureOf(error);
  }
}

/** Any other status counts as `working`. */
const states: { readonly [status: string]: BatchStatus['state'] } = {
  completed: 'ended',
  cancelled: 'expired',
  expired: 'expired',
  failed: 'failed',
};

function statusOf(batch: OpenAI.Batch): BatchStatus {
  const status = textOf(batch, 'status') ?? '';
  const of = (...names: readonly string[]): readonly string[] => names.flatMap((name) => textOf(batch, name) ?? []);
  return {
    kind: 'batch',
    state: Object.hasOwn(states, status) ? (states[status] ?? 'working') : 'working',
    files: of('output_file_id', 'error_file_id'),
    input: of('input_file_id'),
  };
}

function textOf(from: unknown, name: string): string | undefined {
  const value = field(from, name);
  return typeof value === 'string' && value !== '' && value.length <= idCharsMax ? value : undefined;
}

/** `readLines` assigns the answer by the id `custom`. */
export function batchLine(custom: string, body: JsonObject): string {
  return jsonText({ custom_id: custom, method: 'POST', url: '/v1/chat/completions', body });
}

export type LineFault = 'malformed' | 'unknown' | 'duplicated';

/** The outcome of a question: what the model answered, or that the endpoint refused it or did not reach it in time. */
export type LineResult = { readonly kind: 'completion'; readonly completion: Completion } | { readonly kind: 'refused' | 'expired' };

/** Characters of one line, which is one answer. */
const lineCharsMax = 2 * 1024 * 1024;

/** Lines beyond two for each question. */
const moreLines = 1_000;

export interface ReadLines {
  readonly results: ReadonlyMap<string, LineResult>;
  /** Number of skipped lines. All lines beyond the limit count as one. */
  readonly faults: ReadonlyMap<LineFault, number>;
}

/** Parses files of answers. The first of two answers to one question counts. */
export function readLines(texts: readonly string[], ids: ReadonlySet<string>): ReadLines {
  const results = new Map<string, LineResult>();
  const faults = new Map<LineFault, number>();
  const skip = (fault: LineFault): void => void faults.set(fault, (faults.get(fault) ?? 0) + 1);
  let left = ids.size * 2 + moreLines;
  for (const line of texts.flatMap((text) => [...linesOf(text, left)])) {
    if (left-- <= 0) {
      skip('malformed');
      break;
    }
    const value = line.length > lineCharsMax ? undefined : parseJson(line);
    const custom = isJsonObject(value) ? member(value, 'custom_id') : undefined;
    if (!isJsonObject(value) || typeof custom !== 'string') skip('malformed');
    else if (!ids.has(custom)) skip('unknown');
    else if (results.has(custom)) skip('duplicated');
    else {
      const result = resultOf(value);
      if (result === undefined) skip('malformed');
      else results.set(custom, result);
    }
  }
  return { results, faults };
}

/** Lines that are not blank, at most `most` + 1 of them. */
function* linesOf(text: string, most: number): Generator<string> {
  let found = 0;
  for (let at = 0; at < text.length && found <= most;) {
    const next = text.indexOf('\n', at);
    const end = next === -1 ? text.length : next;
    const line = text.slice(at, end);
    at = end + 1;
    if (line.trim() === '') continue;
    found++;
    yield line;
  }
}

function resultOf(line: JsonObject): LineResult | undefined {
  const [response, error] = [member(line, 'response'), member(line, 'error')];
  if (isJsonObject(error)) return { kind: member(error, 'code') === 'batch_expired' ? 'expired' : 'refused' };
  if (!isJsonObject(response)) return undefined;
  const [status, body] = [member(response, 'status_code'), member(response, 'body')];
  if (typeof status !== 'number') return undefined;
  return status === 200 ? { kind: 'completion', completion: completionOf(body) } : { kind: 'refused' };
}
