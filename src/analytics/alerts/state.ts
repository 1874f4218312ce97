/** The state of an alert on one agent: people are told once that it fires, and once that it is over. */
import type { AlertStateName } from '../../model/alert.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../model/json.ts';
import type { AlertFinding } from './finding.ts';

export interface AlertState {
  readonly state: AlertStateName;
  /** When the state began. */
  readonly sinceMs: number;
  /** Since when it fires, as people were told; kept while there is no data. */
  readonly firingMs?: number;
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
  /** Exporters that have not taken it. */
  readonly to: readonly string[];
}

/** At more, the oldest message is given up: an alert that goes to and fro while a receiver is away. */
export const untoldMax = 10;

interface Step {
  readonly nowMs: number;
  /** How long the condition must not hold until a firing alert is over. */
  readonly clearMs: number;
  readonly to: readonly string[];
}

/** No data neither begins an alert nor ends one. */
export function nextAlertState(before: AlertState | undefined, finding: AlertFinding, { nowMs, clearMs, to }: Step): AlertState {
  const { firingMs, untold = [] } = before ?? {};
  const as = (state: AlertStateName, more: Partial<Pick<AlertState, 'firingMs' | 'clearMs' | 'untold'>> = {}): AlertState => ({
    state,
    sinceMs: before?.state === state ? before.sinceMs : nowMs,
    finding,
    untold,
    ...more,
  });
  const told = (kind: Untold['kind'], sinceMs: number): { readonly untold: readonly Untold[] } => ({
    untold: to.length === 0 ? untold : [...untold, { kind, sinceMs, atMs: nowMs, finding, to }].slice(-untoldMax),
  });
  if (finding.kind === 'no_data') return as('no_data', firingMs === undefined ? {} : { firingMs });
  if (finding.kind === 'holds')
    return firingMs === undefined ? as('firing', { firingMs: nowMs, ...told('firing', nowMs) }) : as('firing', { firingMs });
  if (firingMs === undefined) return as('ok');
  const clearSinceMs = before?.clearMs ?? nowMs;
  if (nowMs - clearSinceMs < clearMs) return as('firing', { firingMs, clearMs: clearSinceMs });
  return as('ok', told('over', firingMs));
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
