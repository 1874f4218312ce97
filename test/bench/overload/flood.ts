/**
 * A sender in a separate process: `node flood.ts {"url":…}`. At a rate, it sends whenever it is time and never tries again; without one, each connection
 * sends as soon as its last request was answered. Tells its counts when asked, and ends when its parent does.
 */
import { Agent, request } from 'node:http';
import { freshBodies } from './fresh-bodies.ts';
import type { Flood, FloodCounts } from './flooding.ts';

const { url, from, connections, spansPerSecond, sender, spans: templateSpans } = JSON.parse(process.argv[2] ?? '{}') as Flood;
const bodies = freshBodies({ seed: sender, spans: templateSpans, sender });
const agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections });
const counts = {
  offeredSpans: 0,
  sentSpans: 0,
  acceptedSpans: 0,
  statuses: new Map<string, number>(),
  retryAfter: new Map<number, number>(),
  withoutRetryAfter: 0,
  latenciesMs: [] as number[],
};
/** Beyond it a request that is due is not sent: who sends must not be the one that falls over. */
const underWayMax = connections;
const everyMs = 5;
const latenciesMax = 200_000;
let underWay = 0;
let stopped = false;

function post(): Promise<void> {
  const { body, spans } = bodies.next();
  const startMs = performance.now();
  counts.sentSpans += spans;
  underWay++;
  return new Promise((resolve) => {
    const done = (word: string): void => {
      underWay--;
      counts.statuses.set(word, (counts.statuses.get(word) ?? 0) + 1);
      resolve();
    };
    const sent = request(
      `${url}/v1/traces`,
      { method: 'POST', agent, localAddress: from, headers: { 'content-type': 'application/x-protobuf', 'content-length': body.length } },
      (response) => {
        response.resume();
        response.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error'));
        response.once('end', () => {
          const { statusCode = 0, headers } = response;
          if (statusCode === 200) {
            counts.acceptedSpans += spans;
            if (counts.latenciesMs.length < latenciesMax) counts.latenciesMs.push(performance.now() - startMs);
          } else if (headers['retry-after'] === undefined) counts.withoutRetryAfter++;
          else counts.retryAfter.set(Number(headers['retry-after']), (counts.retryAfter.get(Number(headers['retry-after'])) ?? 0) + 1);
          done(String(statusCode));
        });
      },
    );
    sent.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error'));
    sent.end(body);
  });
}

async function closedLoop(): Promise<void> {
  while (!stopped) {
    const before = counts.acceptedSpans;
    await post();
    // One that was refused waits a little, or it would measure refusals.
    if (counts.acceptedSpans === before) await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function openLoop(rate: number): void {
  const startMs = performance.now();
  const timer = setInterval(() => {
    if (stopped) return clearInterval(timer);
    const dueSpans = ((performance.now() - startMs) / 1_000) * rate;
    while (counts.offeredSpans < dueSpans) {
      counts.offeredSpans += bodiesSpans;
      if (underWay < underWayMax) void post();
    }
  }, everyMs);
}

const bodiesSpans = 96;
process.on('message', (message) => {
  if (message === 'counts')
    process.send?.({ ...counts, statuses: [...counts.statuses], retryAfter: [...counts.retryAfter] } satisfies FloodCounts);
  if (message === 'stop') {
    stopped = true;
    process.send?.('stopped');
  }
});
process.on('disconnect', () => process.exit(0));
if (spansPerSecond === undefined) for (let at = 0; at < connections; at++) void closedLoop();
else openLoop(spansPerSecond);
