/**
 * `npm run check -- pytest`: the example for pytest, with real agents of three Python SDKs against a scripted model, in a
 * virtual environment with the packages of `requirements.txt`. The last line is `N passed, M failed`.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonWithAgents } from './environment.ts';

const here = import.meta.dirname;
const root = join(here, '../..');
const agents = ['openai_loop', 'pydantic_agent', 'langchain_agent'] as const;
const folder = mkdtempSync(join(tmpdir(), 'tracejury-pytest-'));
let [passed, failed] = [0, 0];
let model: ChildProcess | undefined;
try {
  const python = pythonWithAgents();
  cpSync(join(here, 'agents'), folder, { recursive: true });
  cpSync(join(root, 'examples/pytest/conftest.py'), join(folder, 'conftest.py'));
  const [server, address] = await modelServer(python);
  model = server;
  for (const agent of agents)
    tally(agent, run(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--no-header'], { AGENT: agent, MODEL_SERVER: address }));
  // The same tests once more as one recorded command: none of them needs a service then, and the spans land in a file.
  const file = join(folder, 'spans.jsonl');
  const recorded = spawnSync(
    process.execPath,
    [
      join(root, 'src/cli/main.ts'),
      'record',
      '--output',
      file,
      '--',
      python,
      '-c',
      'import pydantic_agent; pydantic_agent.answer("Please refund 39.95.", 39.95); pydantic_agent.tools.provider.shutdown()',
    ],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, MODEL_SERVER: address } },
  );
  check('record writes the run of a Python agent', recorded.status === 0 && recorded.stderr.includes('1 agent run'), recorded.stderr);
  // And as an experiment: the question comes from the dataset, the spans go to the runner, and the calls are as expected.
  const dataset = join(folder, 'dataset.yaml');
  const expected = 'expect: { tool_calls: [ { name: find_order }, { name: refund_order } ] }';
  writeFileSync(dataset, `- { id: refund, input: Please refund 39.95., ${expected} }\n`);
  const answered = 'import sys, pydantic_agent; pydantic_agent.answer(sys.stdin.read(), 39.95); pydantic_agent.tools.provider.shutdown()';
  const words = ['experiment', 'run', '--dataset', dataset, '--name', 'pydantic', '--repeat', '2', '--concurrency', '2'];
  const tried = spawnSync(process.execPath, [join(root, 'src/cli/main.ts'), ...words, '--', python, '-c', answered], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, MODEL_SERVER: address },
  });
  check(
    'experiment scores the runs of a Python agent',
    tried.status === 0 && /tool_trajectory +2 +0/.test(tried.stdout),
    `${tried.stdout}${tried.stderr}`,
  );
} finally {
  model?.kill();
  rmSync(folder, { recursive: true });
}
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function modelServer(python: string): Promise<readonly [ChildProcess, string]> {
  const server = spawn(python, [join(here, 'model_server.py')], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`the scripted model ended with ${code}`)));
    server.stdout.once('data', (text: Buffer) => resolve([server, text.toString().trim()]));
  });
}

function run(python: string, args: readonly string[], env: { readonly [name: string]: string }): string {
  const { stdout, stderr } = spawnSync(python, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, TRACEJURY: `${process.execPath} ${join(root, 'src/cli/main.ts')}`, ...env },
  });
  return `${stdout}\n${stderr}`;
}

/** Counts by the last line of pytest. A session without tests is a failure. */
function tally(agent: string, output: string): void {
  const of = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(output)?.[1] ?? 0);
  const [good, bad] = [of('passed'), of('failed') + of('errors?')];
  passed += good;
  failed += good + bad === 0 ? 1 : bad;
  say(`${bad === 0 && good > 0 ? 'ok    ' : 'FAILED'}  ${agent}: ${good} passed, ${bad} failed`);
  if (bad > 0 || good === 0) say(output);
}

function check(name: string, holds: boolean, output: string): void {
  if (holds) passed++;
  else failed++;
  say(`${holds ? 'ok    ' : 'FAILED'}  ${name}`);
  if (!holds) say(output);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
