/**
 * Journals of shards, which former releases had in folders of the journal: the service takes their open requests and deletes the folders.
 * A folder with a request that the service does not take, or with records that a journal has set aside, stays under another name.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { quarantineFolder } from '../journals/disk/quarantine.ts';
import { damagedEnding, segmentEnding } from '../journals/disk/segment-files.ts';
import { openJournal } from '../journals/index.ts';
import type { Journal, JournalDeps, JournalRecord, JournalSettings } from '../journals/journal.ts';
import { encodingOf, inflated, keysOf } from '../journals/records.ts';
import { JuryError } from '../model/errors.ts';
import type { TraceId } from '../model/ids.ts';
import { splitRequest } from '../otlp/cut/split.ts';
import { traceKey } from '../pipeline/gathering/trace-table.ts';
import type { TakeRequest } from '../receivers/read-request.ts';
import { runInTurns } from '../runtime/cooperative.ts';
import { backoffMs } from '../runtime/retry.ts';

export interface LeftJournals {
  /** Folder of the service's journal. */
  readonly folder: string;
  readonly settings: Omit<JournalSettings, 'folder'>;
  readonly deps: JournalDeps;
  readonly inflatedBytesMax: number;
  readonly take: TakeRequest;
}

const shardFolders = /^shard-\d+$/;
const keptFolders = /^shard-\d+\.kept-\d+$/;
/** A service that is full refuses for a while: a minute in all. */
const attemptsMax = 20;

export interface TakenJournals {
  /** Number of requests that are taken. */
  readonly requests: number;
  readonly kept: readonly KeptJournal[];
}

/** A journal that is not deleted, for a person to look at. */
export interface KeptJournal {
  readonly folder: string;
  /** Number of requests that are not taken. 0: the journal had set records aside before. */
  readonly requests: number;
  /** Reason of the first request that is not taken. */
  readonly reason?: string;
}

/** Rejects when a journal cannot be read, or when `take` refuses a request for a minute. */
export async function takeLeftJournals({ folder, settings, ...options }: LeftJournals): Promise<TakenJournals> {
  let requests = 0;
  const kept: KeptJournal[] = [];
  for (const name of await readdir(folder).catch((): readonly string[] => [])) {
    if (!shardFolders.test(name)) continue;
    const taken = await takeJournal({ folder: join(folder, name), settings, ...options });
    requests += taken.requests;
    kept.push(...taken.kept);
  }
  return { requests, kept };
}

/** Takes all open requests of one journal on the disk. Rejects when it cannot be read, or when `take` refuses a request for a minute. */
export async function takeJournal({ folder, settings, ...options }: LeftJournals): Promise<TakenJournals> {
  const journal = await openJournal({ scheme: 'disk', rest: folder }, settings, options.deps);
  const reasons: string[] = [];
  let requests = 0;
  try {
    requests = await takeAll(journal, options, reasons);
  } finally {
    await journal.stop();
  }
  if (reasons.length === 0 && !(await hasSetAside(folder))) {
    await rm(folder, { recursive: true, force: true });
    return { requests, kept: [] };
  }
  const kept = await keep(dirname(folder), basename(folder));
  return { requests, kept: [{ folder: kept, requests: reasons.length, ...(reasons[0] === undefined ? {} : { reason: reasons[0] }) }] };
}

/** True when the folder has segments of a journal, or journals of shards. */
export async function holdsJournal(folder: string): Promise<boolean> {
  return (await readdir(folder)).some((name) => name.endsWith(segmentEnding) || shardFolders.test(name));
}

/** True when the journal has damaged segments, records on which the process died twice, or a shard's journal that is kept. */
async function hasSetAside(folder: string): Promise<boolean> {
  const names = await readdir(folder);
  const quarantined = await readdir(join(folder, quarantineFolder)).catch((): readonly string[] => []);
  return quarantined.length > 0 || names.some((name) => name.endsWith(damagedEnding) || keptFolders.test(name));
}

/** A later start does not read the folder's new name as that of a shard. */
async function keep(folder: string, name: string): Promise<string> {
  const names = new Set(await readdir(folder));
  let number = 1;
  while (names.has(`${name}.kept-${number}`)) number++;
  const to = join(folder, `${name}.kept-${number}`);
  await rename(join(folder, name), to);
  return to;
}

type TakeOptions = Omit<LeftJournals, 'folder' | 'settings'>;

/** Adds to `reasons` for each request that is not taken. */
async function takeAll(journal: Journal, options: TakeOptions, reasons: string[]): Promise<number> {
  const done = new Set<string>();
  for await (const { record } of journal.read(journal.oldest()))
    if (record.kind === 'done') for (const key of keysOf(record)) done.add(key);
  const recovery = journal.recover();
  let requests = 0;
  for await (const { record } of recovery.entries) {
    if (record.kind !== 'traces' && record.kind !== 'logs') continue;
    const reason = await takeOpen(record, done, options);
    if (reason === undefined) requests++;
    else reasons.push(reason);
  }
  await recovery.finish();
  return requests;
}

/** Resolves with the reason when the request will never be taken. */
async function takeOpen(
  record: JournalRecord,
  done: ReadonlySet<string>,
  { take, inflatedBytesMax, deps }: TakeOptions,
): Promise<string | undefined> {
  const { tenant } = record;
  const [signal, encoding] = [record.kind === 'logs' ? ('logs' as const) : ('traces' as const), encodingOf(record)];
  const isDone = (traceId: string | undefined): boolean => traceId !== undefined && done.has(traceKey(tenant, traceId as TraceId));
  let open: readonly Uint8Array[] | undefined;
  try {
    const body = await inflated(record, inflatedBytesMax);
    open = (await runInTurns(splitRequest(body, { signal, encoding }, isDone), turn)).get(false);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (open === undefined) return undefined;
  const plain = Buffer.concat(open);
  const request = { signal, encoding, tenant, contentType: record.contentType, contentEncoding: '', body: plain, plain };
  for (let attempts = 1; ; attempts++) {
    try {
      await take(request, async () => undefined);
      return undefined;
    } catch (error) {
      if (!(error instanceof JuryError)) throw error;
      if (!error.retryable) return error.message;
      if (attempts === attemptsMax) throw error;
      await deps.sleep(backoffMs(attempts, { firstRestMs: 100, longestRestMs: 5_000 }));
    }
  }
}
