/** An agent that ends with the exit code 0 although its provider refused the request. MODE names the spans that show it. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

const { env } = process;
const input = readFileSync(0, 'utf8');
const [, traceId = '', parentSpanId = ''] = (env['TRACEPARENT'] ?? '').split('-');
const resource = (env['OTEL_RESOURCE_ATTRIBUTES'] ?? '').split(',').map((pair) => pair.split('=').map(decodeURIComponent));
const mode = input.includes('two') ? (env['MODE'] ?? 'fine') : 'fine';
const start = BigInt(Date.now()) * 1_000_000n;
const refusal = { code: 2, message: 'Error code: 400 - You have reached your specified API usage limits.' };
const root = randomBytes(8).toString('hex');

function attributes(of: { readonly [key: string]: string }): readonly object[] {
  return Object.entries(of).map(([key, value]) => ({ key, value: { stringValue: value } }));
}

function message(role: string, content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
}

function span(at: number, own: { readonly [key: string]: string }, more: object = {}): object {
  return {
    traceId,
    spanId: at === 0 ? root : randomBytes(8).toString('hex'),
    parentSpanId: at === 0 ? parentSpanId : root,
    name: own['gen_ai.operation.name'],
    startTimeUnixNano: String(start + BigInt(at) * 1_000_000n),
    endTimeUnixNano: String(start + (at === 0 ? 10_000_000n : BigInt(at + 1) * 1_000_000n)),
    attributes: attributes(own),
    ...more,
  };
}

const isAnswered = mode === 'fine' || mode === 'recovered';
const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' };
const answer = { 'gen_ai.output.messages': message('assistant', 'done') };
const requests: { readonly [mode: string]: readonly object[] } = {
  fine: [span(1, { ...chat, ...answer })],
  model: [span(1, chat, { status: refusal })],
  root: [span(1, chat, { status: refusal })],
  later_request: [span(1, { ...chat, ...answer }), span(2, chat, { status: refusal })],
  error_type: [span(1, { ...chat, 'error.type': 'BadRequestError' }, { status: { code: 2 } })],
  finish_reason: [
    span(1, {
      ...chat,
      'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [], finish_reason: 'error' }]),
    }),
  ],
  recovered: [span(1, chat, { status: refusal }), span(2, { ...chat, ...answer })],
};
const agent = {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': 'exp',
  'gen_ai.input.messages': message('user', input),
  ...(isAnswered ? answer : {}),
};
const spans = [span(0, agent, mode === 'root' ? { status: refusal } : {}), ...(requests[mode] ?? [])];
await fetch(`${env['OTEL_EXPORTER_OTLP_ENDPOINT']}/v1/traces`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    resourceSpans: [
      { resource: { attributes: attributes(Object.fromEntries(resource) as { readonly [key: string]: string }) }, scopeSpans: [{ spans }] },
    ],
  }),
});
