/** A replay that writes beside a service on the same file: neither loses anything of the other. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { gatheredRuns } from '../../../src/cli/inspect/inspection.ts';
import type { Span } from '../../../src/model/span.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { measured } from '../../bench/server.ts';
import { configFrom } from '../../builders/stored-runs.ts';
import { otlpSink, readCarrier } from '../../exporters/otlp-sink.ts';
import { agentRun, allVerdicts, file, folder, lenient, reported, stored, strict, traces, ended } from './harness.ts';

afterAll(ended);

const main = '../../src/cli/main.ts';
const runs = 300;
const live = 60;

/** The retention deletes runs of another time. */
function today(span: Span): Span {
  const now = BigInt(Date.now()) * 1_000_000n;
  return { ...span, startUnixNano: now, endUnixNano: now + (span.endUnixNano - span.startUnixNano) };
}

test('replay: beside a service that takes runs meanwhile, every run of both is there, and the service sends the revisions', async () => {
  const sink = await otlpSink();
  // Recent enough for the retention, and old enough for late spans.
  const startedAt = (Date.now() - 3 * 3_600_000) * 1_000;
  const path = await stored(
    lenient,
    traces(runs).map(({ spans }) => ({
      spans,
      piece: { startedAt, storedAt: startedAt },
      runs: [...gatheredRuns({ spans, records: [] }, configFrom(''), noTelemetry).values()].map((run) => ({
        ...run,
        startUnixNano: BigInt(startedAt) * 1_000n,
      })),
    })),
  );
  const configured = (evaluators: string): string =>
    file(`evaluators: [ ${evaluators} ]
listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }
store: { url: "sqlite:${path}" }
journal: { url: "disk:${join(folder(), 'journal')}" }
export: [ { to: span_events, endpoint: "${sink.url}" } ]
`);
  const service = await measured(main, ['serve', '-c', configured(lenient)], { lastLine: /^Evaluators/m });
  try {
    const sending = (async () => {
      for (let nth = 1; nth <= live; nth++) {
        const body = writeTraces(agentRun(10_000 + nth).map(today), 'protobuf');
        const answer = await fetch(`${service.otlpUrl}/v1/traces`, {
          method: 'POST',
          body: new Uint8Array(body),
          headers: { 'content-type': 'application/x-protobuf' },
        });
        expect(answer.status).toBe(200);
        await pause(10);
      }
    })();
    const report = await reported('-c', configured(strict), '--write', '--until', '2h');
    await sending;
    expect(report).toMatchObject({ runs, written: { written: runs, changed: 0, gone: 0 } });
    const revised = new Set<string>(traces(runs).map(({ spans }) => String(spans[0]?.traceId)));
    const sent = (): number => new Set(sink.received.map((one) => readCarrier(one).span.traceId).filter((id) => revised.has(id))).size;
    for (let tries = 0; tries < 400 && sent() < runs; tries++) await pause(100);
    expect(sent()).toBe(runs);
  } finally {
    await service.stop();
    await sink.close();
  }
  const all = await allVerdicts(path, 1_000);
  expect(all.filter(({ revision }) => revision === 2)).toHaveLength(runs);
  expect(all.filter(({ revision }) => revision === 1)).toHaveLength(live);
});
