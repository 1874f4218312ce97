/** Sends the messages about issues that the store holds. A message is in the store until each webhook has taken it, so a restart loses none. */
import { issueTitle } from '../analytics/issue-figures.ts';
import type { ExportOutcome } from '../exporters/exporter.ts';
import type { Clock } from '../model/clock.ts';
import type { IssueNotice, NotifiedIssue } from '../model/issue-notice.ts';
import { issueNoticeKinds, type IssueStore, type UntoldIssue } from '../model/store/issue-store.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { MetricRegistry } from '../telemetry/registry.ts';

export interface IssueMessagesOptions {
  readonly store: { readonly issues: Pick<IssueStore, 'untold' | 'told'> };
  /** Webhooks in force. */
  readonly to: () => readonly string[];
  readonly redaction: () => Pick<Redaction, 'text'> | undefined;
  /** Resolves with `undefined` when no exporter of this name notifies people. */
  readonly notify: (exporter: string, notice: IssueNotice) => Promise<ExportOutcome | undefined>;
  readonly telemetry: Pick<MetricRegistry, 'add'>;
  readonly logger: { warn(fields: { readonly [field: string]: unknown }, message: string): void };
  readonly clock: Clock;
}

/** Issues of one round. The next round takes the others. */
const untoldOfRound = 1_000;
/** A message that no attempt could deliver within it is given up. */
const giveUpMs = 24 * 3_600_000;

/** One round: each webhook gets one message at most, so a burst of new issues does not flood a channel. */
export function issueMessages(options: IssueMessagesOptions): (shutdown: AbortSignal) => Promise<void> {
  const { store, to, redaction, notify, telemetry, logger, clock } = options;

  return async (shutdown) => {
    const untold = await store.issues.untold(untoldOfRound);
    if (untold.length === 0) return;
    const inForce = to();
    const taken = new Map<UntoldIssue, Set<string>>(untold.map((one) => [one, new Set()]));
    const stopped = new Promise<ExportOutcome>((resolve) => {
      const end = (): void => resolve({ kind: 'failed', retryable: true, error: 'stopped' });
      if (shutdown.aborted) end();
      else shutdown.addEventListener('abort', end, { once: true });
    });
    for (const exporter of inForce) {
      const waiting = untold.filter((one) => one.to?.includes(exporter) !== false);
      const kind = issueNoticeKinds.find((one) => waiting.some((issue) => issue.kind === one));
      const own = waiting.filter((one) => one.kind === kind);
      if (kind === undefined || shutdown.aborted) continue;
      const outcome = await Promise.race([notify(exporter, { kind, issues: own.map(notified) }), stopped]);
      for (const [result, issues] of Map.groupBy(own, (one) => resultOf(outcome, one))) {
        if (result !== 'retried') for (const issue of issues) taken.get(issue)?.add(exporter);
        telemetry.add('tracejury.issue.messages', issues.length, { 'tracejury.exporter': exporter, 'tracejury.outcome': result });
        if (result === 'dropped')
          logger.warn(
            { issues: issues.length, exporter, error: outcome?.kind === 'failed' ? outcome.error : 'no webhook of this name' },
            'a message about issues was given up',
          );
      }
    }
    for (const [one, done] of taken) {
      const left = inForce.filter((exporter) => one.to?.includes(exporter) !== false && !done.has(exporter));
      if (left.length === 0 || done.size > 0) await store.issues.told(one.issue, left);
    }
  };

  function resultOf(outcome: ExportOutcome | undefined, { at }: UntoldIssue): 'sent' | 'retried' | 'dropped' {
    if (outcome?.kind === 'sent') return 'sent';
    const isOver = clock.nowMs() * 1_000 - at > giveUpMs * 1_000;
    return outcome?.kind === 'failed' && outcome.retryable && !isOver ? 'retried' : 'dropped';
  }

  /** The rules may be stricter than those that the failure was stored by. */
  function notified({ issue, at }: UntoldIssue): NotifiedIssue {
    const text = (of: string): string => redaction()?.text(of) ?? of;
    const own = { ...issue, tool: text(issue.tool), signature: text(issue.signature), note: text(issue.note) };
    return { ...own, title: issueTitle(own), at };
  }
}
