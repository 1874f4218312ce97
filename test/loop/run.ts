/**
 * `npm run check -- loop`: the way from failed runs in production to a gate and back, with a real Pydantic AI agent against a scripted model, over
 * only the command line and the API. The last line is `N passed, M failed`.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { freePort } from '../builders/free-port.ts';
import { pythonWithAgents } from '../pytest/environment.ts';
import { eventually } from '../service/running.ts';
import { serviceFolder } from '../service/process.ts';

const here = import.meta.dirname;
const python = pythonWithAgents();
const folder = serviceFolder();
const config = join(folder.path, 'tracejury.yaml');
const children: ChildProcess[] = [];
const patience = { everyMs: 200, looksMax: 600 };
let [passed, failed] = [0, 0];

/** Requests of one day: 8 % of them are of a kind that version 1.0 gets wrong. */
const dayRuns = 300;
const wrongRuns = 24;
/** Kept as examples: failed runs, and runs that passed. */
const kept = { failed: 12, passed: 24 } as const;
const everything = (nth: number): string =>
  `Order A-1042: please refund everything, case ${nth}${nth === wrongRuns - 1 ? ', as a voucher' : ''}.`;
const plain = (nth: number): string =>
  `Order A-1042: please refund ${10 + (nth % 60)}.5${nth % 2 === 0 ? ' for postage' : ''}, case ${nth}.`;
const isWrong = (nth: number): boolean => nth % 12 === 5 && Math.floor(nth / 12) < wrongRuns;
const day = Array.from({ length: dayRuns }, (_, nth) => (isWrong(nth) ? everything(Math.floor(nth / 12)) : plain(nth)));

try {
  folder.configure('evaluators: [ defaults, tool_trajectory ]');
  const model = await addressOf([join(here, 'agent/model_server.py')]);
  const service = await folder.start();

  say('production: version 1.0 answers a day of requests');
  traffic('1.0', day, { MODEL_SERVER: model, OTEL_EXPORTER_OTLP_ENDPOINT: service.otlp });
  await eventually(async () => ((await service.runs()).length === dayRuns ? true : undefined), 'all runs are stored', patience);

  const tools = await json(`${service.console}/api/v1/tools`);
  const refunds = (tools['tools'] as readonly Tool[]).find(({ name }) => name === 'refund_order');
  check('the API shows which tool fails, and how often', refunds?.errors === wrongRuns, refunds);
  const summary = await json(`${service.console}/api/v1/summary?agent=refund-agent`);
  const failures = (summary['summary'] as readonly SummaryRow[]).filter(({ name, verdict }) => name === 'tool_error' && verdict === 'fail');
  check('the API shows how many runs failed', failures.reduce((sum, { count }) => sum + count, 0) === wrongRuns, summary);

  say('failed runs become examples by one command');
  const where = ['--where', 'agent=refund-agent evaluator=tool_error verdict=fail', '--limit', String(kept.failed), '--distinct'];
  const added = tracejury(['dataset', 'add', 'refunds', ...where, '-c', config]);
  check('one command makes examples of the failed runs', added.status === 0, added);
  tracejury([
    'dataset',
    'add',
    'refunds',
    '--where',
    'agent=refund-agent evaluator=tool_error verdict=pass',
    '--limit',
    String(kept.passed),
    '-c',
    config,
  ]);

  say('a person edits the expectations');
  const file = join(folder.path, 'refunds.yaml');
  tracejury(['dataset', 'export', 'refunds', '--output', file, '-c', config]);
  const examples = parse(readFileSync(file, 'utf8')) as Example[];
  check('as many examples as were asked for', examples.length === kept.failed + kept.passed, examples.length);
  writeFileSync(file, stringify(examples.map(edited)));
  const imported = tracejury(['dataset', 'import', file, '--from', 'tracejury', '--to', 'refunds', '-c', config]);
  check('the edited file makes a version', imported.status === 0, imported);

  say('every version of the agent runs over the dataset');
  for (const version of ['1.0', '1.1', '1.2']) {
    const run = await experiment(version, model);
    check(`version ${version} runs over all examples`, run.stdout.includes(String(kept.failed + kept.passed)), run);
  }
  const fixed = tracejury(['experiment', 'compare', 'v1.0', 'v1.1', '--fail-on-regression', '--format', 'json', '-c', config]);
  check('the gate is green for the fix', fixed.status === 0, fixed);
  const better = (JSON.parse(fixed.stdout) as { readonly evaluators: readonly Compared[] }).evaluators.find(
    ({ name }) => name === 'tool_error',
  );
  check('the interval of the difference excludes zero', (better?.difference.low ?? 0) > 0 && better?.result === 'better', better);
  check('all failed examples but one changed', better?.flipped_count === kept.failed - 1, better);
  const broken = tracejury(['experiment', 'compare', 'v1.1', 'v1.2', '--fail-on-regression', '--format', 'markdown', '-c', config]);
  check('the gate is red for the second fix', broken.status === 1, broken);
  check('the gate names a broken example', broken.stdout.includes('postage'), broken);

  say('production: version 1.1 answers the same requests');
  traffic('1.1', [...day, ...day], { MODEL_SERVER: model, OTEL_EXPORTER_OTLP_ENDPOINT: service.otlp });
  const compared = await eventually(
    async () => {
      const found = await json(`${service.console}/api/v1/versions?agent=refund-agent`);
      return JSON.stringify(found).includes(`"runs":${2 * dayRuns}`) ? found : undefined;
    },
    'the versions are compared',
    patience,
  );
  const { evaluators } = compared['comparison'] as { readonly evaluators: readonly ComparedVersion[] };
  const held = evaluators.find(({ name }) => name === 'tool_error');
  check('production shows that the fix held', held?.word === 'better' && held.difference.low > 0, held);
} finally {
  for (const child of children) child.kill();
  await folder.remove();
}
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

interface Tool {
  readonly name: string;
  readonly errors: number;
}

interface SummaryRow {
  readonly name: string;
  readonly verdict: string;
  readonly count: number;
}

interface Compared {
  readonly name: string;
  readonly result: string;
  readonly difference: { readonly low: number };
  readonly flipped_count: number;
}

interface ComparedVersion {
  readonly name: string;
  readonly word: string;
  readonly difference: { readonly low: number };
}

interface Example {
  readonly input: string;
  readonly expect?: object;
}

/** The calls that the agent should have made. */
function edited(example: Example): object {
  const text = JSON.stringify(example.input);
  const amount = text.includes('everything') ? 79.9 : Number(/refund (\d+(?:\.\d+)?)/.exec(text)?.[1]);
  return {
    ...example,
    review: 'reviewed',
    expect: {
      tool_calls: [
        { name: 'find_order', arguments: { order_id: 'A-1042' } },
        { name: 'refund_order', arguments: { order_id: 'A-1042', amount } },
      ],
    },
  };
}

async function experiment(version: string, model: string): Promise<Ended> {
  const port = await freePort();
  const url = await addressOf([join(here, 'agent/refund_agent.py'), 'serve'], {
    AGENT_VERSION: version,
    OTEL_RESOURCE_ATTRIBUTES: `service.version=${version}`,
    MODEL_SERVER: model,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  });
  return tracejury([
    'experiment',
    'run',
    '--dataset',
    'refunds',
    '--name',
    `v${version}`,
    '--url',
    url,
    '--port',
    String(port),
    '-c',
    config,
  ]);
}

/** The address that a Python program prints when it listens. */
async function addressOf(args: readonly string[], env: { readonly [name: string]: string } = {}): Promise<string> {
  const child = spawn(python, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  children.push(child);
  return await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
  });
}

function traffic(version: string, texts: readonly string[], env: { readonly [name: string]: string }): void {
  const { status } = spawnSync(python, [join(here, 'agent/refund_agent.py'), 'traffic'], {
    input: texts.join('\n'),
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, ...env, AGENT_VERSION: version, OTEL_RESOURCE_ATTRIBUTES: `service.version=${version}` },
  });
  if (status !== 0) throw new Error(`the agent ended with ${status}`);
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function tracejury(words: readonly string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(here, '../../src/cli/main.ts'), ...words], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

async function json(url: string): Promise<{ readonly [key: string]: unknown }> {
  return (await (await fetch(url)).json()) as { readonly [key: string]: unknown };
}

function check(name: string, holds: boolean, shown: unknown): void {
  if (holds) passed++;
  else failed++;
  say(holds ? `ok: ${name}` : `FAILED: ${name}\n${typeof shown === 'string' ? shown : JSON.stringify(shown, undefined, 1)}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
