/** Metrics and log lines of a journal. Logs name positions and causes, never the content of a record. */
import { diskFullText, isDiskFull } from '../model/errors.ts';
import { grain } from './disk/frame.ts';
import type { JournalRecord, JournalRefusal, Position, JournalDeps } from './journal.ts';

/** `copy`: a request that was moved up. */
export type CountedKind = JournalRecord['kind'] | 'copy';

export function countedKind({ kind, isCopy }: Pick<JournalRecord, 'kind' | 'isCopy'>): CountedKind {
  return isCopy === true ? 'copy' : kind;
}

export interface JournalMetrics {
  /** `kinds`: one for each record. */
  appended(kinds: readonly CountedKind[], bytes: number): void;
  refused(reason: JournalRefusal): void;
  synced(seconds: number, outcome: 'done' | 'failed'): void;
  /** A failure that does not stop the journal. */
  failed(what: string, error: unknown): void;
  torn(at: Position): void;
  /** Records between the positions are lost; `to` is the least that is known. */
  corrupt(from: Position, to: Position): void;
  /** `bytes`: of the file. */
  setAside(file: string, bytes: number, outcome: 'kept' | 'not_kept'): void;
  quarantined(at: Position, outcome: 'kept' | 'not_kept'): void;
  used(bytes: number): void;
}

/** `folder`: absent in memory. */
export function journalMetrics({ telemetry, logger }: Pick<JournalDeps, 'telemetry' | 'logger'>, folder = ''): JournalMetrics {
  return {
    appended(kinds, bytes) {
      for (const [kind, own] of Map.groupBy(kinds, (one) => one))
        telemetry.add('tracejury.journal.records', own.length, { 'tracejury.record': kind });
      telemetry.add('tracejury.journal.bytes', bytes);
    },
    refused: (reason) => telemetry.add('tracejury.journal.refused', 1, { 'tracejury.reason': reason }),
    synced(seconds, outcome) {
      telemetry.add('tracejury.journal.syncs', 1, { 'tracejury.outcome': outcome });
      telemetry.record('tracejury.journal.sync.duration', seconds);
    },
    failed(what, error) {
      logger.warn({ what, cause: causeOf(error) }, isDiskFull(error) ? diskFullText(folder) : 'the journal could not use its disk');
    },
    torn(at) {
      telemetry.add('tracejury.journal.torn', 1);
      logger.warn({ position: at }, 'the end of the journal was torn and was cut off; nothing of it had been acknowledged');
    },
    corrupt(from, to) {
      telemetry.add('tracejury.journal.corrupt', 1);
      logger.warn({ from, to, bytes: (to - from) * grain }, 'a part of the journal is damaged and was skipped');
    },
    setAside(file, bytes, outcome) {
      telemetry.add('tracejury.journal.damaged', 1, { 'tracejury.outcome': outcome });
      logger.warn(
        { file, bytes, outcome },
        outcome === 'kept'
          ? 'a damaged segment of the journal is kept for a person to look at'
          : 'a damaged segment of the journal could not be kept',
      );
    },
    quarantined(at, outcome) {
      telemetry.add('tracejury.journal.quarantined', 1, { 'tracejury.outcome': outcome });
      logger.warn({ position: at, outcome }, 'a record on which the process died twice was set aside');
    },
    used: (bytes) => telemetry.set('tracejury.journal.used', bytes),
  };
}

/** The system's code where there is one: messages of the system carry paths, which is what an operator needs, and no content. */
function causeOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
