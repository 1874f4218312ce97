/** What an entry says about a webhook. */

/** How a message is written. */
export type MessageSettings = {
  readonly body: 'json' | 'slack';
  /** Where a person sees the run; `{trace_id}` and `{span_id}` are replaced. */
  readonly link?: string;
};

export type WebhookSettings = MessageSettings & {
  readonly url: string;
  readonly secret?: string;
  readonly only: WebhookFilter;
  readonly perMinute: number;
  /** True: it may be inside, where nobody from outside comes. */
  readonly privateAddresses: boolean;
};

/** A verdict is told when its outcome or its label is named; empty lists of evaluators and agents are all of them. */
export type WebhookFilter = {
  readonly verdicts: readonly VerdictOutcome[];
  readonly labels: readonly string[];
  readonly evaluators: readonly string[];
  readonly agents: readonly string[];
};

export const verdictOutcomes = ['fail', 'pass', 'error'] as const;
type VerdictOutcome = (typeof verdictOutcomes)[number];
