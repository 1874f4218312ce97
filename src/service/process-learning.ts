/**
 * Learns the normal process of each version of an agent from the runs that pass, and gives the models to evaluators. It learns in memory and
 * adds what is new to the store every few seconds, so a crash costs the runs of that time. Several threads may learn one process: the
 * store adds up. Evaluators see a model only at milestones, which makes verdicts depend only on the order of runs.
 */
import { mergedProcess, observedProcess, processLearner, type ProcessLearner } from '../analytics/process-learning.ts';
import type { Run } from '../model/agent-trace.ts';
import { emptyProcess, type ProcessKnowledge, type ProcessModel } from '../model/process-model.ts';
import { oldestOfLargest } from '../model/shares.ts';
import type { ProcessKey, ProcessStore, StoredProcess } from '../model/store/process-store.ts';
import type { Evaluation } from '../model/verdict.ts';
import type { PlannedEvaluator } from '../pipeline/evaluation/evaluate.ts';
import { learnableOf } from '../pipeline/evaluation/learnable-runs.ts';
import type { Activity } from '../runtime/activity.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { clock as machineClock, sleep as machineSleep } from './node-runtime.ts';
import type { SettingsInForce } from './reloading.ts';
import type { RestingContext } from '../telemetry/context.ts';

interface ProcessLearningOptions extends RestingContext {
  /** The evaluators in force. */
  readonly plan: () => readonly PlannedEvaluator[];
  /** False when redaction would change the name of a tool or a path, which is then not learnt. */
  readonly mayKeep: (name: string) => boolean;
  /** True when other threads or processes learn the same processes, so models are read again while they grow. */
  readonly isShared: boolean;
  readonly processesMax?: number;
}

export interface ProcessLearning {
  /** `undefined` when no evaluator learns. */
  of(run: Run): ProcessKnowledge | undefined;
  /** Learns from the run if it passes. Never waits. */
  closed(run: Run, evaluations: readonly Evaluation[]): void;
  /** Reads the models that were used last. Resolves before the first run closes. */
  open(store: ProcessStore): Promise<void>;
  /** Drops what is learnt of one process. The store must drop it as well, after this call. */
  forget(key: ProcessKey): void;
  /** Adds to the store what is not there yet. */
  flush(): Promise<void>;
  /** Flushes, and learns no more. */
  stop(): Promise<void>;
}

/** Processes of one thread. Each takes some kilobytes, and some hundred at all limits. */
export const processesMaxDefault = 200;
const flushEveryMs = 2_000;
const noteUseEveryMs = 600_000;
/** A model is shown again after it has grown by a quarter. */
const growth = 4;

interface State {
  readonly key: ProcessKey;
  beganAt: number;
  /** As the store has it. */
  base: ProcessModel;
  isFrozen: boolean;
  /** Not in the store yet. */
  pending: ProcessLearner | undefined;
  /** On its way to the store. */
  sent: ProcessModel | undefined;
  shown: ProcessModel | undefined;
  /** The last runs that were learnt when `shown` was made. */
  sinceShown: number;
  former: ProcessModel | undefined;
  isUsed: boolean;
  /** The store may have a model that is not read yet. */
  isUnread: boolean;
  /** It was dropped while its runs were on their way to the store. */
  isForgotten: boolean;
}

interface Policy {
  readonly runsMin: number;
  readonly runsMax: number;
  readonly freezes: boolean;
}

/** The least, most and longest of all entries that learn; `undefined` when none does. */
function policyOf(plan: readonly PlannedEvaluator[]): Policy | undefined {
  const all = plan.flatMap(({ learning }) => learning ?? []);
  if (all.length === 0) return undefined;
  return {
    runsMin: Math.min(...all.map(({ runsMin }) => runsMin)),
    runsMax: Math.max(...all.map(({ runsMax }) => runsMax)),
    freezes: all.every(({ freezes }) => freezes),
  };
}

export function processLearning(options: ProcessLearningOptions): ProcessLearning {
  const { clock, sleep, telemetry, onFault, processesMax = processesMaxDefault } = options;
  /** The last used are at the end. */
  const states = new Map<string, State>();
  let store: ProcessStore | undefined;
  let task: PeriodicTask | undefined;
  let notedAtMs = clock.nowMs();
  /** False when the store may have processes that are not in memory. */
  let hasAll = true;
  let read: { readonly plan: unknown; readonly policy: Policy | undefined } | undefined;
  const now = (): number => Math.floor(clock.nowMs() * 1_000);

  function policy(): Policy | undefined {
    const plan = options.plan();
    if (read?.plan !== plan) read = { plan, policy: policyOf(plan) };
    return read.policy;
  }

  function stateOf({ tenant, trace: { agent = '' }, serviceVersion: version = '' }: Run): State {
    const key = { tenant, agent, version };
    const id = idOf(key);
    const known = states.get(id);
    const state = known ?? newState(key, { beganAt: now(), isUnread: !hasAll });
    if (known === undefined) state.former = formerOf(state);
    states.delete(id);
    states.set(id, state);
    state.isUsed = true;
    if (known === undefined) trim();
    return state;
  }

  /** The tenant with the most processes gives the one that it has not used for longest. */
  function trim(): void {
    while (states.size > processesMax) {
      const oldest = oldestOfLargest(states, ([, { key }]) => key.tenant);
      if (oldest === undefined) return;
      const [id, { pending, sent }] = oldest;
      states.delete(id);
      hasAll = false;
      const lost = (pending?.runs() ?? 0) + (sent?.runs ?? 0);
      if (lost > 0) telemetry.add('tracejury.process.runs', lost, { 'tracejury.outcome': 'forgotten' });
    }
  }

  /** The newest model of another version of the same agent. */
  function formerOf({ key: { tenant, agent, version }, beganAt }: State): ProcessModel | undefined {
    let newest: State | undefined;
    for (const state of states.values()) {
      const { key, shown } = state;
      if (key.tenant !== tenant || key.agent !== agent || key.version === version || shown === undefined) continue;
      if (state.beganAt <= beganAt && (newest === undefined || state.beganAt >= newest.beganAt)) newest = state;
    }
    return newest?.shown;
  }

  /** A milestone: enough runs for the first time, a quarter more, or the last one. */
  function show(state: State, { runsMin, runsMax, freezes }: Policy): void {
    const runs = runsOf(state);
    const isLast = state.isFrozen || (freezes && runs >= runsMax);
    const isDue = state.shown === undefined ? runs >= runsMin : state.sinceShown * growth >= state.shown.runs;
    if (!isDue && !(isLast && state.shown?.runs !== runs)) return;
    if (runs < runsMin) return;
    state.shown = sumOf(state);
    state.sinceShown = 0;
  }

  function learn(run: Run, current: Policy): string {
    const state = stateOf(run);
    if (state.isFrozen || (current.freezes && runsOf(state) >= current.runsMax)) return 'frozen';
    const observed = observedProcess(run.trace, { mayKeep: options.mayKeep });
    if (observed === undefined) return 'too_large';
    (state.pending ??= processLearner()).add(observed);
    state.sinceShown++;
    show(state, current);
    return 'learnt';
  }

  async function flushed(into: ProcessStore, state: State, current: Policy): Promise<void> {
    if (state.pending === undefined) return await refreshed(into, state, current);
    const sent = state.pending.model();
    [state.sent, state.pending] = [sent, undefined];
    try {
      const stored = await into.add(state.key, sent, { ...current, at: now() });
      state.sent = undefined;
      if (state.isForgotten) return void (await into.remove(state.key));
      taken(state, stored);
      show(state, current);
    } catch (error) {
      state.sent = undefined;
      const since = state.pending as ProcessLearner | undefined;
      state.pending = processLearner(sent);
      if (since !== undefined) state.pending.add(since.model());
      throw error;
    }
  }

  /** Reads the models that others have learnt, and those evicted from memory. */
  async function refreshed(from: ProcessStore, state: State, current: Policy): Promise<void> {
    if (state.isFrozen || !(state.isUnread || (options.isShared && state.isUsed))) return;
    const stored = await from.read(state.key);
    if (stored !== undefined) taken(state, stored);
    // Another process has removed it.
    else if (state.base.runs > 0) [state.base, state.shown, state.sinceShown] = [emptyProcess, undefined, 0];
    state.isUnread = false;
    show(state, current);
  }

  async function flush(): Promise<void> {
    const current = policy();
    if (store === undefined || current === undefined) return;
    for (const state of states.values()) await flushed(store, state, current);
    for (const state of states.values()) state.former = formerOf(state) ?? state.former;
    const frozen = [...states.values()].filter(({ isFrozen }) => isFrozen).length;
    telemetry.set('tracejury.processes', frozen, { 'tracejury.state': 'frozen' });
    telemetry.set('tracejury.processes', states.size - frozen, { 'tracejury.state': 'learning' });
    if (clock.nowMs() - notedAtMs < noteUseEveryMs) return;
    notedAtMs = clock.nowMs();
    const used = [...states.values()].filter(({ isUsed }) => isUsed);
    for (const state of used) state.isUsed = false;
    await store.used(
      used.map(({ key }) => key),
      now(),
    );
  }

  return {
    of(run) {
      if (policy() === undefined) return undefined;
      const state = stateOf(run);
      const { shown, former, isUnread } = state;
      if (isUnread) task?.wake();
      return {
        runs: runsOf(state),
        ...(shown === undefined ? {} : { model: shown }),
        ...(former === undefined ? {} : { former }),
        ...(isUnread ? { isUnread } : {}),
      };
    },
    closed(run, evaluations) {
      const current = policy();
      if (current === undefined) return;
      const learnable = learnableOf(run, evaluations, options.plan());
      if (learnable === 'not_wanted') return;
      telemetry.add('tracejury.process.runs', 1, { 'tracejury.outcome': learnable === 'learnable' ? learn(run, current) : learnable });
    },
    forget(key) {
      const state = states.get(idOf(key));
      if (state === undefined) return;
      states.delete(idOf(key));
      state.isForgotten = true;
      for (const other of states.values())
        if (other.key.tenant === key.tenant && other.key.agent === key.agent) other.former = formerOf(other);
    },
    async open(opened) {
      store = opened;
      const rows = await opened.list({ limit: processesMax + 1 });
      hasAll = rows.length <= processesMax;
      const current = policy();
      for (const row of rows.slice(0, processesMax).toReversed()) {
        const stored = current === undefined ? undefined : await opened.read(row);
        if (stored === undefined || current === undefined) continue;
        const state = newState(keyOf(row), { beganAt: row.beganAt, isUnread: false });
        taken(state, stored);
        show(state, current);
        states.set(idOf(row), state);
      }
      for (const state of states.values()) state.former = formerOf(state);
      // Switched on by a later configuration, it reads what it needs.
      if (current === undefined) hasAll = rows.length === 0;
      task = periodicTask({ everyMs: flushEveryMs, sleep, rest: options.rest, work: flush, onFault, restsFirst: true });
    },
    flush,
    async stop() {
      await task?.stop();
      await flush().catch(onFault);
    },
  };
}

interface ServiceDeps {
  readonly settings: Pick<SettingsInForce, 'config' | 'isUnredacted'>;
  readonly telemetry: Telemetry;
  readonly logger: { error(fields: object, message: string): void };
  readonly activity: Pick<Activity, 'rest'>;
}

/** With the evaluators and the redaction that are in force. */
export function serviceProcesses(
  { settings, telemetry, logger, activity }: ServiceDeps,
  { isShared }: Pick<ProcessLearningOptions, 'isShared'>,
): ProcessLearning {
  return processLearning({
    plan: () => settings.config().evaluators,
    mayKeep: settings.isUnredacted,
    telemetry,
    clock: machineClock,
    sleep: machineSleep,
    rest: activity.rest,
    onFault: (error) =>
      logger.error(
        { error: error instanceof Error ? error.message : 'unknown' },
        'the normal process of an agent could not be read or written',
      ),
    isShared,
  });
}

function newState(key: ProcessKey, { beganAt, isUnread }: Pick<State, 'beganAt' | 'isUnread'>): State {
  return {
    key,
    beganAt,
    base: emptyProcess,
    isFrozen: false,
    pending: undefined,
    sent: undefined,
    shown: undefined,
    sinceShown: 0,
    former: undefined,
    isUsed: false,
    isUnread,
    isForgotten: false,
  };
}

function taken(state: State, { model, isFrozen, beganAt }: StoredProcess): void {
  // Another process has removed it, and it began anew.
  if (beganAt > state.beganAt && state.base.runs > 0) state.shown = undefined;
  const more = model.runs - state.base.runs;
  if (more > 0 && state.shown !== undefined) state.sinceShown = Math.max(state.sinceShown, model.runs - state.shown.runs);
  [state.base, state.isFrozen, state.beganAt, state.isUnread] = [model, isFrozen, beganAt, false];
}

function runsOf({ base, sent, pending }: State): number {
  return base.runs + (sent?.runs ?? 0) + (pending?.runs() ?? 0);
}

function sumOf({ base, sent, pending }: State): ProcessModel {
  if (sent === undefined && pending === undefined) return base;
  return mergedProcess(base, ...(sent === undefined ? [] : [sent]), ...(pending === undefined ? [] : [pending.model()]));
}

function keyOf({ tenant, agent, version }: ProcessKey): ProcessKey {
  return { tenant, agent, version };
}

function idOf({ tenant, agent, version }: ProcessKey): string {
  return JSON.stringify([tenant, agent, version]);
}
