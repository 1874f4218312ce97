/** The state of an alert on one agent: people are notified that it fires, again after a while where the rule wants it, and that it is over. */
import type { AlertStateName } from '../../model/alert.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../model/json.ts';
import type { AlertFinding } from './finding.ts';

export interface AlertState {
  readonly state: AlertStateName;
  /** When the state began. */
  readonly sinceMs: number;
  /** Since when it fires, as notified; kept while there is no data. */
  readonly firingMs?: number;
  /** Since when the condition of a pending alert holds. */
  readonly holdsMs?: number;
  /** When the last notification was that it fires. */
  readonly toldMs?: number;
  /** Since when a firing alert's condition has not held. */
  readonly clearMs?: number;
  readonly finding: AlertFinding;
  /** Messages that are not delivered yet, the oldest first. */
  readonly untold: readonly Untold[];
}

export interface Untold {
  readonly kind: 'firing' | 'over';
  readonly sinceMs: number;
  readonly atMs: number;
  readonly finding: AlertFinding;
  /** True when people were notified before that it fires. */
  readonly isRepeated?: true;
  /** Exporters that have not taken it. */
  readonly to: readonly string[];
}

/** At more, the oldest message is given up: an alert that goes to and fro while a receiver is away. */
export const untoldMax = 10;

interface Step {
  readonly nowMs: number;
  /** Time that the condition must hold until the alert fires. */
  readonly forMs?: number;
  /** When omitted, people are notified once that it fires. */
  readonly repeatMs?: number;
  readonly isSilenced?: boolean;
  readonly isAcknowledged?: boolean;
  /** Time that the condition must not hold until a firing alert is over. */
  readonly clearMs: number;
  readonly to: readonly string[];
}

/** No data, and an interval that holds the threshold, neither begin an alert nor end one. */
export function nextAlertState(before: AlertState | undefined, finding: AlertFinding, step: Step): AlertState {
  const { nowMs, forMs = 0, clearMs, repeatMs = Infinity, to, isSilenced = false, isAcknowledged = false } = step;
  const { firingMs, toldMs, untold = [] } = before ?? {};
  const as = (state: AlertStateName, more: Partial<Omit<AlertState, 'state' | 'sinceMs' | 'finding'>> = {}): AlertState => ({
    state,
    sinceMs: before?.state === state ? before.sinceMs : nowMs,
    finding,
    untold,
    ...more,
  });
  const told = (kind: Untold['kind'], sinceMs: number, more: Pick<Untold, 'isRepeated'> = {}): { readonly untold: readonly Untold[] } => ({
    untold: to.length === 0 ? untold : [...untold, { kind, sinceMs, atMs: nowMs, ...more, finding, to }].slice(-untoldMax),
  });
  const fires = firingMs === undefined ? {} : { firingMs, ...(toldMs === undefined ? {} : { toldMs }) };
  if (finding.kind === 'no_data') return as('no_data', fires);
  if (finding.kind === 'holds') {
    if (firingMs !== undefined) {
      const isDue = nowMs - (toldMs ?? firingMs) >= repeatMs && !isSilenced && !isAcknowledged;
      // A waiting message has the same content.
      return isDue && !untold.some(({ kind }) => kind === 'firing')
        ? as('firing', { firingMs, toldMs: nowMs, ...told('firing', firingMs, { isRepeated: true }) })
        : as('firing', fires);
    }
    const holdsMs = before?.state === 'pending' ? (before.holdsMs ?? nowMs) : nowMs;
    if (nowMs - holdsMs < forMs) return as('pending', { holdsMs });
    return as('firing', { firingMs: nowMs, ...told('firing', nowMs) });
  }
  if (firingMs === undefined) return as('ok');
  if (finding.kind === 'open') return as('firing', fires);
  const clearSinceMs = before?.clearMs ?? nowMs;
  if (nowMs - clearSinceMs < clearMs) return as('firing', { ...fires, clearMs: clearSinceMs });
  // An alert that fired and ended in a silence sends nothing.
  const isUnheard = isSilenced && untold.some((one) => one.kind === 'firing' && one.sinceMs === firingMs && one.to.length === to.length);
  return as('ok', isUnheard ? { untold: untold.filter(({ sinceMs }) => sinceMs !== firingMs) } : told('over', firingMs));
}

export function alertStateText(state: AlertState): string {
  return JSON.stringify(state);
}

/** `undefined` for a text of another form. */
export function parsedAlertState(text: string): AlertState | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value) || !hasForm(value)) return undefined;
  return value as unknown as AlertState;
}

/** Written by `alertStateText`. */
function hasForm({ state, sinceMs, finding, untold }: JsonObject): boolean {
  return typeof state === 'string' && typeof sinceMs === 'number' && isJsonObject(finding) && Array.isArray(untold);
}
