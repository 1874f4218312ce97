/** Sends the spans of the demo, and writes the summary of their verdicts. */
import type { Evaluability } from '../inspect/inspection.ts';
import { oneLine } from '../../model/one-line.ts';
import { columns } from '../../report/text.ts';
import { httpClient } from '../../http/http-client.ts';
import type { Run } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { Span } from '../../model/span.ts';
import { writeTraces } from '../../otlp/write/write.ts';
import { type MetricName, metricRows } from '../../telemetry/metrics.ts';
import { openMetricsName } from '../../telemetry/openmetrics.ts';
import { failureText, type OtlpBody, postAll, type PostOptions, type Posted } from '../post-otlp.ts';

const spansPerRequest = 100;

/** Posts spans in batches. */
export function sendSpans(spans: readonly Span[], options: PostOptions): Promise<Posted> {
  return postAll(batches(spans), options);
}

function* batches(spans: readonly Span[]): Generator<OtlpBody> {
  for (let at = 0; at < spans.length; at += spansPerRequest)
    yield { contentType: 'application/x-protobuf', body: writeTraces(spans.slice(at, at + spansPerRequest), 'protobuf') };
}

/** Counters of a service, from its metrics page. */
export interface Counts {
  readonly runs: number;
  readonly verdicts: readonly VerdictCount[];
}

interface VerdictCount {
  readonly evaluator: string;
  readonly agent: string;
  /** pass, fail, skipped, error, or a label of the evaluator's own. */
  readonly label: string;
  readonly count: number;
}

type ReadCounts = { readonly kind: 'read'; readonly counts: Counts } | { readonly kind: 'unreadable'; readonly why: string };

const pageTimeoutMs = 10_000;
const linesMax = 200_000;
const pageBytesMax = 64 * 1024 * 1024;

export async function readCounts(consoleUrl: string): Promise<ReadCounts> {
  const http = httpClient();
  const request = { method: 'GET', headers: {}, timeoutMs: pageTimeoutMs, answerBytesMax: pageBytesMax };
  const answer = await http.send({ ...request, url: `${consoleUrl}/metrics` });
  http.stop();
  if (answer.kind === 'unanswered') return { kind: 'unreadable', why: failureText(answer) };
  const { status, body, isCut } = answer;
  if (status >= 300) return { kind: 'unreadable', why: status === 401 ? 'it needs a token' : `it answers ${status}` };
  return isCut ? { kind: 'unreadable', why: 'it is too large' } : { kind: 'read', counts: countsIn(body.toString()) };
}

/** Reads the counters of runs and verdicts from the page. */
export function countsIn(page: string): Counts {
  const results = nameOf('tracejury.evaluation.results');
  const runs = nameOf('tracejury.runs');
  const verdicts: VerdictCount[] = [];
  let runCount = 0;
  for (const line of page.split('\n', linesMax)) {
    if (line.startsWith(`${runs}{`) || line.startsWith(`${runs} `)) runCount += sample(line)?.value ?? 0;
    const found = line.startsWith(`${results}{`) ? sample(line) : undefined;
    if (found === undefined) continue;
    const label = (name: string): string => found.labels.get(name.replaceAll('.', '_')) ?? '';
    verdicts.push({
      evaluator: label(wire.evaluationName),
      agent: label(wire.agentName),
      label: label(wire.scoreLabel),
      count: found.value,
    });
  }
  return { runs: runCount, verdicts };
}

/** The difference of two readings. */
export function countsBetween(before: Counts, after: Counts): Counts {
  const key = ({ evaluator, agent, label }: VerdictCount): string => JSON.stringify([evaluator, agent, label]);
  const known = new Map<string, number>();
  for (const one of before.verdicts) known.set(key(one), (known.get(key(one)) ?? 0) + one.count);
  const summed = new Map<string, VerdictCount>();
  for (const one of after.verdicts) summed.set(key(one), { ...one, count: (summed.get(key(one))?.count ?? 0) + one.count });
  return {
    runs: after.runs - before.runs,
    verdicts: [...summed.values()]
      .map((one) => ({ ...one, count: one.count - (known.get(key(one)) ?? 0) }))
      .filter(({ count }) => count > 0),
  };
}

function nameOf(metric: MetricName): string {
  const row = metricRows[metric];
  if (row === undefined) throw new Error(`there is no metric ${metric}`);
  return `${openMetricsName(metric, row)}_total`;
}

const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;
const VALUE = /\} (\S+)$|^\S+ (\S+)$/;

function sample(line: string): { readonly labels: ReadonlyMap<string, string>; readonly value: number } | undefined {
  const value = VALUE.exec(line);
  const number = Number(value?.[1] ?? value?.[2]);
  if (!Number.isFinite(number)) return undefined;
  return {
    labels: new Map(
      [...line.matchAll(LABEL)].map(([, name = '', text = '']) => [
        name,
        text.replaceAll(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign)),
      ]),
    ),
    value: number,
  };
}

export interface FailedRun {
  readonly run: Run;
  readonly evaluability: readonly Evaluability[];
}

const agentsMax = 3;
const textMax = 150;
const plainLabels: readonly string[] = ['pass', 'fail', 'skipped', 'error'];

export function verdictLines(verdicts: readonly VerdictCount[]): readonly string[] {
  const evaluators = [...new Set(verdicts.map(({ evaluator }) => evaluator))];
  const labels = [
    ...plainLabels.slice(0, 3),
    ...new Set(verdicts.map(({ label }) => label).filter((label) => !plainLabels.slice(0, 3).includes(label))),
  ];
  const cell = (text: string): string => text.padStart(9);
  return [
    'Verdicts',
    ...columns([
      ['', labels.map((label) => cell(label === '' ? 'no label' : label)).join('')],
      ...evaluators.map(
        (evaluator) =>
          [
            evaluator,
            labels.map((label) => cell(String(sum(verdicts, (one) => one.evaluator === evaluator && one.label === label)))).join(''),
          ] as const,
      ),
    ]),
  ];
}

/** Ranks agents by their share of failed verdicts among those that pass or fail. */
export function worstAgentLines(verdicts: readonly VerdictCount[]): readonly string[] {
  const agents = [...new Set(verdicts.map(({ agent }) => agent))].map((agent) => {
    const failed = sum(verdicts, (one) => one.agent === agent && one.label === 'fail');
    return { agent, failed, judged: failed + sum(verdicts, (one) => one.agent === agent && one.label === 'pass') };
  });
  const worst = agents
    .filter(({ failed }) => failed > 0)
    .sort((a, b) => b.failed / b.judged - a.failed / a.judged || (a.agent < b.agent ? -1 : 1));
  if (worst.length === 0) return ['No agent failed.'];
  return [
    'Worst agents',
    ...columns(
      worst
        .slice(0, agentsMax)
        .map(
          ({ agent, failed, judged }) =>
            [
              oneLine(agent, textMax) || '(no name)',
              `${failed} of ${judged} verdicts failed (${Math.round((failed / judged) * 100)} %)`,
            ] as const,
        ),
    ),
  ];
}

export function failedRunLines({ run, evaluability }: FailedRun): readonly string[] {
  const rows = evaluability.flatMap(({ name, outcome }) =>
    outcome.kind === 'scored' && outcome.passed === false
      ? [[name, `${Number(outcome.score.toFixed(2))}  ${oneLine(outcome.explanation, textMax)}`] as const]
      : [],
  );
  return [
    'One failed run',
    ...columns([['agent', run.trace.agent ?? ''], ['trace', run.traceId], ['input', oneLine(run.trace.input ?? '', textMax)], ...rows]),
  ];
}

function sum(verdicts: readonly VerdictCount[], which: (one: VerdictCount) => boolean): number {
  return verdicts.reduce((total, one) => total + (which(one) ? one.count : 0), 0);
}
