/** Moves the open requests of a journal on the disk into the journal that the replicas share. */
import { randomBytes } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { openJournal } from '../journals/index.ts';
import type { Journal, JournalDeps } from '../journals/journal.ts';
import { JuryError } from '../model/errors.ts';
import type { TakeRequest } from '../receivers/read-request.ts';
import { noTelemetry } from '../telemetry/telemetry.ts';
import { clock, sleep } from './node-runtime.ts';
import { holdsJournal, type TakenJournals, takeJournal, takeLeftJournals } from './left-journals.ts';

interface MovingTo extends Pick<Config, 'journal'> {
  readonly limits: Pick<Config['limits'], 'journalBytes' | 'bodyBytes' | 'inflatedBytes'>;
}

/** Rejects with a JuryError when a journal cannot be used, or when the topic refuses a request for a minute. */
export async function moveJournal(from: string, { journal: address, limits }: MovingTo): Promise<TakenJournals> {
  const folder = resolve(from);
  if (!(await holdsJournal(folder))) throw new JuryError('JOURNAL_UNUSABLE', `${from} holds no journal.`);
  const deps: JournalDeps = { telemetry: noTelemetry, clock, sleep, logger: { warn: () => undefined }, randomBytes };
  const settings = { bytesMax: limits.journalBytes, recordBytesMax: limits.bodyBytes, inflatedBytesMax: limits.inflatedBytes };
  const target = await openJournal(address, settings, deps);
  try {
    const options = { folder, settings, deps, inflatedBytesMax: limits.inflatedBytes, take: into(target) };
    const ofShards = await takeLeftJournals(options);
    const own = await takeJournal(options);
    const parent = own.kept[0]?.folder ?? folder;
    const inParent = ofShards.kept.map((one) => ({ ...one, folder: join(parent, basename(one.folder)) }));
    return { requests: ofShards.requests + own.requests, kept: [...inParent, ...own.kept] };
  } finally {
    await target.stop();
  }
}

function into(target: Journal): TakeRequest {
  return async ({ signal, tenant, contentType, plain }) => {
    const record = { kind: signal, tenant, contentType, contentEncoding: '', body: plain, receivedMs: clock.nowMs() };
    const appended = await target.append(record);
    if (appended.kind === 'appended') return { items: 0, ignored: 0, rejections: [], isEmpty: false };
    if (appended.reason === 'too_large') throw new JuryError('OTLP_TOO_LARGE', 'A request is larger than max.message.bytes of the topic.');
    throw new JuryError('OVERLOADED', target.shared?.fault() ?? `The topic refuses a request: ${appended.reason}.`);
  };
}
