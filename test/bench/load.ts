/** The load driver: posts bodies in order over a few keep-alive connections, as fast as they are taken. A body that is put off is sent again. */
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const connections = 8;
/** Less than an exporter would wait, so that a refusal costs a benchmark little. */
const againMs = 200;

export interface Load {
  readonly url: string;
  readonly bodies: readonly Buffer[];
  readonly encoding: 'identity' | 'gzip';
}

/** Resolves when all are answered with 200; the milliseconds that it took. */
export async function sendLoad({ url, bodies, encoding }: Load): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const startMs = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) await taken(agent, url, body, encoding);
  };
  await Promise.all(Array.from({ length: connections }, worker));
  agent.destroy();
  return performance.now() - startMs;
}

/** Sends the body until it is taken. Resolves with the number of times that it was put off. */
export async function taken(agent: Agent, url: string, body: Buffer, encoding?: Load['encoding']): Promise<number> {
  for (let putOff = 0; ; putOff++) {
    if ((await posted(agent, url, body, encoding)).status === 200) return putOff;
    await pause(againMs);
  }
}

export interface Answer {
  /** 200, 429 or 503; others are faults. */
  readonly status: number;
  /** As the server asks; a second when it does not. */
  readonly retryAfterMs: number;
}

export function posted(agent: Agent, url: string, body: Buffer, encoding: Load['encoding'] = 'identity'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/x-protobuf',
      'content-length': body.length,
      ...(encoding === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
    };
    const sent = request(`${url}/v1/traces`, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () => {
        const [status, retryAfter] = [response.statusCode ?? 0, Number(response.headers['retry-after'] ?? 1)];
        if ([200, 429, 503].includes(status)) resolve({ status, retryAfterMs: retryAfter * 1_000 });
        else reject(new Error(`answered ${status}`));
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
