/** A store that is gone with the process, for tests and for running without a file. */
import type { Run } from '../model/agent-trace.ts';
import { runTargetId } from '../model/verdict.ts';
import { runJson } from '../model/run-json.ts';
import { callEnd, microsOf, storedDecisions, storedVerdict, tookMicros } from './item.ts';
import { traceKey } from '../pipeline/traces.ts';
import { memoryExports } from './memory-exports.ts';
import { spansInMemory } from './spans-in-memory.ts';
import type { ContentGone, RunFilter, RunPlace, RunRow, Store, StoredDecision, StoredVerdict, StoreItem, SummaryRow, ToolRow } from './store.ts';

interface Kept {
  readonly id: number;
  run: Run;
  contentGone: ContentGone | undefined;
  readonly verdicts: Map<string, StoredVerdict>;
  readonly decisions: Map<string, StoredDecision>;
}

/** Beyond it the oldest runs go. */
const runsMaxDefault = 10_000;

/** Of spans, compressed. */
const spanBytesMaxDefault = 64 * 1024 * 1024;

export function memoryStore({ runsMax = runsMaxDefault, spanBytesMax = spanBytesMaxDefault }: { readonly runsMax?: number; readonly spanBytesMax?: number } = {}): Store {
  const spans = spansInMemory(spanBytesMax);
  const kept = new Map<string, Kept>();
  const { write: writeExports, forget, prune: pruneExports, ...exports } = memoryExports();
  let ids = 0;
  const ordered = (): readonly Kept[] => [...kept.values()].sort((one, other) => startOf(other) - startOf(one) || other.id - one.id);
  const within = (filter: RunFilter): readonly Kept[] => ordered().filter((one) => isWanted(one, filter));

  function take(item: StoreItem): void {
    const key = `${item.run.tenant}/${runTargetId(item.run)}`;
    const one: Kept = kept.get(key) ?? { id: ++ids, run: item.run, contentGone: item.withoutContent, verdicts: new Map<string, StoredVerdict>(), decisions: new Map<string, StoredDecision>() };
    if (item.run.revision > one.run.revision) Object.assign(one, { run: item.run, contentGone: item.withoutContent });
    for (const verdict of item.evaluations.map(storedVerdict)) if (verdict.revision >= (one.verdicts.get(verdict.name)?.revision ?? 0)) one.verdicts.set(verdict.name, verdict);
    for (const decision of storedDecisions(item)) if (decision.revision >= (one.decisions.get(decision.name)?.revision ?? 0)) one.decisions.set(decision.name, decision);
    if (one.run.partOf !== undefined) {
      one.verdicts.clear();
      one.decisions.clear();
    }
    kept.set(key, one);
  }

  /** Gives how many pieces of spans went with them. */
  function drop(gone: readonly Kept[]): number {
    for (const { run } of gone) kept.delete(`${run.tenant}/${runTargetId(run)}`);
    forget(gone.map(({ run }) => run));
    return gone.reduce((sum, { run }) => sum + spans.forget(run.tenant, run.traceId), 0);
  }

  return {
    isDurable: false,
    exports,
    async write(items, waiting = []) {
      items.forEach(take);
      const rows = items.length === 0 ? [] : writeExports(waiting);
      if (kept.size > runsMax) drop(ordered().slice(runsMax));
      return rows;
    },
    async writeSpans(pieces) {
      spans.write(pieces);
    },
    spans: async (tenant, traceId) => spans.of(tenant, traceId),
    async known(traces) {
      const byTrace = Map.groupBy([...kept.values()].sort((one, other) => one.id - other.id), ({ run }) => traceKey(run.tenant, run.traceId));
      return traces.flatMap(({ tenant, traceId }) => {
        const own = byTrace.get(traceKey(tenant, traceId)) ?? [];
        const isJoined = spans.isJoined(tenant, traceId);
        return own.length === 0 && !isJoined ? [] : [{ tenant, traceId, isJoined, runs: own.map(({ run: { spanId, revision, partOf } }) => ({ spanId, revision, partOf: partOf === undefined ? undefined : runTargetId(partOf) })) }];
      });
    },
    async run(key) {
      const one = kept.get(`${key.tenant}/${runTargetId(key)}`);
      return one === undefined ? undefined : { ...rowOf(one), content: one.contentGone === undefined ? runJson(one.run.trace, one.run) : undefined, contentGone: one.contentGone, spans: spans.of(key.tenant, key.traceId).reduce((sum, piece) => sum + piece.spans, 0), decisions: byName([...one.decisions.values()]) };
    },
    async runs({ limit, after, ...filter }) {
      const found = within(filter).filter((one) => after === undefined || isBehind(one, after));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return { runs: page.map(rowOf), next: found.length > limit && last !== undefined ? { startedAt: startOf(last), id: last.id } : undefined };
    },
    async decisions(traceId) {
      return within({ traceId }).toReversed().flatMap(({ decisions }) => byName([...decisions.values()]));
    },
    async summary({ from, to, agent, evaluator, bucketMicros }) {
      const found = within({ from, to, ...(agent === undefined ? {} : { agent }) }).flatMap((one) => [...one.verdicts.values()].filter(({ name }) => evaluator === undefined || name === evaluator).map((verdict) => ({ ...verdict, at: startOf(one) - (startOf(one) % bucketMicros) })));
      const groups = Map.groupBy(found, ({ at, name, verdict }) => `${String(at).padStart(17, '0')} ${name} ${verdict}`);
      return [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).flatMap(([, own]): readonly SummaryRow[] => {
        const [first] = own;
        return first === undefined ? [] : [{ at: first.at, name: first.name, verdict: first.verdict, count: own.length, score: mean(own.flatMap(({ score }) => (score === undefined ? [] : [score]))) }];
      });
    },
    async tools({ from, to, agent }) {
      const calls = within({ from, to, ...(agent === undefined ? {} : { agent }) }).flatMap(({ run }) => run.trace.toolCalls.map((call) => ({ agent: run.trace.agent, name: call.name, ended: callEnd(call), took: tookMicros(call) })));
      return [...Map.groupBy(calls, ({ agent: by, name }) => JSON.stringify([by, name])).values()]
        .flatMap((own): readonly ToolRow[] => {
          const [first] = own;
          const ended = (word: string): number => own.filter((call) => call.ended === word).length;
          return first === undefined ? [] : [{ agent: first.agent, name: first.name, calls: own.length, errors: ended('failed'), notExecuted: ended('not_executed'), tookMicros: mean(own.flatMap(({ took }) => took ?? [])) }];
        })
        .sort((one, other) => other.calls - one.calls || compared(one.agent ?? '', other.agent ?? '') || compared(one.name, other.name));
    },
    async prune({ runsBefore, contentBefore, stepRuns, ...limits }) {
      const oldest = ordered().toReversed();
      const gone = oldest.slice(0, stepRuns).filter((one) => startOf(one) < runsBefore);
      const pieces = drop(gone) + spans.expire(contentBefore, stepRuns);
      const waiting = pruneExports({ ...limits, stepRuns });
      const emptied = oldest.filter((one) => one.contentGone === undefined && !gone.includes(one) && startOf(one) < contentBefore).slice(0, stepRuns);
      for (const one of emptied) one.contentGone = 'expired';
      return { runs: gone.length, contents: emptied.length, spans: pieces, exports: waiting.exports, more: waiting.more || gone.length === stepRuns || emptied.length === stepRuns || pieces >= stepRuns };
    },
    backup: () => Promise.reject(new Error('A store in memory has no file to copy.')),
    async stop() {},
  };
}

function startOf({ run }: Kept): number {
  return microsOf(run.startUnixNano);
}

function isBehind(one: Kept, after: RunPlace): boolean {
  return startOf(one) < after.startedAt || (startOf(one) === after.startedAt && one.id < after.id);
}

function isWanted(one: Kept, filter: RunFilter): boolean {
  const { run } = one;
  if (run.partOf !== undefined) return false;
  const is = (wanted: string | undefined, value: string | undefined): boolean => wanted === undefined || wanted === value;
  if (!(is(filter.tenant, run.tenant) && is(filter.agent, run.trace.agent) && is(filter.service, run.service) && is(filter.version, run.serviceVersion) && is(filter.sessionId, run.trace.sessionId) && is(filter.traceId, run.traceId))) return false;
  if (startOf(one) < (filter.from ?? -Infinity) || startOf(one) >= (filter.to ?? Infinity)) return false;
  if (filter.evaluator === undefined && filter.verdict === undefined) return true;
  return [...one.verdicts.values()].some(({ name, verdict }) => is(filter.evaluator, name) && is(filter.verdict, verdict));
}

function rowOf({ run, verdicts }: Kept): RunRow {
  return {
    tenant: run.tenant,
    traceId: run.traceId,
    spanId: run.spanId,
    agent: run.trace.agent,
    service: run.service,
    version: run.serviceVersion,
    sessionId: run.trace.sessionId,
    model: run.trace.model,
    startedAt: microsOf(run.startUnixNano),
    endedAt: microsOf(run.endUnixNano),
    completeness: run.completeness,
    status: run.trace.status,
    revision: run.revision,
    partOf: run.partOf === undefined ? undefined : runTargetId(run.partOf),
    verdicts: byName([...verdicts.values()]),
  };
}

function byName<Named extends { readonly name: string }>(rows: readonly Named[]): readonly Named[] {
  return rows.toSorted((one, other) => compared(one.name, other.name));
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
