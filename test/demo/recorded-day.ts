/**
 * The text of `examples/demo-day.jsonl`: a simulated day as OTLP/JSON, one conversation a line. The first block has each kind of conversation once, the
 * second the others, the third web requests without an agent.
 */
import { join } from 'node:path';
import { derivedSpanId, derivedTraceId } from '../../src/model/ids.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { openers, placedBefore, simulatedConversations } from './day.ts';
import { spansOfRun, spansOfWebRequest, type Ids } from './spans.ts';

export const recordedFile = join(import.meta.dirname, '../../examples/demo-day.jsonl');

const endUnixMs = Date.UTC(2026, 0, 5, 18);
const webRequests = 10;
const hourMs = 3_600_000;
const line = (spans: readonly Span[]): string => writeTraces(spans, 'json').toString();

export function recordedDay(): string {
  let made = 0;
  const ids: Ids = { traceId: () => derivedTraceId(`trace ${made++}`), spanId: () => derivedSpanId(`span ${made++}`) };
  const lines = simulatedConversations({ seed: 1, runs: 120 }).map((conversation) =>
    line(placedBefore(conversation, endUnixMs).flatMap(({ item, startUnixMs }) => spansOfRun(item, startUnixMs, ids))),
  );
  const web = Array.from({ length: webRequests }, (_, at) => line(spansOfWebRequest(endUnixMs - at * hourMs, ids)));
  const blocks = [lines.slice(0, openers.length), lines.slice(openers.length), web];
  return `${blocks.map((block) => block.join('\n')).join('\n\n')}\n`;
}
