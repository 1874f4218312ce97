/**
 * The processes on one store: each writes a sign of life, and one at a time does what must not be done twice. A task is held by a lease that
 * its process renews; when the process dies, another one takes the task after the lease. A store that only one process can open needs none
 * of it.
 */
import type { ReplicaStatus } from '../model/service-status.ts';
import { leaseMs, leaseOf } from '../model/store/lease.ts';
import { clockSkewMaxMs, type Replica, replicaName, type ReplicaStore } from '../model/store/replica-store.ts';
import type { Micros } from '../model/timestamp.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { TaskContext } from '../telemetry/context.ts';

/** Tasks that one process at a time does for all on the same store. */
export const sharedTasks = ['alerts', 'drift', 'issues', 'queues', 'rates', 'retention', 'rules', 'sums', 'texts'] as const;
export type SharedTask = (typeof sharedTasks)[number];

interface ReplicaWatchOptions extends TaskContext {
  readonly store: ReplicaStore;
  readonly own: Pick<Replica, 'id' | 'host' | 'version'>;
  /** Hash of the settings in force that replicas have in common. */
  readonly configuration: () => string;
  readonly logger: { warn(fields: { readonly [field: string]: unknown }, message: string): void };
}

export interface ReplicaWatch {
  /** Takes the free tasks and gives the first sign of life. Rejects when the store cannot be written. */
  open(): Promise<void>;
  /** True when this process, and no other one, does the task now. */
  holds(task: SharedTask): boolean;
  /** As `holds`: a number that is another one when another process may have done the task in between. `undefined`: this process does not hold it. */
  tenure(task: SharedTask): number | undefined;
  list(): Promise<readonly ReplicaStatus[]>;
  /** Seconds for which the store has taken no sign of life; `undefined` while it does. */
  storeAwaySeconds(): number | undefined;
  /** Leaves the tasks to the others. May be called twice. */
  stop(): Promise<void>;
}

export const renewEveryMs = 5_000;
/** A round of a task that begins now has this long before another process may take the task. */
const marginMs = 5_000;
/** A store that has taken no sign of life for this long counts as away. */
const awayMs = 15_000;
/** Time for which a dead process is listed. */
const listedMs = 24 * 3_600_000;

export function replicaWatch(options: ReplicaWatchOptions): ReplicaWatch {
  const { store, own, configuration, telemetry, logger, clock, sleep, onFault } = options;
  const startedMs = clock.nowMs();
  let held: ReadonlySet<string> = new Set();
  let heldUntilMs = -Infinity;
  const tenures = new Map<string, number>();
  let others = '';
  let skewMs = 0;
  let lookedMs = startedMs;
  let isSkewTold = false;
  let looking: PeriodicTask | undefined;
  const micros = (ms: number): number => Math.floor(ms * 1_000);
  const holds = (task: SharedTask): boolean => !store.isShared || (held.has(task) && clock.nowMs() < heldUntilMs);
  const self = (): Replica => ({
    ...own,
    configuration: configuration(),
    startedAt: micros(startedMs),
    seenAt: micros(clock.nowMs()),
    skew: micros(skewMs),
  });

  async function look(): Promise<void> {
    const nowMs = clock.nowMs();
    // The lease counts from before the question: its answer may take long.
    const now = new Set(await store.hold(sharedTasks, leaseOf(own.id, clock)));
    for (const task of now) if (!held.has(task) || nowMs >= heldUntilMs) tenures.set(task, (tenures.get(task) ?? 0) + 1);
    held = now;
    heldUntilMs = nowMs + leaseMs - marginMs;
    const isAlive = aliveAt(await measured());
    const seen = self();
    await store.seen(seen, seen.seenAt - micros(listedMs));
    publish((await store.list()).filter((one) => one.id === own.id || isAlive(one)));
    lookedMs = clock.nowMs();
  }

  const aliveAt =
    (time: Micros) =>
    ({ seenAt }: Replica): boolean =>
      seenAt > time - micros(leaseMs);

  /** Resolves with the time of the store. Notes by how much the clock of this process differs from it at least: an answer may take long. */
  async function measured(): Promise<Micros> {
    const askedMs = clock.nowMs();
    const time = await store.time(micros(askedMs));
    const [low, high] = [askedMs - time / 1_000, clock.nowMs() - time / 1_000];
    skewMs = low > 0 ? low : Math.min(0, high);
    const isSkewed = Math.abs(skewMs) > clockSkewMaxMs;
    if (isSkewed && !isSkewTold)
      logger.warn(
        { seconds: Math.round(skewMs / 1_000) },
        'the clock of this process differs from that of the database: synchronise the clock of the machine, and start the process again',
      );
    isSkewTold = isSkewed;
    return time;
  }

  function publish(alive: readonly Replica[]): void {
    telemetry.set('tracejury.replicas', alive.length);
    if (store.isShared)
      for (const task of sharedTasks) telemetry.set('tracejury.replica.tasks', held.has(task) ? 1 : 0, { 'tracejury.what': task });
    const configurations = new Set(alive.map((one) => one.configuration));
    telemetry.set('tracejury.replicas.configurations', configurations.size);
    const differ = alive.filter((one) => one.configuration !== configuration()).map(replicaName);
    if (differ.length > 0 && others !== differ.join())
      logger.warn(
        { others: differ },
        'replicas on the same store have another configuration, so verdicts depend on the replica that a run comes to: give all of them the same file',
      );
    others = differ.join();
  }

  return {
    holds,
    tenure: (task) => (holds(task) ? (tenures.get(task) ?? 0) : undefined),
    async open() {
      if (!store.isShared) return publish([self()]);
      await look();
      looking = periodicTask({ everyMs: renewEveryMs, sleep, work: look, onFault, restsFirst: true });
    },
    async list() {
      if (!store.isShared) return [{ ...self(), isOwn: true, isAlive: true, tasks: sharedTasks }];
      const now = micros(clock.nowMs());
      const [tasks, isAlive] = [await store.tasks(now), aliveAt(await store.time(now))];
      return (await store.list()).map((one) => ({
        ...one,
        isOwn: one.id === own.id,
        isAlive: isAlive(one),
        tasks: tasks.flatMap(({ name, owner }) => (owner === one.id ? [name] : [])),
      }));
    },
    storeAwaySeconds() {
      const silentMs = clock.nowMs() - lookedMs;
      return looking === undefined || silentMs < awayMs ? undefined : Math.floor(silentMs / 1_000);
    },
    async stop() {
      await looking?.stop();
      if (looking === undefined) return;
      looking = undefined;
      held = new Set();
      await store.left(own.id).catch(onFault);
    },
  };
}
