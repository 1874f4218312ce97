/**
 * The draw of runs for a queue. Each judged run has a number that does not depend on its content: a hash of its ids, times the probability with which
 * it was judged. A queue draws the runs with a number below its rate, so a run is drawn with `drawProbability`, and judged and drawn with a
 * probability that is the same for all runs down to the rate: people meet runs as the traffic has them (Ohlsson, “Sequential Poisson sampling”,
 * Journal of Official Statistics 14, 1998). The hash differs from that of judges' samples.
 */
import { hash } from 'node:crypto';
import { runTargetId } from './verdict.ts';
import type { RunKey } from './agent-trace.ts';

export interface QueueDraw {
  /** Below the rate of the queue it is drawn: 0..1. */
  readonly number: number;
  /** With which the run was judged, above 0 and at most 1. */
  readonly judged: number;
}

const digits = 13;

export function drawOf(run: RunKey, judged: number): QueueDraw {
  const text = hash('sha256', JSON.stringify(['queue', run.tenant, runTargetId(run)]), 'hex').slice(0, digits);
  return { number: (Number.parseInt(text, 16) / 16 ** digits) * judged, judged };
}

/** With which a judged run is drawn at a rate. */
export function drawProbability({ rate, judged }: { readonly rate: number; readonly judged: number }): number {
  return Math.min(1, rate / judged);
}

/** Among the turns of a queue, that with this number (from 0) is one of the random share. They are spread evenly. */
export function isDrawnTurn(turn: number, share: number): boolean {
  return Math.floor((turn + 1) * share) > Math.floor(turn * share);
}

/** Below this part of its room for drawn runs a queue draws all judged runs, until the next thinning. */
export const drawnLeast = 0.25;
/** A queue that has more than its room keeps this part of it: those with the lowest numbers. */
export const drawnKept = 0.5;
