/** The parent's side of a sender in a separate process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Flood {
  readonly url: string;
  /** Its own address: a loopback one. */
  readonly from: string;
  readonly connections: number;
  /** When absent, as fast as it is answered. */
  readonly spansPerSecond?: number;
  /** 1..65535; keeps the trace ids of senders apart. */
  readonly sender: number;
  /** Number of different spans that it sends by turns. */
  readonly spans: number;
}

export interface FloodCounts {
  /** That were due. */
  readonly offeredSpans: number;
  readonly sentSpans: number;
  readonly acceptedSpans: number;
  /** Answers by status, and failures by their code. */
  readonly statuses: readonly (readonly [string, number])[];
  /** Refusals by what they said. */
  readonly retryAfter: readonly (readonly [number, number])[];
  readonly withoutRetryAfter: number;
  /** Latencies of accepted requests. */
  readonly latenciesMs: readonly number[];
}

export interface Flooding {
  counts(): Promise<FloodCounts>;
  /** Sends no more; what is under way goes on. */
  stop(): Promise<void>;
  /** Ends the process of the sender; this process takes it along as well when it ends first. */
  end(): void;
}

export function flooding(flood: Flood): Flooding {
  const child = fork(join(import.meta.dirname, 'flood.ts'), [JSON.stringify(flood)], { serialization: 'advanced' });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  return {
    async counts() {
      child.send('counts');
      const [counts] = (await once(child, 'message')) as [FloodCounts];
      return counts;
    },
    async stop() {
      child.send('stop');
      await once(child, 'message');
    },
    end() {
      process.off('exit', kill);
      kill();
    },
  };
}
