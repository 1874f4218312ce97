/** Runs as the API shows them, without what two services over the same spans may do differently. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import { serviceFolder, type ServiceProcess } from '../../service/process.ts';
import { eventually } from '../../service/running.ts';
import { listOf } from '../doubled.ts';
import { requestsOf, traceIdOf } from './runs.ts';

/** The documents of one process over a disk and SQLite for the same spans. */
export interface OneProcess {
  /** Sends the runs that it does not have yet. */
  readonly documents: (traces: readonly number[]) => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

/** The evaluator that asks the judge. */
const judged = 'judged';
/** Requests to a service at the same time. */
const beside = 8;
/**
 * A run has another revision, or spans that are kept twice, where they came twice. Each question to a judge has random ids, and a process that ended
 * between the answer and the verdict leaves the answer to the next one, which asks nothing.
 */
const own: ReadonlySet<string> = new Set([
  'revision',
  'revisions',
  'spans_kept',
  'spans_gone',
  'judge_trace',
  'judge_requests',
  'judge_tokens',
  'cached',
]);

/** The whole run of each trace; `null` in place of one that is not there. */
export async function documentsOf({ console: page }: ServiceProcess, traces: readonly number[]): Promise<readonly string[]> {
  const found: string[] = Array.from({ length: traces.length }, () => 'null');
  await sideBySide(traces, async (trace, at) => {
    const answer = await fetch(`${page}/api/v1/runs/${traceIdOf(trace)}/0000000000000001`);
    if (answer.status === 200) found[at] = JSON.stringify(shared((await answer.json()) as JsonObject));
  });
  return found;
}

async function sideBySide(traces: readonly number[], work: (trace: number, at: number) => Promise<void>): Promise<void> {
  const waiting = traces.entries();
  await Promise.all(
    Array.from({ length: beside }, async () => {
      for (const [at, trace] of waiting) await work(trace, at);
    }),
  );
}

function shared(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(shared);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !own.has(name))
      .map(([name, inner]) => [name, shared(inner ?? null)]),
  );
}

/** True when the judge has answered about the run. */
export function isJudged(run: JsonObject): boolean {
  return listOf(run, 'verdicts').some(({ name, status }) => name === judged && status === 'scored');
}

/** Those of these traces about which the judge was not asked: on a machine that is short of time the service gives up judges first. */
export async function unasked({ console: page }: ServiceProcess, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const id of ids) {
    const decisions = (await (await fetch(`${page}/api/v1/decisions/${id}`)).json()) as JsonObject;
    if (listOf(decisions, 'decisions').some(({ name, decision }) => name === judged && decision === 'overload')) found.add(id);
  }
  return found;
}

/** Each of these runs has a verdict of the judge, or will have none. */
async function hasEnded(service: ServiceProcess, traces: ReadonlySet<number>): Promise<true | undefined> {
  const judgedIds = new Set((await service.runs()).filter(isJudged).map(({ trace_id: id }) => String(id)));
  const rest = [...traces].map(traceIdOf).filter((id) => !judgedIds.has(id));
  return (await unasked(service, rest)).size === rest.length ? true : undefined;
}

/**
 * The parts of two documents that must be equal. A machine that is short of time gives up judges and then content: without the content of one of them the
 * decisions are compared, and where the judge was not asked about one of them, its verdict on the other one is left out.
 */
export function compared(one: string, other: string): readonly [one: string, other: string] {
  const both = isUnasked(one) || isUnasked(other) ? ([unjudged(one), unjudged(other)] as const) : ([one, other] as const);
  return isContentGone(one) || isContentGone(other) ? [said(both[0]), said(both[1])] : both;
}

/** A run that is not as one process has it. */
export interface OtherRun {
  readonly id: string;
  readonly is: string;
  readonly was: string;
}

/** Writes both documents of each run, one member a line, so that `diff` shows what differs. Gives the folder. */
export function keptDocuments(others: readonly OtherRun[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-other-runs-'));
  const keep = (name: string, document: string): void =>
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(JSON.parse(document), null, 2)}\n`);
  for (const { id, is, was } of others) {
    keep(`${id}-replicas`, is);
    keep(`${id}-one-process`, was);
  }
  return folder;
}

function isContentGone(document: string): boolean {
  const run = JSON.parse(document) as JsonObject | null;
  return run !== null && isJsonObject(run['content_gone'] ?? null);
}

function said(document: string): string {
  const run = JSON.parse(document) as JsonObject | null;
  const verdicts = listOf(run ?? {}, 'verdicts').map(({ name, score, label }) => JSON.stringify([name, score ?? null, label ?? null]));
  return JSON.stringify([verdicts.toSorted(), listOf(run ?? {}, 'decisions')]);
}

function isUnasked(document: string): boolean {
  const run = JSON.parse(document) as JsonObject | null;
  return run !== null && listOf(run, 'decisions').some(({ name, decision }) => name === judged && decision === 'overload');
}

/** The same document without the judge's verdicts. */
function unjudged(document: string): string {
  const run = JSON.parse(document) as JsonObject | null;
  if (run === null) return document;
  const without = (list: string) => listOf(run, list).filter(({ name }) => name !== judged);
  return JSON.stringify({ ...run, verdicts: without('verdicts'), decisions: without('decisions') });
}

export async function oneProcess(yaml: string, startMs: number): Promise<OneProcess> {
  const folder = serviceFolder();
  folder.configure(yaml);
  const service = await folder.start();
  const sent = new Set<number>();
  return {
    async documents(traces) {
      await sideBySide(traces, async (trace) => {
        if (sent.has(trace)) return;
        sent.add(trace);
        for (const spans of requestsOf(trace, startMs))
          await eventually(async () => ((await service.send(spans)) === 200 ? true : undefined), 'a request that is acknowledged');
      });
      await eventually(() => hasEnded(service, sent), 'the runs of one process', { everyMs: 500, looksMax: 480 });
      return await documentsOf(service, traces);
    },
    stop: () => folder.remove(),
  };
}
