/** Sends claims of traces, and tries again while the topic takes none of them. */
import { backoffMs, type BackoffOptions } from '../../runtime/retry.ts';
import { claimMs } from './held-claims.ts';
import type { KeyedRecord } from './requests.ts';
import type { Context } from '../../telemetry/context.ts';

interface SentClaimsOptions extends Pick<Context, 'clock' | 'sleep'> {
  /** Resolves with the reason of a refusal. */
  readonly send: (records: readonly KeyedRecord[]) => Promise<unknown>;
  /** False when another process joins the trace from now on: it claims the trace itself. */
  readonly isWanted: (key: string) => boolean;
  /** The trace was not claimed. `isWanted`: it stays a separate run for that reason. */
  readonly onLost: (key: string, isWanted: boolean) => void;
  readonly rests: BackoffOptions;
}

/** Claims that are under way at one time. */
const claimsMax = 500;

/** The returned function never waits. */
export function sentClaims({ send, isWanted, onLost, clock, sleep, rests }: SentClaimsOptions): (key: string, record: KeyedRecord) => void {
  let underWay = 0;

  async function sent(key: string, record: KeyedRecord): Promise<void> {
    // No replica holds an older claim.
    const untilMs = clock.nowMs() + claimMs;
    for (let failures = 0; isWanted(key) && clock.nowMs() < untilMs;) {
      if ((await send([record])) === undefined) return;
      await sleep(backoffMs(++failures, rests));
    }
    onLost(key, isWanted(key));
  }

  return (key, record) => {
    if (underWay >= claimsMax) return onLost(key, true);
    underWay++;
    void sent(key, record).finally(() => {
      underWay--;
    });
  };
}
