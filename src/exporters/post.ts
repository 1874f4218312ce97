/** One request to a backend, and what it answered: in a bounded time, and no more of the answer than is looked at. */
import type http from 'node:http';

export type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs?: number; readonly body: Buffer }
  /** `fault`: a code, never a message. */
  | { readonly kind: 'unanswered'; readonly fault: string };

export interface PostOptions {
  /** What of an answer is kept; the rest is read away. */
  readonly answerBytesMax?: number;
  /** POST when left out. */
  readonly method?: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly timeoutMs: number;
  /** `request` of node:http or node:https. */
  readonly request: typeof http.request;
  readonly agent: http.Agent;
}

const answerBytesMaxDefault = 64 * 1024;

/** Resolves, never rejects. Redirects are not followed. */
export function post({ method = 'POST', url, headers, timeoutMs, request, agent, answerBytesMax = answerBytesMaxDefault }: PostOptions, body: Uint8Array): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(url, { method, agent, headers: { ...headers, 'content-length': body.length } }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        if (bytes < answerBytesMax) chunks.push(chunk);
        bytes += chunk.length;
      });
      response.on('end', () => done({ kind: 'answered', status: response.statusCode ?? 0, ...retryAfter(response.headers['retry-after']), body: Buffer.concat(chunks).subarray(0, answerBytesMax) }));
      response.on('error', failed);
    });
    const timer = setTimeout(() => {
      done({ kind: 'unanswered', fault: `no answer within ${timeoutMs} ms` });
      sent.destroy();
    }, timeoutMs);

    function done(answer: Answer): void {
      clearTimeout(timer);
      resolve(answer);
    }

    /** Messages may hold what the backend sent; the code says enough and is never secret. */
    function failed(error: NodeJS.ErrnoException): void {
      done({ kind: 'unanswered', fault: error.code ?? 'no answer' });
    }

    sent.on('error', failed);
    sent.end(body);
  });
}

/** Seconds, or a date. */
function retryAfter(header: string | undefined): { readonly retryAfterMs?: number } {
  if (header === undefined) return {};
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? { retryAfterMs: ms } : {};
}
