/** Where the spans of closed traces stay: in the memory of the bodies that brought them, which is overwritten as soon as no trace needs it. */
import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { gathering } from '../../../src/pipeline/gathering/gatherer.ts';
import { bufferPool } from '../../../src/runtime/buffer-pool.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';

const mebibyte = 1024 * 1024;
const closing = { settleMs: 500, quietMs: 5_000, abandonMs: 600_000, lateMs: 3_600_000 };

function world() {
  const clock = manualClock(0);
  const buffers = bufferPool({ freeBytesMax: mebibyte, poisons: true });
  const gather = gathering({ collectors, clock, telemetry: metricRegistry(), closing, bodies: buffers });
  return {
    clock,
    buffers,
    gather,
    /** Like a receiver: the memory is the body's until its last reader is done. */
    send(spans: readonly Span[], memoryBytes = 0): void {
      const body = writeTraces(spans, 'protobuf');
      const memory = buffers.take(Math.max(body.length, memoryBytes));
      body.copy(memory.bytes);
      gather.addSpans(noTenant, readTraces(memory.bytes.subarray(0, body.length), 'protobuf').spans, undefined, undefined, memory);
      memory.release();
    },
    pass(ms: number): readonly Run[] {
      clock.advance(ms);
      return gather.due();
    },
  };
}

const agent = agentSpan({ id: 1, agent: 'finder', input: 'q', output: 'a', start: 0, end: 90 });
const tools = [2, 3, 4].map((id) => toolSpan({ id, parent: 1, tool: `find ${id}`, result: `r${id}`, start: id, end: id + 1 }));
const toolsOf = (runs: readonly Run[]): unknown => runs.map(({ trace }) => trace.toolCalls.map(({ name, result }) => [name, result]));
const all = [2, 3, 4].map((id) => [`find ${id}`, `r${id}`]);

test('closed traces: spans stay in their bodies, and a late one makes a revision of all of them', () => {
  const { send, pass, buffers } = world();
  send([agent, ...tools.slice(0, 1)]);
  send(tools.slice(1, 2));
  expect(toolsOf(pass(600))).toEqual([all.slice(0, 2)]);
  expect(buffers.usedBytes()).toBeGreaterThan(0);
  send(tools.slice(2));
  const late = pass(600);
  expect([toolsOf(late), late.map(({ revision }) => revision)]).toEqual([[all], [2]]);
  pass(closing.lateMs + 1);
  expect(buffers.usedBytes()).toBe(0);
});

test('closed traces: a small one does not hold a large body, and a late span makes a revision all the same', () => {
  const { send, pass, buffers } = world();
  send([agent, ...tools.slice(0, 2)], 48 * mebibyte);
  expect(toolsOf(pass(600))).toEqual([all.slice(0, 2)]);
  expect(buffers.usedBytes()).toBe(0);
  send(tools.slice(2));
  expect(toolsOf(pass(600))).toEqual([all]);
});

test('open traces: an idle one lets its bodies go, and closes with all its spans', () => {
  const { send, pass, buffers, gather } = world();
  send(tools.slice(0, 2));
  send(tools.slice(2));
  pass(3_000);
  gather.packIdle(10);
  expect(buffers.usedBytes()).toBe(0);
  send([agent]);
  expect(toolsOf(pass(6_000))).toEqual([all]);
});
