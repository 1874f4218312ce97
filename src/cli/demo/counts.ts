/** What a service has counted, read from its metrics page. */
import { httpClient } from '../../http/http-client.ts';
import { wire } from '../../model/attributes.ts';
import { metricRows, type MetricName } from '../../telemetry/metrics.ts';
import { openMetricsName } from '../../telemetry/openmetrics.ts';
import { failureText } from './send.ts';

export interface Counts {
  readonly runs: number;
  readonly verdicts: readonly VerdictCount[];
}

export interface VerdictCount {
  readonly evaluator: string;
  readonly agent: string;
  /** pass, fail, skipped, error, or a label of the evaluator's own. */
  readonly label: string;
  readonly count: number;
}

export type ReadCounts = { readonly kind: 'read'; readonly counts: Counts } | { readonly kind: 'unreadable'; readonly why: string };

const answerWithinMs = 10_000;
const linesMax = 200_000;
const pageBytesMax = 64 * 1024 * 1024;

export async function readCounts(consoleUrl: string): Promise<ReadCounts> {
  const http = httpClient();
  const request = { method: 'GET', headers: {}, timeoutMs: answerWithinMs, answerBytesMax: pageBytesMax };
  const answer = await http.send({ ...request, url: `${consoleUrl}/metrics` });
  http.stop();
  if (answer.kind === 'unanswered') return { kind: 'unreadable', why: failureText(answer) };
  const { status, body, isCut } = answer;
  if (status >= 300) return { kind: 'unreadable', why: status === 401 ? 'it wants a token' : `it answers ${status}` };
  return isCut ? { kind: 'unreadable', why: 'it is too large' } : { kind: 'read', counts: countsIn(body.toString()) };
}

/** Of the whole page only the counters of runs and verdicts. */
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

/** What was counted between two looks. */
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
