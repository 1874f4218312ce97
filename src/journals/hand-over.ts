/** Hands what came for a trace over to the gatherer that joins it. */
import type { Sleep } from '../model/clock.ts';
import type { FinishedTrace } from '../pipeline/gathering/journal-references.ts';
import { backoffMs } from '../runtime/retry.ts';
import type { JournalRunner } from './journal-runner.ts';

interface HandOverDeps extends Pick<JournalRunner, 'requestsOf' | 'bytesAt' | 'handOver' | 'isStopped'> {
  readonly sleep: Sleep;
}

const rests = { firstRestMs: 100, longestRestMs: 5_000 };

/**
 * Goes on until the other gatherer has all of the trace. False when it cannot take the trace, which then stays here. Each request is read when its turn comes,
 * and again after a failure, so nothing is in memory during a rest. After a stop it does not end: the next owner of the records hands the trace over.
 */
export async function handedOver(
  trace: FinishedTrace,
  { requestsOf, bytesAt, handOver, isStopped, sleep }: HandOverDeps,
): Promise<boolean> {
  for (const position of await largestFirst(trace.positions, bytesAt)) {
    let [sent, failures, isSent] = [0, 0, false];
    while (!isSent) {
      try {
        const parts = (await requestsOf({ ...trace, positions: [position] })).toSorted((a, b) => b.part.bytes.length - a.part.bytes.length);
        for (const { key, part } of parts.slice(sent)) {
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

/** Nothing else has been sent when the other gatherer does not take the largest request, so no gatherer judges a part of the trace by itself. */
async function largestFirst(positions: readonly number[], bytesAt: JournalRunner['bytesAt']): Promise<readonly number[]> {
  let [largest, bytesMax] = [positions[0], -1];
  for (const position of positions.length > 1 ? positions : []) {
    const bytes = await bytesAt(position);
    if (bytes > bytesMax) [largest, bytesMax] = [position, bytes];
  }
  return positions.toSorted((a, b) => Number(b === largest) - Number(a === largest));
}
