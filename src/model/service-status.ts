/** The service's knowledge of itself: its configuration, retention, tokens, and its recent counts. Secrets are masked. */
import type { JsonValue } from './json.ts';
import type { Replica } from './store/replica-store.ts';

/** A probable mistake in the configuration, or a fault of a refused one. */
export interface ConfigRemark {
  readonly file: string;
  /** Counted from 1; 0 for a remark without a line. */
  readonly line: number;
  readonly column: number;
  /** Empty for a remark on the whole file. */
  readonly key: string;
  readonly problem: string;
  readonly todo: string;
}

export interface ConfigStatus {
  /** Path of the file; `undefined` when the service runs on defaults. */
  readonly file: string | undefined;
  /** Time at which the configuration in force was read. */
  readonly readAtMs: number;
  /** The configuration in the form of the file, with defaults, and with secrets masked; `undefined` when the caller gave none. */
  readonly printed: JsonValue | undefined;
  readonly warnings: readonly ConfigRemark[];
  /** Keys whose new values take effect after a restart. */
  readonly waiting: readonly string[];
  /** Why the last reload was refused; empty when it was not. */
  readonly refused: readonly ConfigRemark[];
}

/** Limits by age in milliseconds, by bytes and by rows. */
export interface KeepLimits {
  readonly runsMs: number;
  readonly contentMs: number;
  readonly exportsMs: number;
  readonly exports: number;
  readonly bytes: number;
}

/** A token without its value. */
export interface TokenStatus {
  readonly name: string;
  readonly may: readonly string[];
  /** True when it sees only the tenant of its name. */
  readonly seesOwn: boolean;
}

/** A process on the same store. */
export interface ReplicaStatus extends Replica {
  /** True for the process that answers. */
  readonly isOwn: boolean;
  /** False when it has given no sign of life for 30 seconds. */
  readonly isAlive: boolean;
  /** Tasks that it does for all. */
  readonly tasks: readonly string[];
}

/** One value of a metric. */
export interface MetricValue {
  readonly labels: { readonly [label: string]: string };
  readonly value: number;
}

export interface ServiceStatus {
  readonly version: string;
  /** Version of Node.js. */
  readonly node: string;
  readonly startedAtMs: number;
  readonly configuration: () => ConfigStatus;
  readonly keep: () => KeepLimits;
  readonly tokens: readonly TokenStatus[];
  /** The folder of a full disk; `undefined` when none is full. */
  readonly fullFolder: () => string | undefined;
  /** Processes on the same store, the oldest first. */
  readonly replicas: () => Promise<readonly ReplicaStatus[]>;
  /** A snapshot. */
  readonly metrics: () => ServiceMetrics;
}

export interface ServiceMetrics {
  /** The values of a gauge, or of a counter, now. */
  values(metric: string): readonly MetricValue[];
  /** The growth of a counter in the last hour. Empty for a counter that is not watched. */
  lastHour(metric: string): readonly MetricValue[];
}
