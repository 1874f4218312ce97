/** The tables of alerts. Times are microseconds since the epoch. */
import type { Generated } from 'kysely';

export interface AlertTables {
  readonly alert_states: AlertStatesTable;
  readonly alert_marks: AlertMarksTable;
}

interface AlertStatesTable {
  readonly alert: string;
  /** The agent that it looks at. */
  readonly agent: string;
  /** JSON. */
  readonly state: string;
}

interface AlertMarksTable {
  readonly id: Generated<number>;
  readonly kind: 'silence' | 'acknowledged';
  readonly alert: string;
  /** Null for all agents. */
  readonly agent: string | null;
  readonly tenant: string;
  readonly author: string;
  readonly note: string;
  readonly at_ms: number;
  readonly until_ms: number | null;
  readonly firing_ms: number | null;
}
