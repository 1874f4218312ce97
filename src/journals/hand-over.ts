/** Hands what came for a trace over to the gatherer that joins it. */
import type { Sleep } from '../model/clock.ts';
import type { FinishedTrace } from '../pipeline/gathering/journal-references.ts';
import { backoffMs } from '../runtime/retry.ts';
import type { JournalRunner } from './journal-runner.ts';

interface HandOverDeps extends Pick<JournalRunner, 'requestsOf' | 'handOver' | 'isStopped'> {
  readonly sleep: Sleep;
}

const rests = { firstRestMs: 100, longestRestMs: 5_000 };

/**
 * Goes on until the other gatherer has all of the trace. False: it cannot take the trace, which stays here. Each request is read when its turn comes,
 * and again after a failure, so nothing is in memory during a rest. After a stop it does not end: the next owner of the records hands the trace over.
 */
export async function handedOver(trace: FinishedTrace, { requestsOf, handOver, isStopped, sleep }: HandOverDeps): Promise<boolean> {
  for (const position of trace.positions) {
    let [sent, failures, isSent] = [0, 0, false];
    while (!isSent) {
      try {
        for (const { key, part } of (await requestsOf({ ...trace, positions: [position] })).slice(sent)) {
          if (!(await handOver(key, part))) return false;
          sent++;
        }
        isSent = true;
      } catch {
        if (isStopped()) return await new Promise(() => undefined);
        await sleep(backoffMs(++failures, rests));
      }
    }
  }
  return true;
}
