/** Agents are judged by what they did, not by how their spans came: recorded requests through either door give the same verdicts. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { otlpSink, readCarrier } from '../exporters/otlp-sink.ts';
import { grpcSend, logsPath, tracesPath } from '../receivers/grpc-client.ts';
import { running, type Running } from './running.ts';

const folder = new URL('../fixtures/recordings/', import.meta.url);
const cases = [
  'handmade-card/toolerror',
  'handmade-card/handoff',
  'openinference-openai/parallel-grpc',
  'js-plain-proto-gzip/sequential',
  'js-plain-proto/nonascii',
  'google-adk/toolerror-content',
] as const;

type Send = (jury: Running, signal: 'traces' | 'logs', body: Buffer) => Promise<unknown>;

const sendHttp: Send = async ({ otlp }, signal, body) =>
  (
    await fetch(`${otlp}/v1/${signal}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(body),
    })
  ).status;

const sendGrpc: Send = async ({ grpc }, signal, body) => {
  const { code } = await grpcSend(Number(grpc.split(':')[1]), {
    path: signal === 'traces' ? tracesPath : logsPath,
    message: body,
    coding: 'gzip',
  });
  return code;
};

test.each(cases)('service: the verdicts on %s are the same over HTTP and gRPC', async (name) => {
  const [http, grpc] = [await verdicts(name, sendHttp, 200), await verdicts(name, sendGrpc, 'OK')];
  expect(http.length).toBeGreaterThan(0);
  expect(grpc).toEqual(http);
});

/** The spans that carry them, as a backend gets them: their ids identify the verdicts, and nothing on them shows when they were made. */
async function verdicts(name: string, send: Send, taken: unknown): Promise<readonly unknown[]> {
  const sink = await otlpSink();
  // Everything is scored when the service stops, and nothing before.
  const jury = await running(`export: [ { to: span_events, endpoint: "${sink.url}" } ]`, { closing: 'settle: 5m, quiet: 6m' });
  for (const { signal, body } of requests(name)) expect(await send(jury, signal, body)).toBe(taken);
  await jury.stop();
  await sink.close();
  return sink.received.map((request) => readCarrier(request).span).sort((a, b) => String(a.spanId).localeCompare(String(b.spanId)));
}

function requests(name: string): readonly { readonly signal: 'traces' | 'logs'; readonly body: Buffer }[] {
  const files = readdirSync(new URL(`${name}/`, folder)).filter((file) => file.includes('.binpb'));
  return files.sort().map((file) => {
    const bytes = readFileSync(new URL(`${name}/${file}`, folder));
    return { signal: file.startsWith('logs') ? 'logs' : 'traces', body: file.endsWith('.gz') ? gunzipSync(bytes) : bytes };
  });
}
