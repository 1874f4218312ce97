/** A service in a separate process, filled through OTLP: the world that the browser tests look at. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Span } from '../../../src/model/span.ts';
import { answeringJudge } from '../../dashboard/answering-judge.ts';
import { eventually, sample } from '../../service/running.ts';
import { serviceFolder, type ServiceProcess } from '../../service/process.ts';
import type { Places, RunAddress } from './addresses.ts';
import { pricePerMillion, spansOfStory } from './runs/agent-run.ts';
import { hourMs, largeAgent, largeSpans, largeStory, refundAgent, sentStories, session } from './runs/stories.ts';

export interface World {
  readonly service: ServiceProcess;
  /** Base URL of the console. */
  readonly console: string;
  readonly folder: string;
  readonly places: Places;
  /** Ids of the newest run of each agent. */
  runOf(agent: string): RunAddress;
  close(): Promise<void>;
}

/** The judge of the world asks about every run. */
export const judged = 'courtesy';
export const dataset = 'refunds';
/** Failed runs of the refund agent, for two people. */
export const queue = 'review';
/** Fires for the refund agent. */
export const alert = 'tools-fail';
const demoRuns = 60;
const patience = { everyMs: 100, looksMax: 3_000 } as const;
const main = join(import.meta.dirname, '../../../src/cli/main.ts');

/** Builds the console when it is missing or older than its sources, as `npm start` does. */
export function builtConsole(): void {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, '../../../src/cli/console/main.ts'), '--when-stale'], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the console cannot be built');
}

export interface WorldOptions {
  /** Adds the simulated day of the demonstration. */
  readonly demo: boolean;
  /** With a run of 5,000 spans. */
  readonly large: boolean;
  /** Adds two experiments on one dataset. */
  readonly experiments: boolean;
  /** The configuration names no folder of this machine. */
  readonly isRelative?: boolean;
}

export async function filledWorld({ demo, large, experiments, isRelative = false }: WorldOptions): Promise<World> {
  builtConsole();
  const [folder, judge] = [serviceFolder({ isRelative }), await answeringJudge()];
  const close = async (): Promise<void> => {
    await folder.remove();
    await judge.close();
  };
  try {
    folder.configure(configuration(judge.baseUrl));
    const service = await folder.start();
    const startMs = Date.now();
    const stories = sentStories();
    const spans = stories.map(({ story, agoMs }, nth) => spansOfStory(story, { trace: nth + 1, startMs: startMs - agoMs }));
    await sent(service, spans);
    if (large)
      await sentSlowly(service, spansOfStory(largeStory(largeSpans), { trace: stories.length + 1, startMs: startMs - 2 * hourMs }));
    if (demo) await demonstration(service);
    const agents = new Set([...stories.map(({ story }) => story.agent), ...(large ? [largeAgent] : [])]);
    const runs = await scoredRuns(service, stories.length);
    const addresses = new Map([...agents].map((agent) => [agent, addressOf(runs, agent)]));
    await keep(service, runs);
    await eventually(() => isCounted(service), 'the figures have all runs', patience);
    const compares = experiments ? await compared(service, folder.path) : undefined;
    const runOf = (agent: string): RunAddress => {
      const found = addresses.get(agent);
      if (found === undefined) throw new Error(`no run of ${agent}`);
      return found;
    };
    return {
      service,
      console: service.console,
      folder: folder.path,
      places: {
        run: runOf(refundAgent),
        agent: refundAgent,
        session,
        issue: await issueOf(service, refundAgent),
        dataset,
        queue,
        ...(compares === undefined ? {} : { experiments: compares }),
      },
      runOf,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function configuration(judgeUrl: string): string {
  const price = `{ input_per_million: ${pricePerMillion.input}, output_per_million: ${pricePerMillion.output} }`;
  return `judges:
  main: { base_url: "${judgeUrl}", model: judge-model, concurrency: 4, price: ${price}, budget: { usd_per_day: 5 } }
evaluators:
  - defaults
  - { use: custom_judge, name: ${judged}, judge: main, options: { template: "Is {{final_response}} polite?", labels: { polite: 1, rude: 0 } }, sample: { rate: 1 } }
prices: { gpt-4o-mini: ${price}, gpt-5-mini: ${price}, claude-sonnet-4: ${price}, claude-haiku-4: ${price} }
groups: { task_key: input }
alerts:
  - { name: ${alert}, when: tool_error.rate < 99.9% over 7d, agent: ${refundAgent}, min_runs: 1, estimate: point }
  - { name: costly, when: cost per run > 1000 over 7d, agent: ${refundAgent}, min_runs: 1 }
  - { name: rare, when: run errors > 5% over 7d, agent: an-agent-without-runs }
queues:
  - { name: ${queue}, when: "agent = ${refundAgent} and tool_error < 1", ask: [ { evaluator: ${judged} }, { label: tone, values: [ good, bad ] } ], people: 2 }
`;
}

/** Traces of one request. */
const tracesPerRequest = 12;

/** Sends whole traces, and never more than the service takes at its ease: what it scores in a hurry it does not judge, and keeps no content of. */
export async function sent(service: ServiceProcess, traces: readonly (readonly Span[])[]): Promise<void> {
  for (let at = 0; at < traces.length; at += tracesPerRequest) {
    await eventually(
      async () => (sample(await service.metrics(), 'tracejury_stress_level') === 0 ? true : undefined),
      'the service is calm',
      patience,
    );
    const status = await service.send(traces.slice(at, at + tracesPerRequest).flat());
    if (status === 429) at -= tracesPerRequest;
    else if (status !== 200) throw new Error(`the service answered ${status ?? 'nothing'} to the spans`);
  }
}

const slowly = { spans: 250, pauseMs: 60, triesMax: 100 } as const;

/** As an agent sends a long run: at once it would be a flood, which the service may score without content. */
export async function sentSlowly(service: Pick<ServiceProcess, 'send'>, spans: readonly Span[]): Promise<void> {
  let tries = 0;
  for (let at = 0; at < spans.length;) {
    if ((await service.send(spans.slice(at, at + slowly.spans))) === 200) at += slowly.spans;
    else if (++tries > slowly.triesMax) throw new Error('the service refuses the spans of the large run');
    await pause(slowly.pauseMs);
  }
}

async function demonstration({ otlp, console: page }: ServiceProcess): Promise<void> {
  const words = ['demo', '--endpoint', otlp, '--console', page, '--runs', String(demoRuns)];
  const child = spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the demonstration ended with ${code ?? 'a signal'}`);
}

interface ApiRun {
  readonly trace_id: string;
  readonly span_id: string;
  readonly agent: string | null;
  readonly verdicts: readonly { readonly name: string; readonly passed: boolean | null }[];
}

/** All outermost runs, once each has a verdict of the judge or a decision with the reason: a busy machine leaves judges out. */
async function scoredRuns(service: ServiceProcess, atLeast: number): Promise<readonly ApiRun[]> {
  const isDecided = async ({ trace_id }: ApiRun): Promise<boolean> => {
    const answer = await fetch(`${service.console}/api/v1/decisions/${trace_id}`);
    const { decisions } = (await answer.json()) as { readonly decisions: readonly { readonly name: string }[] };
    return decisions.some(({ name }) => name === judged);
  };
  return await eventually(
    async () => {
      const runs = (await service.runs()) as unknown as readonly ApiRun[];
      if (runs.length < atLeast) return undefined;
      for (const run of runs.filter((one) => !isJudged(one))) if (!(await isDecided(run))) return undefined;
      return runs;
    },
    'all runs are stored and judged',
    patience,
  );
}

/** The service counts changed runs step by step. */
async function isCounted({ console: page }: ServiceProcess): Promise<true | undefined> {
  const { whole } = (await (await fetch(`${page}/api/v1/overview`)).json()) as { readonly whole: boolean };
  return whole ? true : undefined;
}

/** The first issue of the agent. */
async function issueOf({ console: page }: ServiceProcess, agent: string): Promise<string> {
  const { issues } = (await (await fetch(`${page}/api/v1/issues?agent=${agent}`)).json()) as {
    readonly issues: readonly { readonly id: string }[];
  };
  const [first] = issues;
  if (first === undefined) throw new Error(`no issue of ${agent}`);
  return first.id;
}

function isJudged({ verdicts }: ApiRun): boolean {
  return verdicts.some(({ name }) => name === judged);
}

function addressOf(runs: readonly ApiRun[], agent: string): RunAddress {
  const own = runs.filter((run) => run.agent === agent);
  const found = own.find(isJudged) ?? own[0];
  if (found === undefined) throw new Error(`no run of ${agent}`);
  return { trace: found.trace_id, span: found.span_id };
}

const annotatedRuns = 20;
const keptRuns = 8;

/** The work that people leave behind: annotations and a dataset. */
async function keep({ console: page }: ServiceProcess, runs: readonly ApiRun[]): Promise<void> {
  const refunds = runs.filter(({ agent }) => agent === refundAgent);
  const annotations = refunds.slice(0, annotatedRuns).map(({ trace_id, span_id }, nth) => ({
    trace_id,
    span_id,
    name: judged,
    by: nth % 2 === 0 ? 'ann' : 'ben',
    label: nth % 4 === 0 ? 'rude' : 'polite',
    passed: nth % 4 !== 0,
    explanation: `Seen by a person, number ${nth}.`,
  }));
  await posted(`${page}/api/v1/annotations`, { annotations });
  const examples = refunds.slice(0, keptRuns).map(({ trace_id, span_id }) => ({ trace_id, span_id }));
  await posted(`${page}/api/v1/datasets/${dataset}/examples`, { runs: examples, by: 'ann', note: 'Refunds of today.' });
}

/** Rejects when the answer is a refusal. */
export async function posted(url: string, body: object): Promise<unknown> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} for POST ${url}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as unknown;
}

const questions = ['Where is A-1?', 'Is the bad lamp in stock?', 'Please refund A-2.', 'My bad: I meant A-3.'];

/** Two experiments on one dataset. The agent fails where a question contains `bad`, and the second one does not see the word. */
async function compared({ console: page }: ServiceProcess, folder: string): Promise<readonly [string, string]> {
  const examples = questions.map((input, nth) => ({ id: `question-${nth + 1}`, input }));
  await posted(`${page}/api/v1/datasets/questions/examples`, { examples, by: 'ann' });
  const agent = join(import.meta.dirname, '../../cli/experiment/agent.ts');
  for (const [name, script] of [
    ['before', 'exec "$0" "$1"'],
    ['after', 'sed s/bad/good/ | "$0" "$1"'],
  ] as const) {
    const words = ['experiment', 'run', '--dataset', 'questions', '--name', name, '-c', join(folder, 'tracejury.yaml')];
    const child = spawn(process.execPath, [main, ...words, '--', 'sh', '-c', script, process.execPath, agent], {
      stdio: ['ignore', 'ignore', 'inherit'],
      // No repository, whose commit the experiments would name.
      cwd: folder,
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0 && code !== 1) throw new Error(`the experiment ended with ${code ?? 'a signal'}`);
  }
  const answer = await fetch(`${page}/api/v1/experiments`);
  const { experiments } = (await answer.json()) as { readonly experiments: readonly { readonly id: string }[] };
  const [newer, older] = experiments;
  if (newer === undefined || older === undefined) throw new Error('there are no two experiments');
  return [newer.id, older.id];
}
