/** Watches the issues of the store: finds new ones, resolved ones that have come back, and ignored ones that open again. Notifies people. */
import { isNews, type IssueEvent, issueEvents, nextIssueState, type NewAfter, olderVersions } from '../analytics/issue-life.ts';
import type { Sleep } from '../model/clock.ts';
import { issueNoticeKinds, issueStates, type Issue, type IssueChange } from '../model/store/issue-store.ts';
import type { Store } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import { type MetricRegistry, withdraw } from '../telemetry/registry.ts';
import { issueMessages, type IssueMessagesOptions } from './issue-messages.ts';
import type { TaskContext } from '../telemetry/context.ts';

interface IssueWatchOptions extends Omit<IssueMessagesOptions, 'store' | 'telemetry'>, Pick<TaskContext, 'sleep' | 'onFault'> {
  readonly store: Pick<Store, 'issues' | 'versions'>;
  /** The setting in force. */
  readonly newAfter: () => NewAfter;
  /** Time for which runs are kept. */
  readonly keepMs: () => number;
  /** Brings the sums of versions up to date. Resolves with `false` when some are left for later. */
  readonly refresh: () => Promise<boolean>;
  /** False while another process on the same store watches. Default: this process watches. */
  readonly isOwn?: () => boolean;
  readonly telemetry: Pick<MetricRegistry, 'replace' | 'add'>;
  readonly rest?: Sleep;
}

const everyMs = 10_000;
/** Issues of one round. The next round takes the others. */
const issuesOfLook = 200;

const messages: { readonly [event in IssueEvent]: string } = {
  new: 'a new issue',
  regressed: 'a resolved issue has come back',
  reopened: 'an ignored issue has opened again',
};

export function issueWatch(options: IssueWatchOptions): PeriodicTask {
  const { store, newAfter, keepMs, refresh, isOwn = () => true, telemetry, logger, clock, sleep, rest, onFault } = options;
  const tell = issueMessages(options);

  async function look(shutdown: AbortSignal): Promise<void> {
    if (!isOwn()) return withdraw(telemetry, ['tracejury.issues']);
    const now = Math.floor(clock.nowMs() * 1_000);
    await store.issues.recount(now, now - keepMs() * 1_000);
    const after = newAfter();
    const pending = await store.issues.pending({ runs: after.runs, now, limit: issuesOfLook });
    // Without all sums an old version could pass for a new one.
    const isWhole = !pending.some(({ state }) => state === 'resolved') || (await refresh());
    for (const issue of pending) {
      if (shutdown.aborted) return;
      const isNew = issue.state === 'open' && isNews(await store.issues.runs(issue.id, after.runs), after);
      const later = issue.state === 'resolved' && isWhole ? await laterRun(issue) : undefined;
      const next = nextIssueState(issue, { now, isNew, later });
      if (next === undefined) continue;
      const changed = await store.issues.change(issue, { ...next.change, ...noticeOf(next.event, now) });
      if (changed?.state !== next.change.state || changed.changedAt !== next.change.changedAt) continue;
      telemetry.add('tracejury.issue.events', 1, { 'tracejury.issue.event': next.event });
      // A signature may hold words of the run, which logs never do.
      const { id, agent, tool, name, runs } = issue;
      logger.warn({ issue: id, agent, evaluator: name, tool, runs }, messages[next.event]);
    }
    await tell(shutdown);
    const counts = new Map((await store.issues.counts()).map(({ state, issues }) => [state, issues]));
    telemetry.replace(
      'tracejury.issues',
      issueStates.map((state) => ({ labels: { 'tracejury.issue.state': state }, value: counts.get(state) ?? 0 })),
    );
  }

  async function laterRun({ id, tenant, agent, fix, changedAt }: Issue) {
    const figures = fix?.in === 'now' ? [] : await store.versions.figures({ tenant, agent, kinds: ['run'] });
    return await store.issues.laterRun(id, changedAt, olderVersions({ ...(fix === undefined ? {} : { fix }), changedAt }, figures));
  }

  for (const event of issueEvents) telemetry.add('tracejury.issue.events', 0, { 'tracejury.issue.event': event });
  return periodicTask({ everyMs, sleep, rest, work: look, onFault, restsFirst: true });
}

function noticeOf(event: IssueEvent, at: Micros): Pick<IssueChange, 'notice'> {
  const kind = issueNoticeKinds.find((one) => one === event);
  return kind === undefined ? {} : { notice: { kind, at } };
}
