/** Journals of shards that the configuration no longer has: the current shards take their open requests, and the folders are deleted. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { openJournal } from '../../journals/index.ts';
import type { Journal, JournalDeps, JournalRecord, JournalSettings } from '../../journals/journal.ts';
import { encodingOf, inflated, keysOf } from '../../journals/records.ts';
import { JuryError } from '../../model/errors.ts';
import type { TraceId } from '../../model/ids.ts';
import { splitRequest } from '../../otlp/cut/split.ts';
import { traceKey } from '../../pipeline/gathering/trace-table.ts';
import type { TakeRequest } from '../../receivers/read-request.ts';
import { runInTurns } from '../../runtime/cooperative.ts';
import { backoffMs } from '../../runtime/retry.ts';

export interface LeftJournals {
  /** Of the journal of the service. */
  readonly folder: string;
  /** Number of current shards: folders from this number on belong to former ones. */
  readonly shards: number;
  readonly settings: Omit<JournalSettings, 'folder'>;
  readonly deps: JournalDeps;
  readonly inflatedBytesMax: number;
  readonly take: TakeRequest;
}

const shardFolders = /^shard-(\d+)$/;
/** A shard that is full refuses for a while: a minute in all. */
const attemptsMax = 20;

export function shardFolder(folder: string, index: number): string {
  return join(folder, `shard-${index}`);
}

/** Resolves with the number of requests that were taken. Rejects when a journal cannot be read or a request cannot be taken. */
export async function takeLeftJournals({ folder, shards, settings, ...options }: LeftJournals): Promise<number> {
  let requests = 0;
  for (const name of await readdir(folder).catch((): readonly string[] => [])) {
    const index = shardFolders.exec(name)?.[1];
    if (index === undefined || Number(index) < shards) continue;
    const journal = await openJournal({ scheme: 'disk', rest: join(folder, name) }, settings, options.deps);
    try {
      requests += await takeAll(journal, options);
    } finally {
      await journal.stop();
    }
    await rm(join(folder, name), { recursive: true, force: true });
  }
  return requests;
}

type TakeOptions = Omit<LeftJournals, 'folder' | 'shards' | 'settings'>;

async function takeAll(journal: Journal, options: TakeOptions): Promise<number> {
  const done = new Set<string>();
  for await (const { record } of journal.read(journal.oldest()))
    if (record.kind === 'done') for (const key of keysOf(record)) done.add(key);
  const recovery = journal.recover();
  let requests = 0;
  for await (const { record } of recovery.entries) {
    if (record.kind !== 'traces' && record.kind !== 'logs') continue;
    await takeOpen(record, done, options);
    requests++;
  }
  await recovery.finish();
  return requests;
}

/** A record that cannot be read counts as empty, as in a replay. */
async function takeOpen(record: JournalRecord, done: ReadonlySet<string>, { take, inflatedBytesMax, deps }: TakeOptions): Promise<void> {
  const { tenant } = record;
  const [signal, encoding] = [record.kind === 'logs' ? ('logs' as const) : ('traces' as const), encodingOf(record)];
  const body = await inflated(record, inflatedBytesMax).catch(() => undefined);
  if (body === undefined) return;
  const isDone = (traceId: string | undefined): boolean => traceId !== undefined && done.has(traceKey(tenant, traceId as TraceId));
  const parts = await runInTurns(splitRequest(body, { signal, encoding }, isDone), turn);
  const open = parts.get(false);
  if (open === undefined) return;
  const plain = Buffer.concat(open);
  const request = { signal, encoding, tenant, contentType: record.contentType, contentEncoding: '', body: plain, plain };
  for (let attempts = 1; ; attempts++) {
    try {
      await take(request, async () => undefined);
      return;
    } catch (error) {
      if (!(error instanceof JuryError)) throw error;
      if (!error.retryable) return;
      if (attempts === attemptsMax) throw error;
      await deps.sleep(backoffMs(attempts, { firstRestMs: 100, longestRestMs: 5_000 }));
    }
  }
}
