/** Agents at work: each sends its run in two requests, keeps what was acknowledged, and sends again what was not. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Span } from '../../src/model/span.ts';
import { halves } from '../builders/gen-ai-spans.ts';

export interface Load {
  /** Requests that were acknowledged. */
  acknowledged(): number;
  /** Spans in them. */
  acknowledgedSpans(): number;
  /** Begins no more runs, and finishes those that are begun. Returns the traces that were acknowledged as a whole. */
  end(): Promise<readonly string[]>;
}

const agents = 4;
/** The wait while there is no answer, or the service refuses. */
const restMsUsual = 25;
/** A run that cannot be finished within this number of attempts is left. */
const attemptsMaxUsual = 400;

/** Spans of the two requests of one run. */
export const spansPerRun = 3;

export interface LoadOptions {
  /** Spans of the requests of a run. Default: its two halves. */
  readonly requests?: (trace: number) => readonly (readonly Span[])[];
  /** Between two runs of an agent. */
  readonly pauseMs?: number;
  readonly restMs?: number;
  readonly attemptsMax?: number;
}

/** `send` returns the HTTP status, or undefined without an answer. */
export function startLoad(
  send: (spans: readonly Span[]) => Promise<number | undefined>,
  { requests = (trace) => halves(trace), pauseMs = 0, restMs = restMsUsual, attemptsMax = attemptsMaxUsual }: LoadOptions = {},
): Load {
  const whole: string[] = [];
  let count = 0;
  let spanCount = 0;
  let traces = 0;
  let isEnding = false;

  async function acknowledge(spans: readonly Span[]): Promise<boolean> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const status = await send(spans);
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
      for (const spans of requests(trace)) acknowledged &&= await acknowledge(spans);
      if (acknowledged) whole.push(trace.toString(16).padStart(32, '0'));
      if (pauseMs > 0) await wait(pauseMs);
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
