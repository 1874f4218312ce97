/**
 * Runs that a rule of the configuration has matched, from the transaction that writes the run until the rule has handled it. A process that
 * ends in between leaves them to another one.
 */
import type { RunKey } from '../agent-trace.ts';
import type { Micros } from '../timestamp.ts';

/** The action of a rule on a run. */
export type RuleKind = 'dataset' | 'queue';

/** A match that is written with its run. */
export interface NewRuleMatch {
  readonly kind: RuleKind;
  readonly rule: string;
  readonly at: Micros;
  /** The expression that must hold on the stored run, as JSON; null: the run matches. A match that is sure stays so. */
  readonly residual: string | null;
}

export interface RuleMatch {
  readonly rule: string;
  readonly run: RunKey;
  readonly residual: string | null;
}

export interface RuleMatchStore {
  /** Matches of one kind from before that time, the oldest first. */
  left(query: { readonly kind: RuleKind; readonly before: Micros; readonly limit: number }): Promise<readonly RuleMatch[]>;
  /** Removes matches that are handled. */
  handled(kind: RuleKind, matches: readonly Pick<RuleMatch, 'rule' | 'run'>[]): Promise<void>;
}
