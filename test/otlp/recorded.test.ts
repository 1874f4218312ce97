/** Bodies as real exporters sent them. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readLogs, readTraces, type OtlpEncoding } from '../../src/otlp/read/read.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { plainRecord, plainSpan } from './plain.ts';

const bodies: readonly { readonly file: string; readonly spans: number; readonly traces: number; readonly scope: string }[] = [
  { file: 'two-tool-calls.json', spans: 3, traces: 1, scope: 'my-agent' },
  { file: 'text-beyond-ascii.binpb', spans: 2, traces: 1, scope: 'my-agent' },
  { file: 'compressed.binpb.gz', spans: 3, traces: 1, scope: 'my-agent' },
  { file: 'python-agent.binpb', spans: 4, traces: 2, scope: 'autogen-core' },
  { file: 'javascript-agent.binpb', spans: 6, traces: 1, scope: 'ai' },
  { file: 'chat.binpb', spans: 4, traces: 1, scope: 'opentelemetry.instrumentation.openai_v2' },
];

describe('otlp recorded bodies', () => {
  for (const { file, spans, traces, scope } of bodies) {
    test(`otlp: ${file} holds ${spans} spans of ${traces} traces and survives writing`, () => {
      const encoding: OtlpEncoding = file.includes('.json') ? 'json' : 'protobuf';
      const read = readTraces(recorded(file), encoding);
      expect(read.rejections).toEqual([]);
      expect(read.spans).toHaveLength(spans);
      expect(new Set(read.spans.map((span) => span.traceId)).size).toBe(traces);
      expect(read.spans.map((span) => span.scope.name)).toContain(scope);
      for (const span of read.spans) expect(span.wireBytes).toBeGreaterThan(40);
      for (const again of ['protobuf', 'json'] as const) {
        const written = readTraces(writeTraces(read.spans, again), again).spans;
        expect(new Set(written.map(text))).toEqual(new Set(read.spans.map(text)));
      }
    });
  }

  test('otlp: chat-messages.logs.binpb holds 15 records with names, bodies and the spans that they belong to', () => {
    const { records, ignored, rejections } = readLogs(recorded('chat-messages.logs.binpb'), 'protobuf');
    expect({ count: records.length, ignored, rejections }).toEqual({ count: 15, ignored: 0, rejections: [] });
    expect(new Set(records.map((record) => record.eventName))).toEqual(
      new Set(['gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.assistant.message', 'gen_ai.tool.message', 'gen_ai.choice']),
    );
    for (const record of records) {
      expect(record.spanId).toMatch(/^[0-9a-f]{16}$/);
      expect(record.body()).toBe(record.body());
      expect(plainRecord(record)).toMatchObject({ body: expect.anything() });
    }
  });
});

function recorded(file: string): Buffer {
  const bytes = readFileSync(new URL(`../fixtures/otlp/${file}`, import.meta.url));
  return file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

function text(span: Parameters<typeof plainSpan>[0]): string {
  return JSON.stringify(plainSpan(span), (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}
