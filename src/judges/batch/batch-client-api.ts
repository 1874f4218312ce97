/** The Batch API of OpenAI's protocol: files of questions go up, and files of answers come down when they are done. No retry here. */
import type OpenAI from 'openai';
import { field } from '../client/connection-fault.ts';
import { openAiClient, troubleOf, type Trouble } from '../client/openai-client.ts';
import type { JudgeSettings } from '../settings.ts';

export interface BatchApi {
  /** `id`: ours, which the batch bears; the same one twice is meant to be one batch. Busy with `mayCost`: nobody knows whether it was created. */
  submit(id: string, lines: readonly string[]): Promise<{ readonly kind: 'submitted'; readonly remoteId: string } | Trouble>;
  /** Among the newest ones there, the one that bears our id. */
  find(id: string): Promise<{ readonly kind: 'found'; readonly remoteId: string } | { readonly kind: 'absent' } | Trouble>;
  look(remoteId: string): Promise<BatchStatus | { readonly kind: 'gone' } | Trouble>;
  /** Of a file of answers. */
  read(fileId: string): Promise<{ readonly kind: 'read'; readonly text: string } | Trouble>;
  /** As far as may be: it may be over already. */
  cancel(remoteId: string): Promise<void>;
  /** Texts of runs need not lie there any longer. As far as may be. */
  remove(fileIds: readonly string[]): Promise<void>;
}

export interface BatchStatus {
  readonly kind: 'batch';
  readonly state: 'working' | 'ended' | 'expired' | 'failed';
  /** With answers and with errors; none that was not told. */
  readonly files: readonly string[];
  /** With the questions. */
  readonly input: readonly string[];
}

const idKey = 'tracejury_batch';
const outputBytesMax = 64 * 1024 * 1024;
/** Of the list of batches. */
const pagesMax = 5;
const pageSize = 100;
const idCharsMax = 500;

export function batchApi(settings: JudgeSettings, signal: AbortSignal): BatchApi {
  const opened = openAiClient(settings, outputBytesMax);

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
      // A file alone costs nothing and does nothing.
      return withoutCost(await troubleOf(error));
    }
    if (input === undefined) return strange;
    const made = textOf(
      await client.batches.create(
        { input_file_id: input, endpoint: '/v1/chat/completions', completion_window: '24h', metadata: { [idKey]: id } },
        { signal, headers: { 'idempotency-key': id } },
      ),
      'id',
    );
    return made === undefined ? { ...strange, mayCost: true } : { kind: 'submitted', remoteId: made };
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
    submit: (id, lines) => settled(() => submitted(id, lines)),
    find: (id) => settled(() => found(id)),
    async look(remoteId) {
      try {
        return lookOf(await (await opened).batches.retrieve(remoteId, { signal }));
      } catch (error) {
        return field(error, 'status') === 404 ? { kind: 'gone' } : await troubleOf(error);
      }
    },
    read: (fileId) =>
      settled(async () => {
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

const strange = { kind: 'failed', error: 'judge_answer_invalid: the endpoint did not name what it made' } as const;

function withoutCost(trouble: Trouble): Trouble {
  if (trouble.kind === 'refused') return trouble;
  return trouble.kind === 'busy'
    ? { kind: 'busy', error: trouble.error, retryAfter: trouble.retryAfter }
    : { kind: 'failed', error: trouble.error };
}

async function settled<Result>(work: () => Promise<Result>): Promise<Result | Trouble> {
  try {
    return await work();
  } catch (error) {
    return await troubleOf(error);
  }
}

/** What is not known to be over is being worked on. */
const states: { readonly [status: string]: BatchStatus['state'] } = {
  completed: 'ended',
  cancelled: 'expired',
  expired: 'expired',
  failed: 'failed',
};

function lookOf(batch: OpenAI.Batch): BatchStatus {
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
