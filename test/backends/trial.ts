/**
 * Scores of one run in a real backend, under the configuration that its page shows: they come before the spans and wait for them, they stand where the page says, and when a
 * late span changes the run they change in place.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { equal, type Condition } from '../bench/overload/conditions.ts';
import { spanId } from '../builders/agent-trace.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { traceId } from '../builders/spans.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { serviceFolder } from '../service/process.ts';
import { eventually, type Patience } from '../service/running.ts';

/** A score as the backend shows it. */
export interface Found {
  /** The score's id at the backend. */
  readonly id: string;
  readonly name: string;
  /** Undefined when it is on the trace. */
  readonly spanId: string | undefined;
  readonly score: number | null;
  readonly explanation: string;
}

export interface Backend {
  /** In docs/guides; its first file is the configuration. */
  readonly page: string;
  readonly url: string;
  /** Headers of requests with spans. */
  readonly headers?: { readonly [name: string]: string };
  /** All scores of a trace that are ours. */
  scores(traceId: string, spanIds: readonly string[]): Promise<readonly Found[]>;
  /** Place of the scores of the run itself: the agent's span, the trace, or both. */
  readonly runScoresOn: readonly ('span' | 'trace')[];
}

/** Backends take what they are given in their own time. */
export const patient: Patience = { everyMs: 250, looksMax: 240 };

/** The first file of a page, with another address. */
export function pageConfig(page: string, url: string): string {
  const [, text = ''] = /```yaml\n(.*?)```/s.exec(readFileSync(join(import.meta.dirname, '../../docs/guides', page), 'utf8')) ?? [];
  return text.replace(/endpoint: \S+/, `endpoint: "${url}"`);
}

export interface SentRun {
  readonly traceId: string;
  readonly agent: string;
  readonly tool: string;
  readonly lateTool: string;
  readonly first: readonly Span[];
  readonly late: readonly Span[];
}

/** An agent that calls a tool, and a second one that fails, whose span comes late. */
export function newRun(): SentRun {
  const [trace, id, now] = [randomInt(2 ** 47), randomInt(2 ** 46), Date.now() - 1_000];
  const resource = { 'service.name': 'tracejury-trial' };
  const tool = { parent: id, trace, resource, arguments: '{"order":"A-1"}' };
  return {
    traceId: traceId(trace),
    agent: spanId(id),
    tool: spanId(id + 1),
    lateTool: spanId(id + 2),
    first: [
      agentSpan({
        id,
        trace,
        resource,
        name: 'trial',
        start: now,
        end: now + 900,
        agent: 'trial',
        input: 'Where is A-1?',
        output: 'On its way.',
      }),
      toolSpan({ ...tool, id: id + 1, start: now + 100, end: now + 200, call: 'a', tool: 'find_order', result: 'sent' }),
    ],
    late: [
      toolSpan({
        ...tool,
        id: id + 2,
        start: now + 300,
        end: now + 400,
        call: 'b',
        tool: 'notify',
        status: 'error',
        message: 'mail server down',
      }),
    ],
  };
}

/** Rejects when the backend does not take spans. */
export async function sendTo({ url, headers = {} }: Pick<Backend, 'url' | 'headers'>, spans: readonly Span[]): Promise<void> {
  const answer = await fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', ...headers },
    body: new Uint8Array(writeTraces(spans, 'protobuf')),
  });
  if (!answer.ok) throw new Error(`${url}/v1/traces answers ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
}

const evaluator = 'tool_error';

export async function scoresTrial(backend: Backend): Promise<readonly Condition[]> {
  const folder = serviceFolder();
  folder.configure(pageConfig(backend.page, backend.url));
  const service = await folder.start();
  try {
    const run = newRun();
    const spans = [run.agent, run.tool, run.lateTool];
    const found = async (): Promise<readonly Found[]> =>
      (await backend.scores(run.traceId, spans)).filter(({ name }) => name === evaluator);
    const ofRun = (all: readonly Found[]): readonly Found[] => all.filter((one) => one.spanId === undefined || one.spanId === run.agent);
    await service.send(run.first);
    await eventually(
      async () => (/outcome="retried"\} [1-9]/.test(await service.metrics()) ? true : undefined),
      'a score that waits for its span',
      patient,
    );
    const early = await service.metrics();
    await sendTo(backend, run.first);
    const before = await eventually(
      async () =>
        [await found()].find((all) => ofRun(all).length >= backend.runScoresOn.length && all.some((one) => one.spanId === run.tool)),
      'the scores',
      patient,
    );
    await sendTo(backend, run.late);
    await service.send(run.late);
    const after = await eventually(
      async () =>
        [await found()].find((all) => all.some((one) => one.spanId === run.lateTool) && ofRun(all).every(({ score }) => score === 0.5)),
      'the changed scores',
      patient,
    );
    const places = (all: readonly Found[]): string =>
      [...new Set(ofRun(all).map((one) => (one.spanId === undefined ? 'trace' : 'span')))].toSorted().join(', ');
    const idsOf = (all: readonly Found[]): string =>
      ofRun(all)
        .map(({ id }) => id)
        .toSorted()
        .join(' ');
    const toldOf = (all: readonly Found[], span: string): string =>
      all
        .filter((one) => one.spanId === span)
        .map(({ score, explanation }) => `${score}: ${explanation}`)
        .join('; ');
    return [
      equal(
        'the circuit while scores wait for their spans',
        '0',
        /^tracejury_exporter_circuit\{[^}]*\} (\d)$/m.exec(early.replaceAll(/^.*"metrics".*$/gm, ''))?.[1] ?? '',
      ),
      equal(`places of ${evaluator} of the run`, backend.runScoresOn.toSorted().join(', '), places(before)),
      equal('its score there', '1', [...new Set(ofRun(before).map(({ score }) => score))].join(', ')),
      equal('on the span of the tool call', '1: No sign of an error in the result.', toldOf(before, run.tool)),
      equal('after a late span: its score', '0.5', [...new Set(ofRun(after).map(({ score }) => score))].join(', ')),
      equal('the same scores as before, and no others', idsOf(before), idsOf(after)),
      equal(
        'on the span of the call that failed',
        '0: notify (call 2) failed: its span failed: "mail server down".',
        toldOf(after, run.lateTool),
      ),
    ];
  } finally {
    await service.end('SIGTERM');
    await folder.remove();
  }
}
