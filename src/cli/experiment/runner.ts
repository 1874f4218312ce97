/** Runs an agent once for each example and repeat, and writes each result once. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentStarter, StartedAgent } from './agent.ts';
import type { RunnableExample } from './dataset.ts';
import type { ExampleScoring } from './example-scoring.ts';
import type { OpenSlot, SpanCollector } from './span-collector.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { Sleep } from '../../model/clock.ts';
import type { Experiment, ExperimentResult, ResultError } from '../../model/experiment.ts';
import type { SpanId, TraceId } from '../../model/ids.ts';
import { addResult, type ExperimentStore } from '../../model/store/experiment-store.ts';
import type { Context } from '../../telemetry/context.ts';

export interface ExampleRun {
  readonly example: RunnableExample;
  readonly repeat: number;
}

interface RunnerDeps extends Pick<Context, 'clock' | 'sleep'> {
  readonly experiment: Pick<Experiment, 'id' | 'tenant'>;
  readonly store: Pick<ExperimentStore, 'add'>;
  readonly starter: AgentStarter;
  readonly collector: SpanCollector;
  readonly scoring: ExampleScoring;
  /** Agents that run at the same time. */
  readonly concurrency: number;
  /** Time limit of one run of the agent. */
  readonly timeoutMs: number;
  readonly newIds: () => { readonly traceId: TraceId; readonly spanId: SpanId };
  /** Aborted: nothing begins any more, and running agents are killed. */
  readonly signal: AbortSignal;
  readonly onResult: (result: ExperimentResult) => void;
}

/** Runs whose agent has ended and which have no stored result yet; while there are more, no agent begins. */
const unfinishedMax = 64;

/** Every repeat of all examples before the next one, so that an interrupted experiment has something of each. Skips `done` ones. */
export function exampleRuns(
  examples: readonly RunnableExample[],
  repeats: number,
  done: readonly Pick<ExperimentResult, 'exampleId' | 'repeat'>[],
): readonly ExampleRun[] {
  const isDone = new Set(done.map(({ exampleId, repeat }) => JSON.stringify([exampleId, repeat])));
  return Array.from({ length: repeats }, (_, at) => at + 1).flatMap((repeat) =>
    examples.flatMap((example) => (isDone.has(JSON.stringify([example.id, repeat])) ? [] : [{ example, repeat }])),
  );
}

/**
 * The next agent starts before the run of the last one is built and scored, because a process that starts leaves this one nothing to do.
 * Rejects when a result cannot be written. `stopped`: the signal was aborted before the last run.
 */
export async function runExamples(runs: readonly ExampleRun[], deps: RunnerDeps): Promise<'done' | 'stopped'> {
  const queue = runs.values();
  const unfinished = new Set<Promise<void>>();
  const turn = turns();
  let fault: { readonly error: unknown } | undefined;
  let finished = 0;
  const written = async (result: Promise<ExperimentResult | undefined>): Promise<void> => {
    try {
      const found = await result;
      if (found === undefined) return;
      await addResult(deps.store, deps.experiment, found);
      finished++;
      deps.onResult(found);
    } catch (error) {
      fault ??= { error };
    }
  };
  const worker = async (): Promise<void> => {
    for (const run of queue) {
      while (unfinished.size >= unfinishedMax) await Promise.race(unfinished);
      if (deps.signal.aborted || fault !== undefined) return;
      const { free, result } = agentRun(run, { ...deps, turn });
      let isStored = false;
      const stored = written(result).finally(() => {
        isStored = true;
        unfinished.delete(stored);
      });
      await free;
      if (!isStored) unfinished.add(stored);
    }
  };
  await Promise.all(Array.from({ length: Math.min(deps.concurrency, runs.length) }, worker));
  await Promise.all(unfinished);
  if (fault !== undefined) throw fault.error;
  return finished === runs.length ? 'done' : 'stopped';
}

type Turn = () => Promise<void>;

/** Each call resolves on a separate turn of the event loop, so that the ends of agents are handled between two of them. */
function turns(): Turn {
  let last = Promise.resolve();
  return () => (last = last.then(async () => await nextTurn()));
}

interface AgentRun {
  /** Resolves when the next agent may start. Never rejects. */
  readonly free: Promise<void>;
  /** `undefined`: the run was interrupted. */
  readonly result: Promise<ExperimentResult | undefined>;
}

/** Runs the agent. Its place is free when nothing of it runs any more, or else when its spans are there and the rest of it is killed. */
function agentRun({ example, repeat }: ExampleRun, deps: RunnerDeps & { readonly turn: Turn }): AgentRun {
  const { experiment, starter, collector, scoring, clock, turn } = deps;
  const { traceId, spanId } = deps.newIds();
  const slot = { experimentId: experiment.id, exampleId: example.id, repeat, traceId, parentSpanId: spanId };
  const open = collector.open(slot);
  const beganMs = clock.nowMs();
  const place = Promise.withResolvers<void>();
  const collect = async (): Promise<(() => Promise<ExperimentResult>) | undefined> => {
    let agent: StartedAgent | undefined;
    try {
      agent = starter.start(slot, example, { timeoutMs: example.timeoutMs ?? deps.timeoutMs, signal: deps.signal });
      const end = await agent.end;
      const endedMs = clock.nowMs();
      if (end.kind === 'interrupted') return undefined;
      if (!agent.isRunning()) {
        agent = undefined;
        place.resolve();
      }
      await turn();
      const runs = await settledRuns(open, deps, end.error);
      if (runs === undefined) return undefined;
      const collected = open.collected();
      return async () => ({
        exampleId: example.id,
        repeat,
        beganAt: Math.round(beganMs * 1_000),
        endedAt: Math.round(endedMs * 1_000),
        tookMicros: Math.round((endedMs - beganMs) * 1_000),
        ...(await scoring.result(example, { end, collected, runs, whatToCheck: starter.whatToCheck, strays: collector.strays() })),
      });
    } finally {
      agent?.cleanUp();
      open.close();
      place.resolve();
    }
  };
  const result = async (): Promise<ExperimentResult | undefined> => {
    const score = await collect();
    if (score === undefined) return undefined;
    await turn();
    return await score();
  };
  return { free: place.promise, result: result() };
}

/** Waits until the run is whole, or no more spans come. `undefined`: interrupted while it waited for spans that the run lacks. */
async function settledRuns(
  open: OpenSlot,
  { scoring, starter: { waits }, sleep, signal }: RunnerDeps,
  error: ResultError | undefined,
): Promise<readonly Run[] | undefined> {
  for (;;) {
    const { spans, records } = open.collected();
    const seen = spans.length + records.length;
    const runs = seen === 0 ? [] : scoring.runsOf(open.collected());
    const isWhole = runs.length > 0 && runs.every(({ completeness }) => completeness === 'complete');
    const waitMs = seen === 0 ? firstWaitMs(waits, error) : isWhole ? waits.settleMs : waits.nextMs;
    if (waitMs === 0) return runs;
    if (signal.aborted) return isWhole ? runs : undefined;
    await nextArrival(open, { waitMs, sleep, signal });
    const now = open.collected();
    if (now.spans.length + now.records.length === seen) return runs;
  }
}

/** An agent that never ran has sent nothing, and one that failed is likely to have sent nothing. */
function firstWaitMs({ firstMs, nextMs }: AgentStarter['waits'], error: ResultError | undefined): number {
  return error?.kind === 'not_started' ? 0 : error === undefined ? firstMs : nextMs;
}

/** Resolves at the next spans, after the wait, or when the signal aborts. */
async function nextArrival(
  open: OpenSlot,
  { waitMs, sleep, signal }: { readonly waitMs: number; readonly sleep: Sleep; readonly signal: AbortSignal },
): Promise<void> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener('abort', stop, { once: true });
  await Promise.race([open.arrival(over.signal), sleep(waitMs, over.signal)]);
  signal.removeEventListener('abort', stop);
  over.abort();
}
