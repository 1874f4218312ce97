/** A moving window of runs per agent and task, and how close they come to the shortest path. */
import { convergence, type GroupRun, groupRun, type GroupRunOptions } from '../../../evaluators/evidence/convergence.ts';
import type { Run } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { Tenant } from '../../model/ids.ts';
import { oldestOfLargest, shares } from '../../model/shares.ts';
import type { Span } from '../../model/span.ts';
import type { Evaluation, Verdict } from '../../model/verdict.ts';
import type { MetricName } from '../../telemetry/metrics.ts';
import type { Labels, Telemetry } from '../../telemetry/telemetry.ts';
import { taskKeys, type TaskKeyOptions, type TaskPath } from './task-keys.ts';

export interface TaskGroupSettings extends Comparing {
  readonly taskKey: TaskPath;
  /** Limit of compared runs per agent and task; the latest by start count. */
  readonly runsMax: number;
  /** Limit of pairs of agent and task; the one without a run for longest goes first. */
  readonly tasksMax: number;
  /** Limit of tasks with their own labels; the others share `other`. */
  readonly labelledMax?: number;
}

/** Replaces all values of a gauge. */
interface Gauges {
  replace(metric: MetricName, points: readonly { readonly labels: Labels; readonly value: number }[]): void;
}

export interface TaskGroups {
  spans(tenant: Tenant, spans: readonly Span[]): void;
  /** The task of a run, `undefined` without one. */
  taskOf(run: Run): string | undefined;
  /** A revision of a run has closed. `evaluations`: those of rules. */
  closed(run: Run, evaluations: readonly Evaluation[]): void;
  /** Verdicts of a judge. */
  judged(run: Run, evaluations: readonly Evaluation[]): void;
  /** Sets the gauges. Called on scrape, as it costs more than adding a run. */
  report(gauges: Gauges): void;
}

interface Entry {
  readonly id: string;
  readonly revision: number;
  readonly startUnixNano: bigint;
  readonly run: GroupRun;
}

interface Group {
  readonly labels: Labels;
  /** Sorted by start. */
  entries: readonly Entry[];
  /** True when it has its own labels. */
  labelled: boolean;
  /** `undefined` after a change of its runs. */
  measured: Measured | undefined;
}

interface Measured {
  readonly runs: number;
  readonly score: number;
  readonly onPath: number;
}

export const labelledMaxDefault = 200;
const other: Labels = { [wire.tenant]: 'other', [wire.agentName]: 'other', [wire.task]: 'other' };

export function taskGroups(settings: TaskGroupSettings, telemetry: Telemetry, keyOptions: TaskKeyOptions = {}): TaskGroups {
  const { taskKey, runsMax, tasksMax, labelledMax = labelledMaxDefault, success } = settings;
  const keys = taskKeys(taskKey, keyOptions);
  /** Ordered by their latest run. */
  const groups = new Map<string, Group>();
  /** Group of each run. */
  const places = new Map<string, string>();
  const labels = shares(labelledMax);

  function forget(id: string, group: Group): void {
    for (const entry of group.entries) places.delete(entry.id);
    groups.delete(id);
    if (group.labelled) labels.giveBack(tenantOf(group));
  }

  function remove(runId: string): void {
    const place = places.get(runId) ?? '';
    const group = groups.get(place);
    places.delete(runId);
    if (group === undefined) return;
    group.entries = group.entries.filter(({ id }) => id !== runId);
    group.measured = undefined;
    if (group.entries.length === 0) forget(place, group);
  }

  function add(run: Run, task: string, compared: GroupRun): void {
    const [runId, agent] = [runIdOf(run), run.trace.agent ?? ''];
    const place = JSON.stringify([run.tenant, agent, task]);
    const group = groups.get(place) ?? {
      labels: { [wire.tenant]: run.tenant, [wire.agentName]: agent, [wire.task]: task },
      entries: [],
      labelled: false,
      measured: undefined,
    };
    const entry: Entry = { id: runId, revision: run.revision, startUnixNano: run.startUnixNano, run: compared };
    const all = group.entries.toSpliced(
      group.entries.findLastIndex(({ startUnixNano }) => startUnixNano <= entry.startUnixNano) + 1,
      0,
      entry,
    );
    group.entries = all.slice(-runsMax);
    group.measured = undefined;
    for (const { id } of all.slice(0, -runsMax)) places.delete(id);
    if (group.entries.includes(entry)) places.set(runId, place);
    if (!group.labelled && group.entries.length > 1 && labels.mayTake(run.tenant)) {
      group.labelled = true;
      labels.take(run.tenant);
    }
    groups.delete(place);
    groups.set(place, group);
    if (groups.size <= tasksMax) return;
    const oldest = oldestOfLargest(groups, ([, one]) => tenantOf(one));
    if (oldest === undefined) return;
    forget(...oldest);
    telemetry.add('tracejury.tasks.forgotten', 1);
  }

  /** A later revision replaces an earlier one; an earlier one that comes late is ignored. */
  function take(run: Run, evaluations: readonly Evaluation[]): void {
    const runId = runIdOf(run);
    const before = groups.get(places.get(runId) ?? '')?.entries.find(({ id }) => id === runId);
    if (before !== undefined && before.revision > run.revision) return;
    remove(runId);
    // The enclosing run counts instead.
    if (run.partOf !== undefined) return;
    const task = keys.of(run);
    const compared = comparedRun(run, settings, (name) => evaluations.find(({ key }) => key.name === name)?.verdict);
    const outcome = task === undefined ? 'no_task' : compared.kind === 'compared' ? 'compared' : compared.reason;
    const pending = outcome === 'no_verdict' && !evaluations.some(({ key }) => key.name === success);
    if (!pending) telemetry.add('tracejury.tasks.runs', 1, { 'tracejury.outcome': outcome });
    if (task !== undefined && compared.kind === 'compared') add(run, task, compared.run);
  }

  return {
    spans: keys.spans,
    taskOf: keys.of,
    closed: take,
    judged(run, evaluations) {
      if (success !== undefined && evaluations.some(({ key }) => key.name === success)) take(run, evaluations);
    },
    report(gauges) {
      // A single run is its own shortest path, so it does not count.
      const compared = [...groups.values()]
        .filter(({ entries }) => entries.length > 1)
        .map((group) => ({ ...(group.measured ??= measured(group)), group }));
      const own = compared.filter(({ group }) => group.labelled).map(({ group, ...rest }) => ({ labels: group.labels, ...rest }));
      const rest = compared.filter(({ group }) => !group.labelled);
      const runs = rest.reduce((sum, one) => sum + one.runs, 0);
      const mean = (of: 'score' | 'onPath'): number => rest.reduce((sum, one) => sum + one[of] * one.runs, 0) / runs;
      const points = runs === 0 ? own : [...own, { labels: other, runs, score: mean('score'), onPath: mean('onPath') }];
      gauges.replace(
        'tracejury.convergence',
        points.map(({ labels, score }) => ({ labels, value: score })),
      );
      gauges.replace(
        'tracejury.convergence.optimal',
        points.map(({ labels, onPath }) => ({ labels, value: onPath })),
      );
      gauges.replace(
        'tracejury.convergence.runs',
        points.map((point) => ({ labels: point.labels, value: point.runs })),
      );
      telemetry.set('tracejury.tasks', groups.size);
    },
  };
}

function tenantOf({ labels }: Group): string {
  return labels[wire.tenant] ?? '';
}

function measured({ entries }: Group): Measured {
  const outcome = convergence(entries.map(({ run }) => run));
  const onPath = outcome.details['share_on_optimal_path'];
  return { runs: entries.length, score: outcome.kind === 'scored' ? outcome.score : 0, onPath: typeof onPath === 'number' ? onPath : 0 };
}

function runIdOf({ tenant, traceId, spanId }: Run): string {
  return JSON.stringify([tenant, traceId, spanId]);
}

/** The conditions for comparing a run: it is complete, its steps are known, and so is its success. */
export interface Comparing extends GroupRunOptions {
  /** Name of a configured evaluator whose pass means success. When omitted, a run without an error succeeds. */
  readonly success?: string;
}

type Compared =
  | { readonly kind: 'compared'; readonly run: GroupRun }
  | { readonly kind: 'left_out'; readonly reason: 'not_complete' | 'paused' | 'tool_calls_not_carried' | 'no_verdict' };

/** An incomplete run would look shorter than it was, and might set the minimum for all others. */
export function comparedRun(run: Run, { success, ...options }: Comparing, verdictOf: (name: string) => Verdict | undefined): Compared {
  if (run.completeness !== 'complete') return { kind: 'left_out', reason: 'not_complete' };
  if (run.trace.status === 'paused') return { kind: 'left_out', reason: 'paused' };
  const found = groupRun(run.trace, options);
  if (found === undefined) return { kind: 'left_out', reason: 'tool_calls_not_carried' };
  if (success === undefined) return { kind: 'compared', run: found };
  const verdict = verdictOf(success);
  if (verdict?.kind !== 'scored' || verdict.passed === null) return { kind: 'left_out', reason: 'no_verdict' };
  return { kind: 'compared', run: { ...found, success: verdict.passed } };
}
