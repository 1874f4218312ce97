/** Judges and endpoints of evaluators over HTTPS: who is trusted, who is let in, and what the other side may do. Real servers on loopback. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import type { Question } from '../../evaluators/evaluator.ts';
import { batchApi } from '../../src/judges/batch/batch-client.ts';
import { httpCalls } from '../../src/judges/client/http-calls.ts';
import { httpClient } from '../../src/http/http-client.ts';
import type { ClientTls } from '../../src/model/client-tls.ts';
import { manualClock } from '../../src/model/clock.ts';
import { tlsOptions } from '../../src/receivers/tls.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { knownClient, mutualTls, serverTls, stranger, trust } from '../receivers/certificates.ts';
import { batchServer } from './batch-server.ts';
import { benchAt } from './bench.ts';
import { says, tlsChatServer, type ChatServer, type Play } from './chat-server.ts';

const question: Question = {
  id: 'q',
  instruction: 'Did it?',
  data: [],
  answerSchema: { type: 'object', required: ['yes'], properties: { yes: { type: 'boolean' } } },
};

/** The same question to either of them; the error of an answer, or what was said. */
const askers: { readonly [who: string]: (server: ChatServer, tls: ClientTls | undefined) => Promise<string> } = {
  judge: async (server, tls) => {
    const { judge } = await benchAt(server, tls === undefined ? {} : { tls });
    const answer = await judge.ask(question);
    return answer.kind === 'failed' ? answer.error : 'answered';
  },
  endpoint: async (server, tls) => {
    onTestFinished(() => server.close());
    const calls = httpCalls({ telemetry: noTelemetry, clock: manualClock(), random: () => 0, sleep: async () => undefined });
    onTestFinished(() => calls.stop());
    const answer = await calls.call('http:x', { kind: 'call', url: server.baseUrl, headers: {}, timeoutMs: 60_000, body: '{}' }, tls);
    return answer.kind === 'failed' ? answer.error : 'answered';
  },
};

const untrusted = /^(?:judge|http)_unavailable: no connection, for TLS \((?:DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+)\)$/;
const trials: readonly {
  readonly name: string;
  readonly asks: typeof serverTls;
  readonly tls: ClientTls | undefined;
  readonly want: RegExp;
  readonly reaches: boolean;
}[] = [
  { name: 'an authority that the entry names is trusted', asks: serverTls, tls: trust, want: /^answered$/, reaches: true },
  { name: 'a client certificate is shown on demand', asks: mutualTls, tls: knownClient, want: /^answered$/, reaches: true },
  { name: 'without tls only authorities that Node knows are trusted', asks: serverTls, tls: undefined, want: untrusted, reaches: false },
  {
    name: 'an authority that signed something else is none',
    asks: serverTls,
    tls: { ca: mutualTls.clientCa },
    want: untrusted,
    reaches: false,
  },
  // It is chance which of the two sees the end first.
  {
    name: 'a server that demands a client certificate refuses clients without',
    asks: mutualTls,
    tls: trust,
    want: /_unavailable: no connection/,
    reaches: false,
  },
  { name: 'nor with one of another authority', asks: mutualTls, tls: stranger, want: /_unavailable: no connection/, reaches: false },
];
for (const [who, ask] of Object.entries(askers)) {
  for (const { name, asks, tls, want, reaches } of trials) {
    test(`client tls: ${who}: ${name}`, async () => {
      const server = await tlsChatServer(tlsOptions(asks), says('{"yes":true}'));
      expect(await ask(server, tls)).toMatch(want);
      expect(server.requests.length > 0).toBe(reaches);
    });
  }
}

const json = (): Buffer =>
  Buffer.from(JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '{"yes":true}' } }] }));
const packed =
  (encoding: string, body: Buffer): Play =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding }).end(body);
const answers: readonly { readonly name: string; readonly play: Play; readonly want: RegExp }[] = [
  { name: 'unrequested gzip', play: packed('gzip', gzipSync(json())), want: /^answered$/ },
  { name: 'deflate', play: packed('deflate', deflateSync(json())), want: /^answered$/ },
  { name: 'brotli', play: packed('br', brotliCompressSync(json())), want: /^answered$/ },
  { name: 'gzip that is none', play: packed('gzip', json()), want: /_unavailable: no connection$/ },
  { name: 'a status that there is not', play: (response) => void response.writeHead(999).end('{}'), want: /_unavailable: no connection$/ },
  {
    name: 'gzip that grows beyond all measure',
    play: packed('gzip', gzipSync(Buffer.alloc(64 * 1024 * 1024, 32))),
    want: /_answer_too_large: /,
  },
];
for (const [who, ask] of Object.entries(askers)) {
  for (const { name, play, want } of answers) {
    test(`client tls: ${who}: an answer in ${name}`, async () => {
      expect(await ask(await tlsChatServer(tlsOptions(mutualTls), play), knownClient)).toMatch(want);
    });
  }
}

test('client tls: the files of a batch go up and come down too', async () => {
  const server = await batchServer(says('{"yes":true}'), tlsOptions(mutualTls));
  onTestFinished(() => server.close());
  const http = httpClient({ tls: knownClient });
  onTestFinished(() => http.stop());
  const api = batchApi(
    { name: 'main', baseUrl: server.baseUrl, model: 'm', apiKey: 'k', concurrency: 1, timeoutMs: 60_000, tls: knownClient },
    http,
    new AbortController().signal,
  );
  const submitted = await api.submit('ours', [JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: {} })]);
  const [batch] = server.batches;
  if (submitted.kind !== 'submitted' || batch === undefined) throw new Error('nothing was submitted');
  expect(batch.lines.map((line) => line.custom_id)).toEqual(['a']);
  server.finish(batch, { output: '{"custom_id":"a"}\n' });
  const status = await api.status(submitted.remoteId);
  expect(status).toMatchObject({ kind: 'batch', state: 'ended' });
  expect(await api.read('files' in status ? (status.files[0] ?? '') : '')).toEqual({ kind: 'read', text: '{"custom_id":"a"}\n' });
});
