/** What receivers hand their requests to: written down first, gathered then. */
import type { Clock } from '../model/clock.ts';
import { JuryError } from '../model/errors.ts';
import type { Tenant } from '../model/ids.ts';
import type { Ingest, Received } from '../model/ingest.ts';
import type { Appended, JournalRecord, JournalRefusal } from './journal.ts';
import type { Journaling } from './journal-runner.ts';

export interface IngestOptions extends Omit<Ingest, 'spans' | 'logs'> {
  readonly journaling: Pick<Journaling, 'intake'>;
  readonly clock: Clock;
  /** Called when something was gathered, so that whoever closes runs looks at the next deadline again. */
  readonly wake: () => void;
}

const reasons: { readonly [reason in JournalRefusal]: string } = {
  full: 'Runs that are open or not stored yet fill limits.journal_bytes.',
  busy: 'Too many bytes wait for the disk.',
  too_large: 'It is larger than a file of the journal.',
  failed: 'The disk refuses.',
  disk_full: 'The disk is full.',
  stopped: 'The service is stopping.',
};

export function journalledIngest({ journaling, clock, wake, ...door }: IngestOptions): Ingest {
  function written(appended: Appended | undefined): void {
    wake();
    if (appended?.kind !== 'appended') throw new JuryError('JOURNAL_REFUSED', reasons[appended?.reason ?? 'stopped']);
  }

  function record(kind: 'traces' | 'logs', tenant: Tenant, { contentType, contentEncoding, body }: Received): JournalRecord {
    return { kind, tenant, receivedMs: clock.nowMs(), contentType, contentEncoding, body };
  }

  return {
    spans: async (tenant, spans, request) => written(await journaling.intake()?.spans(record('traces', tenant, request), spans, request)),
    logs: async (tenant, found, request) => written(await journaling.intake()?.logs(record('logs', tenant, request), found, request)),
    ...door,
  };
}
