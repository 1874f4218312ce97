/** Puts an answer on the wire so that it reaches the client, also while the client is still sending. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

/** What is read away of a body that is refused; a client that sends more than this after its answer is cut off. */
export interface RestLimits {
  readonly restBytes: number;
  readonly restTimeoutMs: number;
}

/**
 * Closing a socket with unread bytes resets the connection and takes the answer with it. So a request that is still being sent is
 * answered first, completely, then its rest is read away within limits, and only then the connection is closed.
 */
export function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: Answer, limits: RestLimits): void {
  const complete = isComplete(request);
  const close = complete ? {} : { connection: 'close' };
  response.writeHead(answer.status, { ...answer.headers, ...close, 'content-length': String(answer.body.length) });
  if (complete) {
    response.end(answer.body);
    return;
  }
  response.write(answer.body);
  readAway(request, limits, () => response.end());
}

function isComplete(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': transfer } = request.headers;
  return request.complete || (transfer === undefined && (length === undefined || length === '0'));
}

function readAway(request: IncomingMessage, { restBytes, restTimeoutMs }: RestLimits, then: () => void): void {
  let rest = restBytes;
  let done = false;
  const finish = (): void => {
    if (done) return;
    done = true;
    clearTimeout(timer);
    request.off('data', onData);
    then();
  };
  const onData = (chunk: Buffer): void => {
    rest -= chunk.length;
    if (rest < 0) finish();
  };
  const timer = setTimeout(finish, restTimeoutMs);
  request.on('data', onData).once('end', finish).once('close', finish).on('error', finish);
  request.resume();
}
