/** Agents at work: each sends its run in two requests, keeps what was acknowledged, and sends again what was not. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Span } from '../../src/model/span.ts';
import { halves } from '../builders/gen-ai-spans.ts';
import type { Host } from './host.ts';

export interface Load {
  /** Requests that were acknowledged. */
  acknowledged(): number;
  /** Spans in them. */
  acknowledgedSpans(): number;
  /** Begins no more runs, and brings those that are begun to their end. Gives the traces of which everything was acknowledged. */
  end(): Promise<readonly string[]>;
}

const agents = 4;
/** While nobody answers, or the service refuses. */
const restMs = 25;
/** A run that cannot be brought to its end within so many attempts is left. */
const attemptsMax = 400;

/** Spans of the two requests of one run. */
export const spansPerRun = 3;

/** The halves of a run that came so much later. */
function laterHalves(trace: number, laterNano: bigint): readonly (readonly Span[])[] {
  const later = (span: Span): Span => ({
    ...span,
    startUnixNano: span.startUnixNano + laterNano,
    endUnixNano: span.endUnixNano + laterNano,
  });
  return halves(trace).map((spans) => spans.map(later));
}

/** `laterMs`: how much later its runs are than those of a test. Where a trial takes long, old ones would go by `store.keep`. */
export function startLoad(service: () => Host, { laterMs = 0 }: { readonly laterMs?: number } = {}): Load {
  const whole: string[] = [];
  let count = 0;
  let spanCount = 0;
  let traces = 0;
  let isEnding = false;

  async function acknowledge(spans: readonly Span[]): Promise<boolean> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const status = await service().send(spans);
      if (status === 200) {
        count++;
        spanCount += spans.length;
        return true;
      }
      await wait(restMs);
    }
    return false;
  }

  async function agent(): Promise<void> {
    while (!isEnding) {
      const trace = ++traces;
      let acknowledged = true;
      for (const half of laterHalves(trace, BigInt(laterMs) * 1_000_000n)) acknowledged &&= await acknowledge(half);
      if (acknowledged) whole.push(trace.toString(16).padStart(32, '0'));
    }
  }

  const working = Array.from({ length: agents }, agent);
  return {
    acknowledged: () => count,
    acknowledgedSpans: () => spanCount,
    async end() {
      isEnding = true;
      await Promise.all(working);
      return whole;
    },
  };
}
