/** Merges the figures of several threads into those of one service. */
import type { BackendPast, EntryStatus, ExporterStatus } from '../../model/exporter-status.ts';
import type { UnrecognisedNotice } from '../../pipeline/reporting/recognition.ts';

/** By entry and by what it sends, in the order in which they come first. */
export function mergedStatuses(all: readonly EntryStatus[]): readonly EntryStatus[] {
  const byEntry = Map.groupBy(all, ({ name, status }) => JSON.stringify([name, status.sends]));
  return [...byEntry.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [others.reduce((one, { status }) => ({ ...one, status: merged(one.status, status) }), first)],
  );
}

const circuits = ['closed', 'half_open', 'open'] as const;

function merged(one: ExporterStatus, other: ExporterStatus): ExporterStatus {
  const past = { ...pastOf(one, other), fault: one.fault ?? other.fault };
  if (one.sends === 'metrics' || other.sends === 'metrics') return { ...one, ...past };
  const waiting = {
    ...past,
    circuit: circuits[Math.max(circuits.indexOf(one.circuit), circuits.indexOf(other.circuit))] ?? one.circuit,
    retryAtMs: earliest(one.retryAtMs, other.retryAtMs),
    toSend: one.toSend + other.toSend,
    sending: one.sending + other.sending,
    oldestAtMs: earliest(one.oldestAtMs, other.oldestAtMs),
  };
  return one.sends === 'scores' && other.sends === 'scores'
    ? { ...one, ...waiting, notStored: one.notStored + other.notStored }
    : { ...one, ...waiting };
}

function pastOf(one: BackendPast, other: BackendPast): BackendPast {
  const failures = [one.lastFailure, other.lastFailure].filter((failure) => failure !== undefined);
  return {
    sentAtMs: latest(one.sentAtMs, other.sentAtMs),
    lastFailure: failures.toSorted((a, b) => b.atMs - a.atMs)[0],
  };
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function latest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** Merges notices by service and scope. */
export function mergedNotices(all: readonly UnrecognisedNotice[]): readonly UnrecognisedNotice[] {
  const byScope = Map.groupBy(all, ({ service, scope }) => JSON.stringify([service, scope]));
  return [...byScope.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [others.reduce((one, { spans }) => ({ ...one, spans: one.spans + spans }), first)],
  );
}
