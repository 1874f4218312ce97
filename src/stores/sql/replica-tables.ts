/** Tables that the processes on one store share. */

export interface ReplicaTables {
  readonly replicas: ReplicasTable;
  readonly tasks: TasksTable;
  readonly browser_sessions: BrowserSessionsTable;
  readonly shared_secrets: SharedSecretsTable;
}

interface BrowserSessionsTable {
  readonly hash: string;
  readonly holder: string;
  readonly anti_forgery: string;
  readonly expires_us: number;
}

interface SharedSecretsTable {
  readonly name: string;
  readonly value: string;
}

interface ReplicasTable {
  readonly id: string;
  readonly host: string;
  readonly version: string;
  /** Hash of the settings that replicas have in common. */
  readonly configuration: string;
  readonly started_us: number;
  /** Time on the clock of the store. */
  readonly seen_us: number;
  readonly skew_us: number | null;
}

/** `owner` does the task until then. */
interface TasksTable {
  readonly name: string;
  readonly owner: string;
  readonly until_us: number;
}
