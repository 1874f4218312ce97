/** Alerts: what a rule is about, and what people are told. */

/** ok: the condition does not hold. firing: it holds, or has not been away for long enough. no_data: too few runs to say either. */
export const alertStates = ['ok', 'firing', 'no_data'] as const;
export type AlertStateName = (typeof alertStates)[number];

/** A message to people: an alert fires, or is over. */
export interface AlertNotice {
  readonly alert: string;
  /** The condition, as the configuration writes it. */
  readonly when: string;
  /** `undefined`: runs without an agent's name. */
  readonly agent: string | undefined;
  readonly kind: 'firing' | 'over';
  /** Since when it fires. */
  readonly sinceMs: number;
  /** When the state changed. */
  readonly atMs: number;
  readonly figure: number | undefined;
  readonly threshold: number;
  readonly explanation: string;
  /** The versions that a comparison is about. */
  readonly version?: string;
  readonly against?: string;
}

/** The state of one alert on one agent. */
export interface AlertRow {
  readonly name: string;
  readonly when: string;
  /** `undefined`: no agent has been looked at. */
  readonly agent: string | undefined;
  readonly state: AlertStateName;
  readonly sinceMs: number | undefined;
  readonly lookedAtMs: number | undefined;
  /** Since when it fires; kept while there is no data. */
  readonly firingMs: number | undefined;
  readonly figure: number | undefined;
  readonly threshold: number | undefined;
  readonly runs: number;
  readonly explanation: string;
  readonly version: string | undefined;
  readonly against: string | undefined;
  readonly to: readonly string[];
  /** Messages that no exporter has taken yet. */
  readonly untold: number;
}
