/** `tracejury demo`: sends a mixed day of simulated agent runs to a running service, so that a person without an agent sees scores. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { environmentHeaders } from '../../config/entries/address.ts';
import { loadConfig } from '../../config/load.ts';
import type { Environment } from '../../config/document.ts';
import type { Sleep } from '../../model/clock.ts';
import type { Span } from '../../model/span.ts';
import { demoDay, demoDefaults } from '../../service/demo-day.ts';
import { UsageError, type CommandProgram, type CommandInput, type ExitCode } from '../command.ts';
import {
  type Counts,
  countsBetween,
  type FailedRun,
  failedRunLines,
  readCounts,
  sendSpans,
  verdictLines,
  worstAgentLines,
} from '../demo/summary.ts';
import { evaluability, recordedRuns } from '../inspect/inspection.ts';
import { columns } from '../../report/text.ts';

const defaults = { endpoint: 'http://127.0.0.1:4318', console: 'http://127.0.0.1:4380', ...demoDefaults } as const;
const runsMax = 100_000;
/** Allows for `closing.quiet` (5 s by default) and for large days. */
const scoredWithinMs = 60_000;
const pollEveryMs = 500;

export const demo: CommandProgram = {
  examples: [
    { does: 'Sends runs to a service on this machine:', line: 'tracejury demo' },
    { does: 'Sends fewer runs, of another day:', line: 'tracejury demo --runs 50 --seed 7' },
  ],
  options: {
    endpoint: { type: 'string', value: 'URL', summary: `sends OTLP over HTTP to this URL (default: ${defaults.endpoint})` },
    console: { type: 'string', value: 'URL', summary: `reads the verdicts from the console at this URL (default: ${defaults.console})` },
    runs: { type: 'string', value: 'N', summary: `sends this number of agent runs (default: ${defaults.runs})` },
    seed: { type: 'string', value: 'N', summary: `chooses another day by another number (default: ${defaults.seed})` },
  },
  positionalsMax: 0,
  async run({ options, env, program, say, complain }: CommandInput): Promise<ExitCode> {
    const endpoint = address(options['endpoint'], 'endpoint', defaults.endpoint);
    const page = address(options['console'], 'console', defaults.console);
    const day = await demoDay({
      seed: whole(options['seed'], 'seed', 0, 2 ** 32 - 1) ?? defaults.seed,
      runs: whole(options['runs'], 'runs', 1, runsMax) ?? defaults.runs,
      endUnixMs: Date.now(),
      randomBytes,
    });
    const { spans } = day;
    const { runs, failed } = foreseen(spans, env);
    const before = await readCounts(page);
    const sent = await sendSpans(spans, { url: `${endpoint}/v1/traces`, headers: environmentHeaders('traces', env), sleep });
    if (sent.kind !== 'sent') {
      complain(
        sent.kind === 'unanswered' && !sent.isListening
          ? `Nothing listens at ${endpoint}. Start the service first, in another terminal: ${program} serve.`
          : `${endpoint} refused the spans: ${sent.why}`,
      );
      return 1;
    }
    const subAgents = runs - day.runs;
    say(
      `Sent ${spans.length} spans in ${sent.requests} requests to ${endpoint}/v1/traces: ${day.runs} agent runs with ${subAgents} of sub-agents, and ${day.webRequests} web requests without an agent.`,
    );
    if (before.kind === 'unreadable') {
      say(`The demo cannot show the verdicts: ${page}/metrics cannot be read (${before.why}).`);
      return 0;
    }
    return reportScores({ page, before: before.counts, runs, failed, program, say, complain });
  },
};

interface SentDay {
  readonly page: string;
  readonly before: Counts;
  readonly runs: number;
  readonly failed: FailedRun | undefined;
  readonly program: string;
  readonly say: (text: string) => void;
  readonly complain: (text: string) => void;
}

async function reportScores({ page, before, runs, failed, program, say, complain }: SentDay): Promise<ExitCode> {
  const startMs = performance.now();
  let counted: Counts = { runs: 0, verdicts: [] };
  while (counted.runs < runs && performance.now() - startMs < scoredWithinMs) {
    await sleep(pollEveryMs);
    const now = await readCounts(page);
    if (now.kind === 'read') counted = countsBetween(before, now.counts);
  }
  say(
    [
      `Scored ${counted.runs} runs in ${((performance.now() - startMs) / 1_000).toFixed(1)} s.`,
      '',
      ...verdictLines(counted.verdicts),
      '',
      ...worstAgentLines(counted.verdicts),
      ...(failed === undefined ? [] : ['', ...failedRunLines(failed)]),
      '',
      'Where to look next',
      ...columns([
        [`${page}/runs?verdict=fail`, 'the console with the runs that failed'],
        [`${page}/api/v1/runs?verdict=fail`, 'the same runs as JSON'],
        [`${page}/metrics`, 'the scores as metrics'],
        [`${program} inspect FILE`, 'the runs in recorded spans of your own agent, and the missing data'],
      ]),
    ].join('\n'),
  );
  if (counted.runs >= runs) return 0;
  complain(`Only ${counted.runs} of ${runs} runs were scored within ${scoredWithinMs / 1_000} s.`);
  return 1;
}

const sleep: Sleep = async (ms, signal) => {
  await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
};

/** Computes the runs and verdicts of a service with the default configuration. */
function foreseen(spans: readonly Span[], env: Environment): { readonly runs: number; readonly failed: FailedRun | undefined } {
  const { config } = loadConfig({ file: 'defaults', text: '', env, evaluators });
  const runs = recordedRuns({ spans, records: [] }, config);
  const catalogue = { plan: config.evaluators, context: evaluationContext() };
  for (const run of runs) {
    const found = evaluability(run, catalogue).filter(({ on }) => on);
    if (found.some(({ outcome }) => outcome.kind === 'scored' && outcome.passed === false))
      return { runs: runs.length, failed: { run, evaluability: found } };
  }
  return { runs: runs.length, failed: undefined };
}

function address(given: CommandInput['options'][string], name: string, preset: string): string {
  if (given === undefined) return preset;
  const url = typeof given === 'string' ? URL.parse(given) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError(`--${name} takes one URL that begins with http:// or https://.`);
  return url.href.replace(/\/+$/, '').replace(/\/v1\/traces$/, '');
}

function whole(given: CommandInput['options'][string], name: string, least: number, most: number): number | undefined {
  if (given === undefined) return undefined;
  const number = typeof given === 'string' && /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN;
  if (!(number >= least && number <= most)) throw new UsageError(`--${name} takes a whole number from ${least} to ${most}.`);
  return number;
}
