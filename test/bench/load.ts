/** The load driver: posts bodies in order over a few keep-alive connections, as fast as they are taken. What is put off is sent again. */
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
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++])
      while (!(await isTaken(agent, url, body, encoding))) await pause(againMs);
  };
  await Promise.all(Array.from({ length: connections }, worker));
  agent.destroy();
  return performance.now() - startMs;
}

/** False: not now. */
function isTaken(agent: Agent, url: string, body: Buffer, encoding: Load['encoding']): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/x-protobuf',
      'content-length': body.length,
      ...(encoding === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
    };
    const sent = request(`${url}/v1/traces`, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () =>
        [200, 429, 503].includes(response.statusCode ?? 0)
          ? resolve(response.statusCode === 200)
          : reject(new Error(`answered ${response.statusCode}`)),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
