/** Processes that come up one after the other over one journal, with a real pipeline behind it. */
import { collectors } from '../../collectors/index.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { checkpointer, type Checkpointer } from '../../src/journals/checkpointer.ts';
import type { JournalRecord } from '../../src/journals/journal.ts';
import { memoryJournal, memoryRecords, type MemoryRecords } from '../../src/journals/memory.ts';
import { manualClock, type ManualClock } from '../../src/model/clock.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { Span } from '../../src/model/span.ts';
import { itemSequence, noItems } from '../../src/model/watermark.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import type { FinishedTrace } from '../../src/pipeline/gathering/journal-references.ts';
import { pipeline, type Pipeline } from '../../src/pipeline/pipeline.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import { agentSpan, modelSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { testParts, type TestParts } from './parts.ts';

interface Process {
  readonly take: (spans: readonly Span[]) => Promise<string>;
  readonly intake: Checkpointer;
  readonly flow: Pipeline;
  readonly clock: ManualClock;
  readonly parts: TestParts;
  /** Lets time pass; the journal is tended each second. */
  pass(ms: number): Promise<void>;
}

interface World {
  readonly memory: MemoryRecords;
  readonly delivered: ScoredRun[];
  readonly bytesMax: number;
  nowMs: number;
}

export const second = 1_000;

export function world(bytesMax = 1_000_000): World {
  return { memory: memoryRecords(), delivered: [], bytesMax, nowMs: 1_700_000_000_000 };
}

interface ProcessOptions {
  /** False when nothing that it scores is stored. */
  readonly stores?: boolean;
  /** False when nothing that it scores is sent. */
  readonly sends?: boolean;
  /** Another process joins traces, and takes those that leave. */
  readonly other?: { readonly joins: (key: string) => boolean; readonly handOver: (trace: FinishedTrace) => Promise<boolean> };
}

/** A process that comes up over what the last one left. */
export async function started(of: World, { stores = true, sends = true, other }: ProcessOptions = {}): Promise<Process> {
  const parts = testParts();
  const clock = manualClock(of.nowMs);
  const journal = await memoryJournal({ folder: '', bytesMax: of.bytesMax }, { ...parts, clock }, of.memory);
  const ids = itemSequence();
  const flow = pipeline({
    collectors,
    plan: [],
    context: evaluationContext(),
    clock,
    telemetry: parts.telemetry,
    ask: () => undefined,
    ...(other === undefined ? {} : { others: { joins: other.joins, left: () => undefined, claim: () => undefined } }),
    deliver(item) {
      ids.next();
      of.delivered.push(item);
    },
  });
  const own = checkpointer({
    journal,
    flow,
    telemetry: parts.telemetry,
    clock,
    watermarks: { delivered: ids.last, stored: () => (stores ? ids.last() : noItems), sent: () => (sends ? ids.last() : noItems) },
    inflatedBytesMax: 1_000_000,
    ...(other === undefined ? {} : { archive: { keep: () => undefined, handOver: other.handOver } }),
  });
  await own.replay();
  return {
    intake: own,
    flow,
    clock,
    parts,
    async take(spans) {
      const taken = await own.spans(request(spans, clock.nowMs()), spans);
      return taken.kind === 'appended' ? taken.kind : taken.reason;
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= second) {
        const step = Math.min(left, second);
        clock.advance(step);
        // Runs close while the journal is tended, as they do in the service.
        const tended = own.tend();
        flow.advance();
        await tended;
      }
      of.nowMs = clock.nowMs();
    },
  };
}

export function request(spans: readonly Span[], receivedMs: number): JournalRecord {
  return {
    kind: 'traces',
    tenant: noTenant,
    contentType: 'application/x-protobuf',
    contentEncoding: '',
    receivedMs,
    body: writeTraces(spans, 'protobuf'),
  };
}

/** Spans of one run, the agent's last. */
export function spansOf(trace: number): readonly Span[] {
  const call = { id: `c${trace}`, name: 't', arguments: '{"x":1}' };
  return [
    modelSpan({ id: 2, parent: 1, trace, start: 1, end: 2, user: `question ${trace}`, asks: [call] }),
    toolSpan({ id: 3, parent: 1, trace, start: 3, end: 4, call: call.id, arguments: '{"x":1}', result: `r${trace}` }),
    modelSpan({ id: 4, parent: 1, trace, start: 5, end: 6, user: `question ${trace}`, says: 'done' }),
    agentSpan({ id: 1, trace, start: 0, end: 7, agent: `agent ${trace}`, input: `question ${trace}`, output: 'done' }),
  ];
}
