/** Alerts: the subject of a rule, and the messages to people. */
import type { Tenant } from './ids.ts';

/**
 * ok: the condition does not hold. pending: it holds, and not for as long as it must. firing: it holds, or has not been away for long enough.
 * no_data: too few runs to say either.
 */
export const alertStates = ['ok', 'pending', 'firing', 'no_data'] as const;
export type AlertStateName = (typeof alertStates)[number];

/** Unit of a figure and its threshold. times: times the budget. */
export const alertUnits = ['share', 'usd', 'tokens', 'microseconds', 'times'] as const;
export type AlertUnit = (typeof alertUnits)[number];

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
  /** When the state changed, or when people are notified again. */
  readonly atMs: number;
  readonly figure: number | undefined;
  readonly threshold: number;
  readonly explanation: string;
  /** The versions that a comparison is about. */
  readonly version?: string;
  readonly against?: string;
  /** Page of the console with the runs. */
  readonly runsPath: string;
  /** True when people were notified before. */
  readonly isRepeated?: true;
}

/** A note of a person on an alert. */
interface AlertNote {
  readonly atMs: number;
  readonly by: string;
  readonly note: string;
}

/** No message goes out until it ends. */
export interface AlertSilence extends AlertNote {
  readonly untilMs: number;
  /** `undefined`: all agents of the alert. */
  readonly agent: string | undefined;
}

/** A person looks after the alert, so no one is notified again while it fires. */
export interface Acknowledgement extends AlertNote {
  /** Since when the alert fired. */
  readonly firingMs: number;
}

/** The alert of a note. */
export interface AlertPlace {
  readonly alert: string;
  /** `undefined`: all agents of the alert; empty: runs without an agent's name. */
  readonly agent: string | undefined;
  /** Tenant of the alert; empty when it is about all. */
  readonly tenant: string;
}

export interface NewAcknowledgement {
  readonly by: string;
  readonly note: string;
}

export interface NewSilence extends NewAcknowledgement {
  readonly untilMs: number;
}

/** The notes of people on alerts. `only`: the tenant whose alerts the caller sees; `undefined` for all. */
export interface AlertNotes {
  /** `unknown`: no such alert, or it does not look at the agent. `full`: the tenant has as many silences as it may. */
  silence(wanted: AlertWanted, given: NewSilence): Promise<'done' | 'unknown' | 'full'>;
  /** Acknowledges what fires. Resolves with the number of agents, or with `unknown`. */
  acknowledge(wanted: AlertWanted, given: NewAcknowledgement): Promise<number | 'unknown'>;
  lift(wanted: AlertWanted, kind: 'silence' | 'acknowledged'): Promise<boolean>;
}

export interface AlertWanted extends Pick<AlertPlace, 'alert' | 'agent'> {
  readonly only: Tenant | undefined;
}

/** A silence lasts as long at most. */
export const silenceMsMax = 30 * 86_400_000;
/** Silences of the alerts of one tenant. */
export const silencesMax = 1_000;
export const alertNoteCharsMax = 500;

/** The state of one alert on one agent. */
export interface AlertRow {
  readonly name: string;
  /** `undefined`: the alert is about all tenants together. */
  readonly tenant: Tenant | undefined;
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
  readonly unit: AlertUnit;
  readonly runs: number;
  /** Page of the console with the runs behind it. */
  readonly runsPath: string;
  readonly explanation: string;
  readonly version: string | undefined;
  readonly against: string | undefined;
  readonly to: readonly string[];
  /** Messages that no exporter has taken yet. */
  readonly untold: number;
  readonly silence: AlertSilence | undefined;
  readonly acknowledged: Acknowledgement | undefined;
}
