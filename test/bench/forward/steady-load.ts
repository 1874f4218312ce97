/** Sends at a rate, under any answers; a request that is put off is sent again. */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { taken } from '../load.ts';
import { templateSpans } from '../overload/bed.ts';
import { freshBodies } from '../overload/fresh-bodies.ts';

export interface LoadCounts {
  /** That were taken. */
  readonly spans: number;
  /** Answers that were not 200. */
  readonly putOff: number;
}

export interface SteadyLoad {
  /** Resolves when all that was due in this number of seconds is taken. */
  run(seconds: number, spansPerSecond: number): Promise<LoadCounts>;
}

export interface SteadyLoadOptions {
  readonly url: string;
  /** Keeps trace ids of several loads apart. */
  readonly sender: number;
  /** Called before each request. */
  readonly sent: (body: Buffer) => void;
}

const connections = 8;

export function steadyLoad({ url, sender, sent }: SteadyLoadOptions): SteadyLoad {
  const bodies = freshBodies({ seed: 5, spans: templateSpans, sender });
  const agent = new Agent({ keepAlive: true, maxSockets: connections });

  return {
    async run(seconds, spansPerSecond) {
      const startMs = performance.now();
      const underWay: Promise<number>[] = [];
      let spans = 0;
      while (performance.now() - startMs < seconds * 1_000) {
        while (spans < ((performance.now() - startMs) / 1_000) * spansPerSecond) {
          const next = bodies.next();
          sent(next.body);
          underWay.push(taken(agent, url, next.body));
          spans += next.spans;
        }
        await pause(5);
      }
      const putOff = (await Promise.all(underWay)).reduce((sum, times) => sum + times, 0);
      return { spans, putOff };
    },
  };
}
