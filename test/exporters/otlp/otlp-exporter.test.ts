/** The exporter heeds the answer of a backend. */
import { afterEach, expect, test } from 'vitest';
import type { Exporter } from '../../../src/exporters/exporter.ts';
import type { ExporterSettings } from '../../../src/exporters/settings.ts';
import { spanEventsExporter } from '../../../src/exporters/otlp/span-events.ts';
import { scored, scoredRun } from '../../builders/scored-run.ts';
import { otlpSink, type SinkAnswer } from '../otlp-sink.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function backend(answer: SinkAnswer, settings: ExporterSettings = {}): Promise<Exporter> {
  const sink = await otlpSink(answer);
  const exporter = spanEventsExporter({ endpoint: sink.url, ...settings });
  open.push({ close: () => exporter.stop() }, sink);
  return exporter;
}

const item = scoredRun({ tool_error: scored(1) });

test('otlp-exporter: a backend that takes the request and not the span has refused it', async () => {
  for (const [protocol, refusal] of [
    ['http/protobuf', Buffer.from([0x0a, 2, 0x08, 1])],
    ['http/json', '{"partialSuccess":{"rejectedSpans":"1"}}'],
  ] as const) {
    const exporter = await backend((response, at) => void response.end([refusal, '', 'not what OTLP says'][at]), { protocol });
    expect(await exporter.send(item)).toMatchObject({ kind: 'failed', retryable: false });
    expect([await exporter.send(item), await exporter.send(item)]).toEqual([{ kind: 'sent' }, { kind: 'sent' }]);
  }
});

test('otlp-exporter: the time at which a backend wants a retry is heeded, in seconds or as a date', async () => {
  const exporter = await backend((response, at) => {
    response.statusCode = 503;
    response.setHeader('retry-after', ['120', new Date(Date.now() + 3_600_000).toUTCString(), 'soon'][at] ?? '');
    response.end();
  });
  const told = async (): Promise<number | undefined> => {
    const outcome = await exporter.send(item);
    return outcome.kind === 'failed' ? outcome.retryAfterMs : 0;
  };
  expect(await told()).toBe(120_000);
  // The date was written a moment ago, to the second.
  const date = (await told()) ?? 0;
  expect(date > 3_000_000 && date <= 3_600_000).toBe(true);
  expect(await told()).toBeUndefined();
});

test('otlp-exporter: an answer without end is cut off, and a long one does not fill the memory', async () => {
  const endless = await backend(
    (response) => {
      response.write('x');
    },
    { timeoutMs: 50 },
  );
  expect(await endless.send(item)).toMatchObject({ kind: 'failed', retryable: true, error: 'no answer within 50 ms' });
  const long = await backend((response) => void response.end(Buffer.alloc(2_000_000, 'x')));
  expect(await long.send(item)).toEqual({ kind: 'sent' });
});

test('otlp-exporter: a failure is reported at once, for repeating is the queue’s', async () => {
  let requests = 0;
  const exporter = await backend((response) => {
    requests++;
    response.statusCode = 503;
    response.end();
  });
  await exporter.send(item);
  expect(requests).toBe(1);
});
