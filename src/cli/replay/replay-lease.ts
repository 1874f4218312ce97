/** On a store that processes share, one of them at a time writes a replay. It holds a task of the name of the replay. */
import { randomBytes } from 'node:crypto';
import { ReplayStopped } from './writing.ts';
import { UsageError } from '../command.ts';
import { leaseMs, leaseOf, leaseRenewalMs } from '../../model/store/lease.ts';
import type { ReplicaStore } from '../../model/store/replica-store.ts';
import { periodicTask } from '../../runtime/periodic-task.ts';
import type { Context } from '../../telemetry/context.ts';

interface ReplayLeaseOptions extends Pick<Context, 'clock' | 'sleep'> {
  readonly replicas: ReplicaStore;
  /** The id of the replay. */
  readonly id: string;
}

export interface ReplayLease {
  /** Called before each page. Throws ReplayStopped when another process may write the replay by now. */
  check(): void;
  stop(): Promise<void>;
}

/** Rejects with a UsageError while another process holds the replay. */
export async function replayLease({ replicas, id, clock, sleep }: ReplayLeaseOptions): Promise<ReplayLease> {
  if (!replicas.isShared) return { check: () => undefined, async stop() {} };
  const [owner, tasks] = [randomBytes(16).toString('hex'), [`replay ${id}`]];
  let heldUntilMs = -Infinity;
  async function hold(): Promise<boolean> {
    const untilMs = clock.nowMs() + leaseMs;
    const isHeld = (await replicas.hold(tasks, leaseOf(owner, clock))).length > 0;
    heldUntilMs = isHeld ? untilMs : -Infinity;
    return isHeld;
  }
  if (!(await hold()))
    throw new UsageError('Another process writes this replay. Wait for its end; when it has died, begin again after half a minute.');
  // A renewal that fails is tried again; until then the lease runs out.
  const renewing = periodicTask({
    everyMs: leaseRenewalMs,
    sleep,
    work: async () => void (await hold()),
    onFault: () => undefined,
    restsFirst: true,
  });
  return {
    check() {
      if (clock.nowMs() >= heldUntilMs)
        throw new ReplayStopped('The replay stood still for longer than its lease, and another process may write it now.');
    },
    async stop() {
      await renewing.stop();
      await replicas.left(owner).catch(() => undefined);
    },
  };
}
