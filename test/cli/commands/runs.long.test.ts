/** `tracejury runs` over a SQLite store. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { failed, run, scored, scoredRun, skipped } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-runs-'));
const store = join(folder, 'store.db');
const configFile = join(folder, 'a.yaml');
writeFileSync(configFile, `store: { url: "sqlite:${store}" }\n`);
afterAll(() => rmSync(folder, { recursive: true }));

const ids = [1, 2, 3, 4].map((n) => traceId(n));
beforeAll(async () => {
  const open = await sqliteStore(store);
  const [ok, bad, broken, empty] = ids.map((id, nth) =>
    run({
      traceId: id,
      startUnixNano: 1_700_000_000_000_000_000n + BigInt(nth) * 1_000_000_000n,
      trace: agentTrace({ agent: nth === 1 ? 'refund\u001b[2J-agent' : 'order-agent', status: nth === 3 ? 'paused' : 'ok' }),
    }),
  );
  if (ok === undefined || bad === undefined || broken === undefined || empty === undefined) throw new Error('four runs');
  await open.write([
    scoredRun({ tool_error: scored(1), latency: scored(0.3, { threshold: null, passed: null, label: '' }) }, ok),
    scoredRun({ tool_error: scored(0, { explanation: '1 of 2 tool calls failed:\nrefund_order.' }) }, bad),
    scoredRun({ task_completion: failed() }, broken),
    scoredRun({ tool_error: skipped }, empty),
  ]);
  await open.stop();
});

async function runs(
  ...words: readonly string[]
): Promise<{ readonly code: number; readonly out: readonly string[]; readonly err: string }> {
  const [out, err] = [[] as string[], [] as string[]];
  const code = await runCommandLine({
    words: ['runs', '-c', configFile, ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out, err: err.join('\n') };
}

test('runs: shows the newest first, failed evaluators with their sentence, and marks a run without scores', async () => {
  const { code, out } = await runs();
  expect(code).toBe(0);
  expect(out.map((line) => line.slice(21))).toEqual([
    `⏸ order-agent                   nothing scored; run waits for a person or another program  ${ids[3]}/00000000000000a1`,
    `⚠ order-agent                   task_completion: The judge did not answer.  ${ids[2]}/00000000000000a1`,
    String.raw`✗ refund\u001b[2J-agent         tool_error: 1 of 2 tool calls failed: refund_order.  ` + `${ids[1]}/00000000000000a1`,
    `✓ order-agent                   1 passed; 1 measured  ${ids[0]}/00000000000000a1`,
  ]);
});

test('runs: a run that ended in an error states it once', async () => {
  const path = join(folder, 'error.db');
  const open = await sqliteStore(path);
  const crashed = run({ traceId: traceId(9), trace: agentTrace({ agent: 'order-agent', status: 'error' }) });
  await open.write([scoredRun({ run_error: scored(0, { explanation: 'The run ended in an error: killed.' }) }, crashed)]);
  await open.stop();
  writeFileSync(join(folder, 'error.yaml'), `store: { url: "sqlite:${path}" }\n`);
  const { out } = await runs('-c', join(folder, 'error.yaml'));
  expect(out.map((line) => line.slice(21))).toEqual([
    `✗ order-agent                   run_error: The run ended in an error: killed.  ${traceId(9)}/00000000000000a1`,
  ]);
});

test('runs: --fail, --agent and --limit narrow the list down', async () => {
  expect((await runs('--fail')).out).toHaveLength(1);
  expect((await runs('--agent', 'order-agent')).out).toHaveLength(3);
  expect(await runs('--agent', 'order-agent', '--fail')).toMatchObject({ code: 0, out: [], err: 'No stored run matches.' });
  expect((await runs('--limit', '1')).out).toHaveLength(1);
});

test('runs: --status lists runs that ended so, with their marks', async () => {
  expect((await runs('--status', 'paused')).out.map((line) => line.slice(21))).toEqual([
    `⏸ order-agent                   nothing scored; run waits for a person or another program  ${ids[3]}/00000000000000a1`,
  ]);
  expect((await runs('--where', 'status=error')).out.map((line) => line.slice(21, 60))).toEqual([]);
  expect(await runs('--status', 'crashed')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--status takes one of ok, error, paused.'),
  });
  expect(await runs('--status', 'ok', '--where', 'status=ok')).toMatchObject({
    code: 2,
    err: expect.stringContaining('both name a status'),
  });
});

test('runs: --where narrows the list down, and names nothing that another option names', async () => {
  expect((await runs('--where', 'evaluator=tool_error verdict=skipped')).out).toHaveLength(1);
  expect((await runs('--fail', '--where', 'agent=order-agent')).err).toBe('No stored run matches.');
  expect(await runs('--fail', '--where', 'verdict=pass')).toMatchObject({ code: 2, err: expect.stringContaining('both name a verdict') });
  expect(await runs('--agent', 'a', '--where', 'agent=b')).toMatchObject({ code: 2, err: expect.stringContaining('both name an agent') });
});

test('runs: --format json gives one object a line, as the API has it', async () => {
  const { out } = await runs('--format', 'json', '--fail');
  expect(JSON.parse(out[0] ?? '')).toMatchObject({ trace_id: ids[1], verdicts: [{ name: 'tool_error', passed: false }] });
});

test('runs: --follow shows what is there, oldest first, then a run that is stored meanwhile, until a signal', async () => {
  const child = execFile(process.execPath, [join(import.meta.dirname, '../../../src/cli/main.ts'), 'runs', '--follow', '-c', configFile]);
  let said = '';
  child.stdout?.on('data', (text: string) => void (said += text));
  const until = async (text: string): Promise<void> => {
    while (!said.includes(text)) await new Promise((resolve) => child.stdout?.once('data', resolve));
  };
  await until(`${ids[3]}/`);
  expect(
    said
      .split('\n')
      .slice(0, 4)
      .map((line) => line.slice(-49, -17)),
  ).toEqual(ids);
  const open = await sqliteStore(store);
  const late = traceId(9);
  await open.write([scoredRun({ tool_error: scored(1) }, run({ traceId: late, startUnixNano: 1_700_000_100_000_000_000n }))]);
  await open.stop();
  await until(`${late}/`);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  expect(await ended).toBe(0);
});

test('runs: a store that does not exist is named, and so is one that no other process can read', async () => {
  writeFileSync(join(folder, 'none.yaml'), `store: { url: "sqlite:${join(folder, 'none.db')}" }\n`);
  writeFileSync(join(folder, 'memory.yaml'), 'store: { url: "memory:" }\n');
  expect(await runs('-c', join(folder, 'none.yaml'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is no store at') as string,
  });
  expect(await runs('-c', join(folder, 'memory.yaml'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('only its own process can read') as string,
  });
  expect(await runs('--limit', '0')).toMatchObject({ code: 2 });
});
