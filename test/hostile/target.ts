/** The whole service with its default limits, what it counts and what it knows. */
import { once } from 'node:events';
import { get } from 'node:http';
import { Worker } from 'node:worker_threads';
import { eventually } from '../service/running.ts';

export interface Target {
  /** Ports of 127.0.0.1. */
  readonly http: number;
  readonly grpc: number;
  /** Every counter of the metrics page, by its sample: `name{labels}`. */
  counts(): Promise<ReadonlyMap<string, number>>;
  /** The verdicts of one evaluator on the runs of a trace, as soon as there are this many runs. */
  runs(trace: string, wanted: number): Promise<readonly string[]>;
  /** The longest turn of its event loop since the last call, in milliseconds of the processor: other work of the machine is not in it. */
  longestTurnMs(): Promise<number>;
  stop(): Promise<void>;
}

interface Addresses {
  readonly otlp: string;
  readonly grpc: string;
  readonly page: string;
}

export async function openTarget(): Promise<Target> {
  const thread = new Worker(new URL('watched.ts', import.meta.url), { execArgv: [] });
  const said = async (): Promise<unknown> => ((await once(thread, 'message')) as readonly unknown[])[0];
  const { otlp, grpc, page: address } = (await said()) as Addresses;
  return {
    http: portOf(otlp),
    grpc: portOf(grpc),
    counts: async () => counters(await page(`${address}/metrics`)),
    runs: (trace, wanted) => eventually(async () => enough(await verdicts(address, trace), wanted), `${wanted} runs of trace ${trace}`),
    async longestTurnMs() {
      const answer = said();
      thread.postMessage('longest');
      return Number(await answer);
    },
    async stop() {
      const exit = once(thread, 'exit');
      thread.postMessage('stop');
      await exit;
    },
  };
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

function counters(page: string): ReadonlyMap<string, number> {
  const found = page.split('\n').filter((line) => /^tracejury_\w+_total[ {]/.test(line));
  return new Map(
    found
      .map((line) => line.replace(/ # .*/, ''))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

function enough(found: readonly string[], wanted: number): readonly string[] | undefined {
  return found.length >= wanted ? found : undefined;
}

/** On a separate connection: one that is kept may just be closing when a case took long. */
function page(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks).toString()));
    }).on('error', reject);
  });
}

interface RunRow {
  readonly verdicts: readonly {
    readonly evaluator: string;
    readonly status: string;
    readonly score?: number | null;
    readonly reason?: string | null;
  }[];
}

async function verdicts(address: string, trace: string): Promise<readonly string[]> {
  const { runs } = JSON.parse(await page(`${address}/api/v1/runs?trace=${trace}&limit=200`)) as { readonly runs: readonly RunRow[] };
  return runs.map(({ verdicts: all }) => {
    const found = all.find(({ evaluator }) => evaluator === 'tool_call_validity');
    return found === undefined ? 'none' : `${found.status} ${found.score ?? found.reason ?? ''}`.trim();
  });
}
