/**
 * One engine, three hosts: the same runs as agent traces in the library, as files on the command line and over the wire in the
 * service get the same verdicts from every rule evaluator, byte for byte.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readExpectation } from '../../evaluators/expectation/expectation.ts';
import { evaluators } from '../../evaluators/index.ts';
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { evaluationSpanOf } from '../../src/exporters/otlp/evaluation-span.ts';
import { evaluate, factory, type ConfiguredEvaluator, type Verdict } from '../../src/library/evaluators.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { jsonText, type JsonValue } from '../../src/model/json.ts';
import { evaluationOf } from '../../src/pipeline/evaluation/evaluate.ts';
import { attributes, otlpSink, readCarrier } from '../exporters/otlp-sink.ts';
import { play, recordingsIn, type Recording } from '../recordings/read.ts';
import { eventually, running } from '../service/running.ts';
import { ruleEntries } from './entries.ts';

const recordingsMin = 20;
const recordingsTaken = 36;

const folder = mkdtempSync(join(tmpdir(), 'tracejury-hosts-'));
afterAll(() => rmSync(folder, { recursive: true }));
const yaml = `evaluators: ${JSON.stringify(ruleEntries)}`;
const configFile = join(folder, 'tracejury.yaml');
writeFileSync(configFile, yaml);

interface Taken {
  readonly recording: Recording;
  readonly runs: readonly Run[];
}

/** Spread over all SDKs, over HTTP; the library knows no log records, and runs that close only by silence would take the service its time. */
const taken: readonly Taken[] = spread(
  recordingsIn(join(import.meta.dirname, '../fixtures/recordings'))
    .filter(({ expected }) => expected.files.every(({ kind, content_type: type }) => kind === 'traces' && type !== 'application/grpc'))
    .map((recording) => ({ recording, runs: play(recording).runs }))
    .filter(({ runs }) => runs.length > 0 && runs.every(({ completeness, revision }) => completeness === 'complete' && revision === 1)),
);
const library = ruleEntries.map(({ use, options, expect: expected }): ConfiguredEvaluator => {
  const member = evaluators.find(({ id }) => id === use);
  if (member === undefined) throw new Error(`there is no ${use}`);
  return factory(member)(options ?? {}, expected === undefined ? {} : { expect: readExpectation(expected).expectation });
});
const verdicts = new Map<string, readonly Verdict[]>();
for (const { runs } of taken) for (const run of runs) verdicts.set(placeOf(run), await evaluate(run.trace, {}, library));

test('hosts: every rule evaluator takes part, over enough recordings, and most have something to score', () => {
  expect(ruleEntries.map(({ use }) => use)).toEqual(evaluators.filter(({ kind }) => kind === 'rule').map(({ id }) => id));
  expect(taken.length).toBeGreaterThanOrEqual(recordingsMin);
  const scored = library.filter((_, at) => [...verdicts.values()].some((all) => all[at]?.kind === 'scored'));
  expect(scored.length).toBeGreaterThan(library.length / 2);
});

test('hosts: tracejury eval gives the verdicts of the library', async () => {
  const said: string[] = [];
  const code = await runCommandLine({
    words: ['eval', ...taken.map(({ recording }) => recording.folder), '-c', configFile, '--format', 'json'],
    commands,
    version: '',
    env: {},
    say: (text) => said.push(text),
    complain: () => undefined,
  });
  expect(code).toBeLessThan(2);
  const { results } = JSON.parse(said.join('')) as {
    readonly results: readonly { readonly trace_id: string; readonly span_id: string; readonly verdicts: readonly JsonValue[] }[];
  };
  expect(results.map(({ trace_id: traceId, span_id: spanId }) => `${traceId}/${spanId}`).toSorted()).toEqual(
    [...verdicts.keys()].toSorted(),
  );
  for (const { trace_id: traceId, span_id: spanId, verdicts: written } of results) {
    const wanted = (verdicts.get(`${traceId}/${spanId}`) ?? []).map((verdict, at) => told(library[at]?.name ?? '', verdict));
    expect([traceId, sortedText(written)]).toEqual([traceId, sortedText(wanted)]);
  }
});

test('hosts: the service sends the verdicts of the library', async () => {
  const sink = await otlpSink();
  // Each recording has a separate tenant: their scripted models give the same ids to the same calls, as no two agents do.
  const tokens = JSON.stringify(taken.map((_, at) => ({ name: `tenant-${at}`, value: tokenOf(at), may: ['ingest'] })));
  // The pieces of a recording come within that time also on a slow machine: a run that closes between two of them keeps the key that it had.
  const jury = await running(`${yaml}\nexport: [ { to: span_events, endpoint: "${sink.url}", detail: full } ]`, {
    tokens,
    closing: 'settle: 3s, quiet: 9s',
  });
  try {
    for (const [at, { recording }] of taken.entries())
      for (const file of recording.expected.files) await send(jury.otlp, tokenOf(at), recording.folder, file);
    const runs = taken.flatMap((one) => one.runs).filter((run) => wantedEvents(run).length > 0);
    expect(runs.length).toBeGreaterThanOrEqual(recordingsMin);
    const carriers = await eventually(() => {
      const sent = new Map(
        sink.received
          .map((request) => readCarrier(request).span)
          .map((span) => [`${span.traceId}/${span.parentSpanId}`, (span.events ?? []).map((event) => attributes(event.attributes))]),
      );
      return runs.every((run) => sent.has(carrierPlaceOf(run))) ? sent : undefined;
    }, 'a carrier span of every run');
    for (const run of runs)
      expect([placeOf(run), sortedText(carriers.get(carrierPlaceOf(run)))]).toEqual([placeOf(run), sortedText(wantedEvents(run))]);
  } finally {
    await jury.stop();
    await sink.close();
  }
});

function spread<Item>(items: readonly Item[]): readonly Item[] {
  const step = Math.max(1, items.length / recordingsTaken);
  return Array.from({ length: Math.min(recordingsTaken, items.length) }, (_, at) => items[Math.floor(at * step)]).filter(
    (item) => item !== undefined,
  );
}

function placeOf({ traceId, spanId }: Run): string {
  return `${traceId}/${spanId}`;
}

/** A carrier is beside its agent's span, which may be in a trace that is not that of the run. */
function carrierPlaceOf({ traceId, spanTraceId = traceId, spanId }: Run): string {
  return `${spanTraceId}/${spanId}`;
}

/** A verdict as `--format json` writes it, nothing left out. */
function told(name: string, verdict: Verdict): JsonValue {
  const { kind: status, explanation, details } = verdict;
  const head = { name, evaluator: name, status, explanation, details };
  if (verdict.kind === 'skipped') return { ...head, reason: verdict.reason };
  if (verdict.kind === 'failed') return { ...head, reason: verdict.error };
  const { score, threshold, passed, label, evidence, parts } = verdict;
  return {
    ...head,
    score,
    threshold,
    passed,
    label,
    evidence,
    parts: parts.map(({ callId, spanId, ...part }) => ({ ...part, call_id: callId ?? null, span_id: spanId ?? null })),
  };
}

/** The attributes that the carrier span of a run must have when its verdicts are those of the library. */
function wantedEvents(run: Run): readonly object[] {
  const evaluations = (verdicts.get(placeOf(run)) ?? []).flatMap((verdict, at) => {
    const configured = library[at];
    return configured === undefined ? [] : [evaluationOf(run, configured, verdict)];
  });
  return evaluationSpanOf({ run, evaluations, decisions: [] }, 'full')?.events ?? [];
}

function sortedText(value: unknown): string {
  return jsonText((value ?? null) as JsonValue, { sortKeys: true });
}

function tokenOf(at: number): string {
  return `token-of-tenant-${at}`;
}

async function send(
  otlp: string,
  token: string,
  path: string,
  { file, content_type: type }: Recording['expected']['files'][number],
): Promise<void> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': type ?? 'application/x-protobuf',
    ...(file.endsWith('.gz') ? { 'content-encoding': 'gzip' } : {}),
  };
  const { status } = await fetch(`${otlp}/v1/traces`, { method: 'POST', headers, body: new Uint8Array(readFileSync(join(path, file))) });
  expect(status).toBe(200);
}
