/**
 * An agent as a separate process, without an SDK. Its input chooses what it does: `crash`, `silent`, `slow`, `loud`, `child`, `bad`, `outage`, `own trace`,
 * `orphan`, or `wait` for AGENT_WAIT_MS (default 40). It writes a line to the file of AGENT_LOG for each start.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const input = readFileSync(0, 'utf8');
const { env } = process;
const [, given = '', parent = ''] = (env['TRACEPARENT'] ?? '').split('-');
if (env['AGENT_LOG'] !== undefined) appendFileSync(env['AGENT_LOG'], `${JSON.stringify([input, env['TRACEJURY_INPUT'] ?? null])}\n`);
if (input.includes('child')) {
  const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'inherit' });
  appendFileSync(env['AGENT_LOG'] ?? '/dev/null', `${JSON.stringify(['pid', pid])}\n`);
}
if (input.includes('loud')) for (let at = 0; at < 300; at++) process.stdout.write('x'.repeat(100_000));
if (input.includes('slow')) await sleep(60_000);
if (input.includes('wait')) await sleep(Number(env['AGENT_WAIT_MS'] ?? 40));
if (!input.includes('silent') && !input.includes('crash')) await send();
if (input.includes('crash')) {
  process.stderr.write('the agent has crashed\n');
  process.exitCode = 3;
}

type Attributes = { readonly [key: string]: string };

function attributes(of: Attributes): readonly object[] {
  return Object.entries(of).map(([key, value]) => ({ key, value: { stringValue: value } }));
}

async function send(): Promise<void> {
  const isOwn = input.includes('own trace');
  const traceId = isOwn ? randomBytes(16).toString('hex') : given;
  const start = BigInt(Date.now()) * 1_000_000n;
  const root = randomBytes(8).toString('hex');
  const span = (name: string, spanId: string, parentSpanId: string, own: Attributes, more: object = {}): object => ({
    traceId,
    spanId,
    parentSpanId,
    name,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 5_000_000n),
    attributes: attributes(own),
    ...more,
  });
  const resource = Object.fromEntries(
    (env['OTEL_RESOURCE_ATTRIBUTES'] ?? '').split(',').map((pair) => {
      const [key = '', value = ''] = pair.split('=');
      return [key, decodeURIComponent(value)] as const;
    }),
  );
  const spans = input.includes('orphan')
    ? [span('GET /health', root, '', { 'http.request.method': 'GET' })]
    : [
        span(
          'invoke_agent helper',
          root,
          isOwn ? '' : parent,
          {
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.agent.name': 'helper',
            'gen_ai.request.model': 'gpt-5-mini',
            'gen_ai.system_instructions': '[{"type":"text","content":"Help."}]',
          },
          input.includes('outage') ? { status: { code: 2, message: '503 the model is overloaded' } } : {},
        ),
        span(
          'execute_tool find',
          randomBytes(8).toString('hex'),
          root,
          {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': 'find',
            'gen_ai.tool.call.arguments': '{"q":1}',
            'gen_ai.tool.call.result': '"found"',
          },
          input.includes('bad') ? { status: { code: 2, message: 'not found' } } : {},
        ),
      ];
  const answer = await fetch(`${env['OTEL_EXPORTER_OTLP_ENDPOINT']}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: attributes({ 'service.name': 'helper', 'service.version': '2.1', ...(isOwn ? resource : {}) }) },
          scopeSpans: [{ scope: { name: 'test' }, spans }],
        },
      ],
    }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}
