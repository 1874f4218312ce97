/** A store that is gone with the process, for tests and for running without a file. */
import type { Run } from '../model/agent-trace.ts';
import { runTargetId } from '../model/verdict.ts';
import { callEnd } from '../model/tool-call-outcome.ts';
import { lasting } from './compression.ts';
import { storedDecisions, tookMicros, surplusRuns } from './row-mapping.ts';
import { traceKey } from '../pipeline/gathering/trace-table.ts';
import { memoryAnnotations } from './memory-annotations.ts';
import { memoryBatches } from './memory-batches.ts';
import { memoryDrift } from './memory-drift.ts';
import { memoryExports } from './memory-exports.ts';
import { byName, compared, isBehind, isWanted, listed, mean, rowOf, startOf, weightOf, type Kept, type Version } from './memory-runs.ts';
import { memoryVerdictRows } from './memory-verdict-rows.ts';
import { chosenPairs, spoken, type ChosenPair } from './judge-choices.ts';
import { memoryAnswers, memoryJobs } from './memory-judges.ts';
import { memorySessions } from './memory-sessions.ts';
import { memorySpend } from './memory-spend.ts';
import { heldVerdicts, type HeldVerdict } from './memory-verdicts.ts';
import { contentOf, readContent } from './content-codec.ts';
import { spansInMemory } from './spans-in-memory.ts';
import type { ContentGone, RunFilter, Store, StoredDecision, StoreItem, SummaryRow, ToolRow } from '../model/store/store.ts';

/** Beyond it the runs go that were scored first. */
const runsMaxDefault = 10_000;
/** Of their content, compressed; likewise. */
const contentBytesMaxDefault = 64 * 1024 * 1024;
/** Of spans, compressed. */
const spanBytesMaxDefault = 64 * 1024 * 1024;

export interface MemoryStoreOptions {
  readonly runsMax?: number;
  readonly contentBytesMax?: number;
  readonly spanBytesMax?: number;
}

export function memoryStore({
  runsMax = runsMaxDefault,
  contentBytesMax = contentBytesMaxDefault,
  spanBytesMax = spanBytesMaxDefault,
}: MemoryStoreOptions = {}): Store {
  const spans = spansInMemory(spanBytesMax);
  const kept = new Map<string, Kept>();
  const annotations = memoryAnnotations((traceId) =>
    [...kept.values()].flatMap(({ id, version: { row }, verdicts }) => (row.traceId === traceId ? [{ id, row, verdicts }] : [])),
  );
  const jobs = memoryJobs();
  const sessions = memorySessions({
    hasJob: (key, name) => jobs.revision(key, name) > 0,
    putJob: jobs.put,
    isThere: (key) => kept.has(key),
    move(name, from, to) {
      const [before, after] = [kept.get(from), kept.get(to)];
      if (before === undefined || after === undefined) return;
      const { tenant, traceId, spanId } = after.version.row;
      const [verdict, decision] = [before.verdicts.get(name), before.decisions.get(name)];
      for (const said of [before.verdicts, before.decisions]) said.delete(name);
      if (verdict !== undefined) after.verdicts.set(name, verdict);
      if (decision !== undefined) after.decisions.set(name, { ...decision, tenant, traceId, spanId });
      for (const one of [before, after]) weigh(one, weightOf(one));
    },
  });
  const { write: writeExports, awaited, forget, prune: pruneExports, bytes: exportBytes, ...exports } = memoryExports();
  let ids = 0;
  let contentBytes = 0;
  /** Of the runs without it. */
  let runBytes = 0;
  /** What waited for judges and went with its run; the next `prune` tells. */
  let goneJobs = 0;
  const ordered = (): readonly Kept[] => [...kept.values()].sort((one, other) => startOf(other) - startOf(one) || other.id - one.id);
  const within = ({ annotated, ...filter }: RunFilter): readonly Kept[] =>
    ordered().filter(
      (one) => isWanted(one, filter) && (annotated === undefined || annotated === annotations.of(one.version.row).length > 0),
    );

  function versionOf({ run, withoutContent, content: made = contentOf(run, withoutContent) }: StoreItem): Version {
    const { contentGone } = made;
    const content = made.content === undefined ? undefined : lasting(made.content);
    contentBytes += content?.length ?? 0;
    return {
      row: rowOf(run),
      calls: run.trace.toolCalls.map((call) => ({ name: call.name, ended: callEnd(call), took: tookMicros(call) })),
      content,
      contentGone,
    };
  }

  function withoutContent(version: Version, gone: ContentGone): void {
    contentBytes -= version.content?.length ?? 0;
    Object.assign(version, { content: undefined, contentGone: gone });
  }

  function take(item: StoreItem): void {
    const key = `${item.run.tenant}/${runTargetId(item.run)}`;
    const one: Kept = kept.get(key) ?? {
      id: ++ids,
      key,
      version: versionOf(item),
      verdicts: new Map<string, HeldVerdict>(),
      decisions: new Map<string, StoredDecision>(),
      bytes: 0,
    };
    if (item.run.revision > one.version.row.revision) {
      withoutContent(one.version, 'unknown');
      one.version = versionOf(item);
    }
    for (const verdict of heldVerdicts(item.evaluations))
      if (verdict.revision >= (one.verdicts.get(verdict.name)?.revision ?? 0)) one.verdicts.set(verdict.name, verdict);
    for (const decision of storedDecisions({ ...item, decisions: spoken(item) }))
      if (decision.revision >= (one.decisions.get(decision.name)?.revision ?? 0)) one.decisions.set(decision.name, decision);
    if (item.answered === true) for (const { name } of item.decisions) jobs.end(key, name, item.run.session?.revision ?? item.run.revision);
    for (const pair of chosenPairs([item], () => key)) choose(one, pair);
    if (item.turn !== undefined)
      for (const decision of storedDecisions({ run: item.run, decisions: sessions.turn(key, item.run, item.turn) }))
        one.decisions.set(decision.name, decision);
    if (one.version.row.partOf !== undefined) {
      jobs.forget(key);
      sessions.forgetRun(key, true);
      one.verdicts.clear();
      one.decisions.clear();
    }
    kept.set(key, one);
    weigh(one, weightOf(one));
  }

  function weigh(one: Kept, bytes: number): void {
    runBytes += bytes - one.bytes;
    one.bytes = bytes;
  }

  /** Of all that goes with runs. */
  const usedBytes = (): number =>
    runBytes + contentBytes + spans.bytes() + exportBytes() + jobs.bytes() + sessions.bytes() + annotations.bytes();

  /** What was written before of the same or a newer revision stays. */
  function choose({ key, decisions }: Kept, { run, name, what }: ChosenPair<Run>): void {
    if (Math.max(decisions.get(name)?.revision ?? 0, jobs.revision(key, name)) >= run.revision) return;
    jobs.end(key, name, run.revision);
    if (what.kind === 'job') jobs.put(key, run, what.job);
    else for (const decision of storedDecisions({ run, decisions: [what.decision] })) decisions.set(name, decision);
  }

  /** Gives how many pieces of spans went with them. */
  function drop(gone: readonly Kept[]): number {
    for (const one of gone) {
      const { key, version } = one;
      kept.delete(key);
      weigh(one, 0);
      goneJobs += jobs.forget(key);
      sessions.forgetRun(key, false);
      withoutContent(version, 'expired');
    }
    forget(gone.map(({ version }) => version.row));
    annotations.forget(gone.map(({ version }) => version.row));
    return gone.reduce((sum, { version: { row } }) => sum + spans.forget(row.tenant, row.traceId), 0);
  }

  /** What no longer fits. */
  function surplus(): readonly Kept[] {
    const gone: Kept[] = [];
    let [runs, bytes] = [kept.size, contentBytes];
    for (const one of kept.values()) {
      if (runs <= runsMax && bytes <= contentBytesMax) break;
      gone.push(one);
      runs--;
      bytes -= one.version.content?.length ?? 0;
    }
    return gone;
  }

  return {
    isDurable: false,
    exports,
    annotations,
    verdicts: memoryVerdictRows(
      () => ordered().map(({ id, key, version: { row }, verdicts, decisions }) => ({ id, key, row, verdicts, decisions })),
      (key, name) => jobs.probability(key, name) ?? sessions.probability(key, name),
    ),
    judgeSpend: memorySpend(),
    judgeJobs: jobs,
    judgeSessions: sessions,
    judgeAnswers: memoryAnswers(),
    judgeBatches: memoryBatches(),
    judgeDrift: memoryDrift(),
    async write(items, waiting = []) {
      items.forEach(take);
      annotations.settle(new Set(items.map(({ run }) => run.traceId)));
      const rows = items.length === 0 ? [] : writeExports(waiting);
      drop(surplus());
      return rows;
    },
    async writeSpans(pieces) {
      spans.write(pieces);
    },
    spans: async (tenant, traceId) => spans.of(tenant, traceId),
    async known(traces) {
      const byTrace = Map.groupBy(
        [...kept.values()].sort((one, other) => one.id - other.id),
        ({ version: { row } }) => traceKey(row.tenant, row.traceId),
      );
      return traces.flatMap(({ tenant, traceId }) => {
        const own = byTrace.get(traceKey(tenant, traceId)) ?? [];
        const isJoined = spans.isJoined(tenant, traceId);
        return own.length === 0 && !isJoined
          ? []
          : [
              {
                tenant,
                traceId,
                isJoined,
                runs: own.map(
                  ({
                    version: {
                      row: { spanId, revision, partOf },
                    },
                  }) => ({ spanId, revision, partOf }),
                ),
              },
            ];
      });
    },
    async run(key) {
      const one = kept.get(`${key.tenant}/${runTargetId(key)}`);
      if (one === undefined) return undefined;
      const { content, contentGone } = one.version;
      return {
        ...listed(one),
        content: content === undefined ? undefined : readContent(content),
        contentGone,
        spans: spans.of(key.tenant, key.traceId).reduce((sum, piece) => sum + piece.spans, 0),
        decisions: byName([...one.decisions.values()]),
        annotations: annotations.of(key),
      };
    },
    async runs({ limit, after, ...filter }) {
      const found = within(filter).filter((one) => after === undefined || isBehind(one, after));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        runs: page.map(listed),
        next: found.length > limit && last !== undefined ? { startedAt: startOf(last), id: last.id } : undefined,
      };
    },
    async decisions(traceId) {
      return within({ traceId })
        .toReversed()
        .flatMap(({ decisions }) => byName([...decisions.values()]));
    },
    async summary({ evaluator, bucketMicros, ...filter }) {
      const found = within(filter).flatMap((one) =>
        [...one.verdicts.values()]
          .filter(({ name }) => evaluator === undefined || name === evaluator)
          .map((verdict) => ({ ...verdict, at: startOf(one) - (startOf(one) % bucketMicros) })),
      );
      const groups = Map.groupBy(found, ({ at, name, verdict }) => `${String(at).padStart(17, '0')} ${name} ${verdict}`);
      return [...groups]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .flatMap(([, own]): readonly SummaryRow[] => {
          const [first] = own;
          return first === undefined
            ? []
            : [
                {
                  at: first.at,
                  name: first.name,
                  verdict: first.verdict,
                  count: own.length,
                  score: mean(own.flatMap(({ score }) => (score === undefined ? [] : [score]))),
                },
              ];
        });
    },
    async tools(query) {
      const calls = within(query).flatMap(({ version: { row, calls: own } }) => own.map((call) => ({ ...call, agent: row.agent })));
      return [...Map.groupBy(calls, ({ agent: by, name }) => JSON.stringify([by, name])).values()]
        .flatMap((own): readonly ToolRow[] => {
          const [first] = own;
          const ended = (word: string): number => own.filter((call) => call.ended === word).length;
          return first === undefined
            ? []
            : [
                {
                  agent: first.agent,
                  name: first.name,
                  calls: own.length,
                  errors: ended('failed'),
                  notExecuted: ended('not_executed'),
                  tookMicros: mean(own.flatMap(({ took }) => took ?? [])),
                },
              ];
        })
        .sort((one, other) => other.calls - one.calls || compared(one.agent ?? '', other.agent ?? '') || compared(one.name, other.name));
    },
    async prune({ runsBefore, contentBefore, jobsBefore, turnsBefore, bytesMax, stepRuns, ...limits }) {
      const oldest = ordered().toReversed();
      const surplusOnes = surplusRuns({ used: usedBytes(), bytesMax, runs: kept.size });
      const [isAwaited, asked, turns] = [awaited(), jobs.awaited(jobsBefore), sessions.awaited(turnsBefore)];
      const isOld = (one: Kept): boolean =>
        startOf(one) < runsBefore && !isAwaited(one.version.row) && !asked.has(one.key) && !turns.has(one.key);
      const gone = (surplusOnes > 0 ? oldest.slice(0, surplusOnes) : oldest.filter(isOld)).slice(0, stepRuns);
      const pieces = drop(gone) + spans.expire(contentBefore, stepRuns);
      const waiting = pruneExports({ ...limits, stepRuns });
      const emptied = oldest
        .filter((one) => one.version.content !== undefined && !gone.includes(one) && startOf(one) < contentBefore)
        .slice(0, stepRuns);
      for (const { version } of emptied) withoutContent(version, 'expired');
      const withRuns = goneJobs;
      goneJobs = 0;
      return {
        runs: gone.length,
        contents: emptied.length,
        spans: pieces,
        exports: waiting.exports,
        jobs: withRuns,
        more:
          waiting.more ||
          gone.length === stepRuns ||
          emptied.length === stepRuns ||
          pieces >= stepRuns ||
          (gone.length > 0 && usedBytes() > bytesMax),
      };
    },
    backup: () => Promise.reject(new Error('A store in memory has no file to copy.')),
    async stop() {},
  };
}
