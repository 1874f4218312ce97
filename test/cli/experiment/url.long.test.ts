/** `tracejury experiment run --url`: an agent that runs already, and takes the trace from the headers of each request. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { readExperimentFile } from '../../../src/analytics/experiment-json.ts';
import { parseJson } from '../../../src/model/json.ts';
import { freePort } from '../../builders/free-port.ts';
import { workplace } from './command.ts';

interface Asked {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** Answers at once and sends its spans a little later, as a batch of an SDK comes. */
async function runningAgent(otlpPort: number): Promise<{ readonly url: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      asked.push({ body, headers: request.headers });
      if (body.includes('teapot')) return void response.writeHead(418).end('no coffee');
      response.end('{"answer":"done"}');
      setTimeout(() => void send(otlpPort, String(request.headers['traceparent'])), 300);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ask`, asked };
}

async function send(port: number, traceparent: string): Promise<void> {
  const [, traceId = '', parentSpanId = ''] = traceparent.split('-');
  const nano = `${Date.now()}000000`;
  const attributes = [
    { key: 'gen_ai.operation.name', value: { stringValue: 'invoke_agent' } },
    { key: 'gen_ai.agent.name', value: { stringValue: 'server' } },
  ];
  const span = {
    traceId,
    parentSpanId,
    spanId: traceId.slice(0, 16),
    name: 'invoke_agent server',
    startTimeUnixNano: nano,
    endTimeUnixNano: nano,
    attributes,
  };
  await fetch(`http://127.0.0.1:${port}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: 'test' }, spans: [span] }] }] }),
  });
}

test('experiment run --url: posts each input with its trace, and waits for spans that come after the answer', async () => {
  const place = workplace();
  const port = await freePort();
  const { url, asked } = await runningAgent(port);
  const dataset = place.file(
    'dataset.yaml',
    '- { id: text, input: hello }\n- { id: object, input: { q: 1 } }\n- { id: refused, input: teapot }\n',
  );
  const output = join(place.folder, 'result.json');
  const { code } = await place.tracejury([
    'experiment',
    'run',
    '--dataset',
    dataset,
    '--name',
    'n',
    '--url',
    url,
    '--port',
    String(port),
    '--output',
    output,
  ]);
  expect(code).toBe(1);
  expect(new Set(asked.map(({ body }) => body))).toEqual(new Set(['{"input":"hello"}', '{"q":1}', '{"input":"teapot"}']));
  for (const { headers } of asked) {
    expect(headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(headers['baggage']).toMatch(
      /tracejury\.experiment\.id=n-[^,]+,tracejury\.example\.id=(?:text|object|refused),tracejury\.example\.repeat=1/,
    );
  }
  const read = readExperimentFile(parseJson(readFileSync(output, 'utf8')) ?? null);
  if (typeof read === 'string') throw new Error(read);
  expect(new Map(read.results.map(({ exampleId, agent, error }) => [exampleId, error?.kind ?? agent.agent]))).toEqual(
    new Map([
      ['text', 'server'],
      ['object', 'server'],
      ['refused', 'http_status'],
    ]),
  );
});

test('experiment run --url: an agent that cannot be reached is the reason of each example', async () => {
  const place = workplace();
  const dataset = place.file('dataset.yaml', '- { id: one, input: hello }\n');
  const { code, out } = await place.tracejury([
    'experiment',
    'run',
    '--dataset',
    dataset,
    '--name',
    'n',
    '--url',
    `http://127.0.0.1:${await freePort()}`,
  ]);
  expect([code, out]).toEqual([1, expect.stringContaining('cannot be reached (ECONNREFUSED)')]);
});
