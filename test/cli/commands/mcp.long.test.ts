/** `tracejury mcp` as a process, used by the official client over standard input and output. */
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonText } from '../../../src/model/json.ts';
import { eventually, running, sendAgentRun, type Running } from '../../service/running.ts';
import { connected, type Connected, rows } from '../../web/mcp/client.ts';

const program = join(import.meta.dirname, '../../../bin/tracejury.cjs');
const tokens = [
  { name: 'reader', value: 'reads-and-nothing-else', may: ['ingest', 'read'] },
  { name: 'ann', value: 'reads-and-annotates-too', may: ['read', 'annotate'] },
] as const;
let service: Running;

beforeAll(async () => {
  service = await running('evaluators: [ tool_error ]\n', { tokens: jsonText(tokens) });
  await sendAgentRun(service.otlp, { agent: 'support', fails: true, headers: { authorization: `Bearer ${tokens[0].value}` } });
});
afterAll(() => service.stop());

function overStdio(url: string, token: string): Promise<Connected> {
  const env = { PATH: process.env['PATH'] ?? '', TRACEJURY_TOKEN: token };
  return connected(new StdioClientTransport({ command: process.execPath, args: [program, 'mcp', '--url', url], env, stderr: 'pipe' }));
}

test('mcp command: an agent reads an issue and its run, and keeps the run as an example', async () => {
  const { call, client } = await overStdio(service.console, tokens[1].value);
  const issue = await eventually(async () => rows((await call('list_issues')).data['issues'])[0], 'an issue');
  const [run] = rows((await call('get_issue', { issue: issue['id'] ?? '' })).data['runs']);
  const key = { trace_id: run?.['trace_id'] ?? '', span_id: run?.['span_id'] ?? '', tenant: 'reader' };
  expect(rows((await call('get_run', key)).data['failing_calls'])[0]).toMatchObject({ name: 'notify' });
  expect((await call('add_example', { ...key, dataset: 'mails' })).data).toMatchObject({ added: 1 });
  expect((await call('resolve_issue', { issue: issue['id'] ?? '' })).data['issue']).toMatchObject({ state: 'resolved', changed_by: 'ann' });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('add_example');
  const many = await Promise.all(Array.from({ length: 40 }, () => call('list_runs')));
  expect(many.filter(({ isError }) => isError)).toEqual([]);
});

test('mcp command: a token that only reads lists no tools that write, and changes nothing', async () => {
  const { call, client } = await overStdio(service.console, tokens[0].value);
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('add_example');
  expect((await call('add_example', { dataset: 'd', example: { id: '1', input: 'x' } })).isError).toBe(true);
});

test('mcp command: a service that is away, and a token that it does not know, are errors that say what to do', async () => {
  await expect(overStdio('http://127.0.0.1:9', tokens[1].value)).rejects.toThrow(/does not answer .* Start the service/);
  await expect(overStdio(service.console, 'unknown-token-of-no-one')).rejects.toThrow(/no token that may read/);
});
