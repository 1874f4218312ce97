/** A service with a judge, a backend and a budget, under the traffic of the demonstration, and a Prometheus that scrapes it and has the alert rules. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ended } from '../ended-process.ts';
import { freePort } from '../builders/free-port.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { otlpSink } from '../exporters/otlp-sink.ts';
import { serviceFolder, type ServiceProcess } from '../service/process.ts';
import { eventually } from '../service/running.ts';
import { answeringJudge } from './answering-judge.ts';

export interface World {
  readonly service: ServiceProcess;
  /** Base URL of Prometheus. */
  readonly prometheus: string;
  /** Sends a simulated day. */
  demo(seed: number): Promise<void>;
  close(): Promise<void>;
}

const root = join(import.meta.dirname, '../..');
const evaluator = 'courtesy';
const queue = 'courtesy-labels';

export async function world(): Promise<World> {
  const folder = serviceFolder();
  const [judge, sink] = [await answeringJudge(), await otlpSink()];
  writeFileSync(
    join(folder.path, 'fixed.jsonl'),
    '{"input": "Book a room.", "final_response": "Booked."}\n{"input": "And a flight?", "final_response": "No."}\n',
  );
  folder.configure(configuration(judge.baseUrl, sink.url));
  const service = await folder.start();
  const prometheus = await started(folder.path, new URL(service.console).host);
  return {
    service,
    prometheus: prometheus.url,
    demo: (seed) => demonstration(service, seed),
    async close() {
      await ended(prometheus.child);
      await folder.remove();
      await Promise.all([judge.close(), sink.close()]);
    },
  };
}

function configuration(judgeUrl: string, backend: string): string {
  const price = '{ input_per_million: 1, output_per_million: 2 }';
  return `judges:
  main: { base_url: "${judgeUrl}", model: m-1, concurrency: 4, price: ${price}, budget: { usd_per_day: 5 } }
evaluators:
  - tool_error
  - tool_call_validity
  - final_response_present
  - { use: custom_judge, name: ${evaluator}, judge: main, options: { template: "Is {{final_response}} polite?", labels: { polite: 1, rude: 0 } }, sample: { rate: 0.8 }, drift: { dataset: fixed.jsonl, every: 10m } }
prices: { gpt-4o-mini: ${price}, claude-sonnet-4: ${price}, claude-haiku-4: ${price}, gpt-5-mini: ${price} }
queues: [ { name: ${queue}, ask: [ { evaluator: ${evaluator} } ], people: 1, random: 1 } ]
groups: { task_key: input }
export: [ { to: span_events, endpoint: "${backend}" } ]
`;
}

async function started(folder: string, target: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const file = join(folder, 'prometheus.yaml');
  const rules = join(root, 'docs/reference/alerts.yaml');
  writeFileSync(
    file,
    `global: { scrape_interval: 1s, evaluation_interval: 2s }\nscrape_configs: [ { job_name: tracejury, static_configs: [ { targets: ["${target}"] } ] } ]\nrule_files: [ "${rules}" ]\n`,
  );
  const port = await freePort();
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'prometheus')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--enable-feature=exemplar-storage',
    '--log.level=error',
  ];
  const child = spawn('prometheus', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  await Promise.race([
    once(child, 'spawn'),
    once(child, 'error').then(([error]) => Promise.reject(new Error(`${String(error)}: install Prometheus.`))),
  ]);
  return { child, url: `http://127.0.0.1:${port}` };
}

async function demonstration({ otlp, console: page }: ServiceProcess, seed: number): Promise<void> {
  const child = spawn(
    process.execPath,
    [join(root, 'src/cli/main.ts'), 'demo', '--endpoint', otlp, '--console', page, '--runs', '200', '--seed', String(seed)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the demonstration ended with ${code ?? 'a signal'}`);
}

/** A run of one task, and a call of a tool that comes when the run has long been scored. */
export async function runWithLateSpan(service: ServiceProcess, trace: number): Promise<void> {
  const agent = agentSpan({ id: 1, trace, start: 0, end: 9, agent: 'late-agent', input: 'Where is it?', output: 'There.' });
  const call = (id: number) =>
    toolSpan({ id, parent: 1, trace, start: id, end: id + 1, call: `c${id}`, tool: 'find', arguments: '{"x":1}', result: 'there' });
  const counted = async (): Promise<number> => (await service.runs()).filter(({ agent: name }) => name === 'late-agent').length;
  const before = await counted();
  await service.send([call(2), agent]);
  await eventually(async () => ((await counted()) > before ? true : undefined), 'the run of the task');
  await service.send([call(3)]);
}

interface Leased {
  readonly item: { readonly id: number; readonly lease: { readonly id: string } } | null;
}

/** A person's answers about runs that the queue draws from those that the judge sees. */
export async function annotate({ console: page }: ServiceProcess, runs: number): Promise<void> {
  const posted = async (path: string, body: object): Promise<unknown> => {
    const answer = await fetch(`${page}/api/v1/queues/${queue}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ person: 'ann', ...body }),
    });
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
    return await answer.json();
  };
  for (let said = 0; said < runs; said++) {
    const { id, lease } = await eventually(async () => ((await posted('next', {})) as Leased).item ?? undefined, 'a drawn run');
    await posted('answers', { item: id, lease: lease.id, answers: [{ name: evaluator, value: said % 4 > 0 ? 'pass' : 'fail' }] });
  }
}
