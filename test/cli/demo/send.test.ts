/** Sending, against a server that plays a service under load. */
import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { sendSpans } from '../../../src/cli/demo/summary.ts';
import type { Posted } from '../../../src/cli/post-otlp.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { freePort } from '../../builders/free-port.ts';
import { span } from '../../builders/spans.ts';

interface Answer {
  readonly status: number;
  readonly retryAfter?: string;
}

interface Replayed {
  readonly sent: Posted;
  readonly taken: readonly number[];
  readonly pauses: readonly number[];
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers in the order given, then always with 200. */
async function play(answers: readonly Answer[], spans: number): Promise<Replayed> {
  const waiting = [...answers];
  const taken: number[] = [];
  const pauses: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status, retryAfter } = waiting.shift() ?? { status: 200 };
      if (status === 200) taken.push(readTraces(Buffer.concat(chunks), 'protobuf').spans.length);
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const sent = await sendSpans(
    Array.from({ length: spans }, (_, at) => span({ id: at + 1 })),
    {
      url: `http://127.0.0.1:${port}/v1/traces`,
      headers: {},
      sleep: async (ms) => {
        pauses.push(ms);
      },
    },
  );
  return { sent, taken, pauses };
}

test('send: spans go in batches', async () => {
  const { sent, taken } = await play([], 250);
  expect(taken).toEqual([100, 100, 50]);
  expect(sent).toMatchObject({ kind: 'sent', requests: 3 });
});

test('send: a service that is busy is asked again after the pause that it names, at most ten seconds', async () => {
  const { sent, taken, pauses } = await play(
    [{ status: 429, retryAfter: '2' }, { status: 503, retryAfter: '3600' }, { status: 503 }, { status: 429, retryAfter: 'soon' }],
    1,
  );
  expect(sent.kind).toBe('sent');
  expect(taken).toEqual([1]);
  expect(pauses).toEqual([2_000, 10_000, 2_000, 4_000]);
});

test('send: a service that stays busy is given up in the end', async () => {
  const { sent, pauses } = await play(
    Array.from({ length: 20 }, () => ({ status: 503 })),
    1,
  );
  expect(sent).toEqual({ kind: 'refused', why: '503 (after 6 tries)' });
  expect(pauses).toHaveLength(6);
});

test('send: what is refused is not sent again', async () => {
  const { sent, pauses } = await play([{ status: 401 }], 250);
  expect(sent).toEqual({ kind: 'refused', why: '401' });
  expect(pauses).toEqual([]);
});

test('send: a missing listener is distinguished from everything else', async () => {
  const sent = await sendSpans([span({ id: 1 })], {
    url: `http://127.0.0.1:${await freePort()}/v1/traces`,
    headers: {},
    sleep: async () => undefined,
  });
  expect(sent).toMatchObject({ kind: 'unanswered', isListening: false });
});
