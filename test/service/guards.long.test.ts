/** A run that is too large for an evaluator that guards is news, in the process that scored it and in the next one. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { serviceFolder, type ServiceFolder } from './process.ts';
import { eventually } from './running.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

interface Told {
  readonly data: { readonly runs: readonly { readonly verdicts: readonly { readonly name: string; readonly reason: string }[] }[] };
}

async function receiver(port = 0): Promise<{ readonly port: number; readonly bodies: Told[] }> {
  const bodies: Told[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()) as Told);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  open.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return { port: (server.address() as AddressInfo).port, bodies };
}

function folder(): ServiceFolder {
  const own = serviceFolder();
  open.push(() => own.remove());
  return own;
}

/** Names and patterns that are more work to compare than one run may take. */
const names = Array.from({ length: 150 }, (_, at) => `t${at}${'x'.repeat(450)}`);
const spans = [
  ...names.map((tool, at) =>
    toolSpan({ id: at + 2, parent: 1, trace: 1, start: at + 1, end: at + 2, call: `c${at}`, tool, arguments: '{}', result: 'ok' }),
  ),
  agentSpan({ id: 1, trace: 1, start: 0, end: 100, agent: 'finder', input: 'where?', output: 'there' }),
];
const config = (port: number): string => `evaluators:
  - { use: tool_permission, options: { deny: [${Array.from({ length: 900 }, (_, at) => `"d${at}*"`).join(', ')}] } }
export: [ { to: webhook, endpoint: "http://127.0.0.1:${port}/in", private_addresses: true, secret: "a-secret-of-twenty-four-bytes-or-more" } ]
`;

const verdictsOf = (bodies: readonly Told[]) =>
  bodies.flatMap(({ data }) => data.runs.flatMap(({ verdicts }) => verdicts.map(({ name, reason }) => [name, reason])));

test('guards: a webhook reports a run that is too large for a rule that guards', async () => {
  const own = folder();
  const { port, bodies } = await receiver();
  own.configure(config(port));
  const service = await own.start();
  expect(await service.send(spans)).toBe(200);
  await eventually(() => (bodies.length > 0 ? true : undefined), 'a message');
  expect(verdictsOf(bodies)).toEqual([['tool_permission', 'too_large']]);
});

test('guards: such a run that waits for its webhook is reported by the next process', async () => {
  const own = folder();
  const port = await freePort();
  own.configure(config(port));
  const first = await own.start();
  expect(await first.send(spans)).toBe(200);
  await eventually(async () => ((await first.runs()).length === 1 ? true : undefined), 'the stored run');
  await first.end('SIGKILL');
  const { bodies } = await receiver(port);
  await own.start();
  await eventually(() => (bodies.length > 0 ? true : undefined), 'a message');
  expect(verdictsOf(bodies)).toEqual([['tool_permission', 'too_large']]);
});
