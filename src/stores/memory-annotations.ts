/** Annotations in a store that ends with the process. */
import type { RunKey } from '../model/agent-trace.ts';
import {
  annotationId,
  annotationsPerTraceMax,
  annotationsWaitingMax,
  type AnnotatedRun,
  type Annotation,
  type AnnotationFate,
  type AnnotationStore,
  type IdentifiedAnnotation,
  type StoredAnnotation,
  traceOfAnnotation,
} from '../model/store/annotation-store.ts';
import type { JsonObject } from '../model/json.ts';
import { runTargetId } from '../model/verdict.ts';
import { roughBytes } from '../model/size-estimate.ts';
import { onCall } from './annotated-call.ts';
import { detailsOf, type HeldVerdict } from './memory-verdicts.ts';
import type { RunRow } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';

/** A run as it stands in the store. */
export interface AnnotatableRun {
  readonly id: number;
  readonly row: Omit<RunRow, 'verdicts'>;
  readonly verdicts: ReadonlyMap<string, HeldVerdict>;
}

interface Kept {
  readonly id: number;
  readonly annotation: Annotation;
  readonly receivedAt: Micros;
  /** What it holds, roughly. */
  readonly bytes: number;
  /** Undefined: it waits. */
  run: AnnotatableRun | undefined;
}

export interface MemoryAnnotations extends AnnotationStore {
  of(run: RunKey): readonly IdentifiedAnnotation[];
  /** The runs of these traces have changed. */
  settle(traces: Iterable<string>): void;
  /** Those of runs that are gone. */
  forget(runs: readonly RunKey[]): void;
  /** Of those that have their run. */
  bytes(): number;
}

/** Of all; in a file they go with the oldest runs when it has too many bytes. */
const heldMaxDefault = 100_000;

export interface MemoryAnnotationBounds {
  readonly waitingMax?: number;
  readonly heldMax?: number;
}

export function memoryAnnotations(
  runsOf: (traceId: string) => readonly AnnotatableRun[],
  { waitingMax = annotationsWaitingMax, heldMax = heldMaxDefault }: MemoryAnnotationBounds = {},
): MemoryAnnotations {
  const byTrace = new Map<string, Kept[]>();
  let ids = 0;

  const all = (): readonly Kept[] => [...byTrace.values()].flat();
  const waitingOnes = (): readonly Kept[] =>
    all()
      .filter(({ run }) => run === undefined)
      .sort((one, other) => one.receivedAt - other.receivedAt || one.id - other.id);

  function keep(traceId: string, rows: readonly Kept[]): void {
    if (rows.length === 0) byTrace.delete(traceId);
    else byTrace.set(traceId, [...rows]);
  }

  function put(annotation: Annotation, receivedAt: Micros): void {
    const rows = byTrace.get(annotation.traceId) ?? [];
    const before = rows.find((row) => targetText(row.annotation) === targetText(annotation));
    if (before !== undefined && before.annotation.at > annotation.at) return;
    byTrace.set(annotation.traceId, [
      ...rows.filter((row) => row !== before),
      { id: before?.id ?? ++ids, annotation, receivedAt, bytes: roughBytes(annotation), run: before?.run },
    ]);
  }

  function settle(traces: Iterable<string>): void {
    for (const traceId of traces) {
      const rows = byTrace.get(traceId);
      if (rows === undefined) continue;
      const runs = runsOf(traceId);
      for (const row of rows) row.run = runOf(row.annotation, runs);
      keep(
        traceId,
        rows.filter((row) => row.run === undefined || !rows.some((other) => isSame(row, other) && isNewer(other, row))),
      );
    }
  }

  function fateOf(annotation: Annotation): AnnotationFate {
    const found = byTrace.get(annotation.traceId)?.find((row) => targetText(row.annotation) === targetText(annotation));
    if (found === undefined || found.annotation.at !== annotation.at) return 'outdated';
    return found.run === undefined ? 'waiting' : 'attached';
  }

  return {
    settle,
    async write(annotations, receivedAt) {
      let [waiting, held] = [waitingOnes().length, all().length];
      const fates = annotations.map((annotation) => {
        if ((byTrace.get(annotation.traceId)?.length ?? 0) >= annotationsPerTraceMax) return 'too_many' as const;
        const mayWait = runsOf(annotation.traceId).length === 0;
        if (held >= heldMax || (mayWait && waiting >= waitingMax)) return 'full' as const;
        put(annotation, receivedAt);
        held++;
        if (mayWait) waiting++;
        return annotation;
      });
      settle(new Set(annotations.map(({ traceId }) => traceId)));
      return fates.map((fate) => (typeof fate === 'string' ? fate : fateOf(fate)));
    },
    async remove(id) {
      const traceId = traceOfAnnotation(id);
      const rows = traceId === undefined ? [] : (byTrace.get(traceId) ?? []);
      const left = rows.filter(({ annotation }) => annotationId(annotation) !== id);
      if (traceId !== undefined) keep(traceId, left);
      return left.length < rows.length;
    },
    waiting: async () => waitingOnes().length,
    async expire({ before, limit }) {
      const gone = new Set(
        waitingOnes()
          .filter(({ receivedAt }) => receivedAt < before)
          .slice(0, limit),
      );
      for (const traceId of new Set([...gone].map(({ annotation }) => annotation.traceId)))
        keep(
          traceId,
          (byTrace.get(traceId) ?? []).filter((row) => !gone.has(row)),
        );
      return gone.size;
    },
    of(run) {
      const own = byTrace.get(run.traceId)?.filter((row) => row.run !== undefined && keyText(row.run.row) === keyText(run)) ?? [];
      return own.map(({ annotation }) => ({ id: annotationId(annotation), ...stored(annotation) })).sort(byNameThenAnnotator);
    },
    forget(runs) {
      const gone = new Set(runs.map(keyText));
      for (const { traceId } of runs)
        keep(
          traceId,
          (byTrace.get(traceId) ?? []).filter(({ run }) => run === undefined || !gone.has(keyText(run.row))),
        );
    },
    bytes: () => all().reduce((sum, { bytes, run }) => (run === undefined ? sum : sum + bytes), 0),
    async onRuns({ from, to, name, agent, tenant, kinds, limit }) {
      const found = all().flatMap(({ annotation, run }) =>
        run !== undefined &&
        run.row.startedAt >= from &&
        run.row.startedAt < to &&
        kinds.includes(annotation.kind) &&
        (name === undefined || annotation.name === name) &&
        (agent === undefined || run.row.agent === agent) &&
        (tenant === undefined || run.row.tenant === tenant)
          ? [{ annotation, run }]
          : [],
      );
      found.sort(
        (one, other) =>
          other.run.row.startedAt - one.run.row.startedAt ||
          other.run.id - one.run.id ||
          byNameThenAnnotator(one.annotation, other.annotation),
      );
      return found.slice(0, limit).map(({ annotation, run }) => ({
        tenant: run.row.tenant,
        traceId: run.row.traceId,
        spanId: run.row.spanId,
        annotation: stored(annotation),
        ...saidOf(run, annotation),
      }));
    },
  };
}

function runOf({ tenant, spanId, isNear }: Annotation, runs: readonly AnnotatableRun[]): AnnotatableRun | undefined {
  const own = runs.filter(({ row }) => tenant === undefined || row.tenant === tenant);
  const exact = own.filter(({ row }) => row.spanId === spanId);
  if (exact.length > 0 || (spanId !== undefined && isNear !== true)) return outermost(exact);
  return outermost(own);
}

/** A sub-agent starts after its agent. */
function outermost(runs: readonly AnnotatableRun[]): AnnotatableRun | undefined {
  const rank = ({ id, row }: AnnotatableRun): readonly number[] => [row.partOf === undefined ? 0 : 1, row.startedAt, -row.endedAt, id];
  return runs.toSorted((one, other) => {
    const [first, second] = [rank(one), rank(other)];
    return first.map((value, at) => value - (second[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
  })[0];
}

function saidOf(run: AnnotatableRun, { name, toolCall }: Annotation): Pick<AnnotatedRun, 'verdict' | 'part'> {
  const found = run.verdicts.get(name);
  const details = found === undefined ? {} : detailsOf(found);
  const verdict = found === undefined ? undefined : verdictOn(found, details);
  return toolCall === undefined ? { verdict } : onCall(verdict, details['parts'], toolCall);
}

function verdictOn(
  { evaluator, kind, version, verdict: word, label, sampleProbability }: HeldVerdict,
  { model }: JsonObject,
): NonNullable<AnnotatedRun['verdict']> {
  return { evaluator, kind, version, model: typeof model === 'string' ? model : undefined, word, label, sampleProbability };
}

function targetText({ tenant, spanId, toolCall, name, by }: Annotation): string {
  return JSON.stringify([tenant ?? null, spanId ?? null, toolCall ?? null, name, by]);
}

function isSame(one: Kept, other: Kept): boolean {
  return (
    one.run === other.run &&
    one.annotation.toolCall === other.annotation.toolCall &&
    one.annotation.name === other.annotation.name &&
    one.annotation.by === other.annotation.by
  );
}

function isNewer(one: Kept, other: Kept): boolean {
  return (one.annotation.at - other.annotation.at || one.receivedAt - other.receivedAt || one.id - other.id) > 0;
}

function stored({ toolCall, name, by, kind, label, score, passed, explanation, at }: Annotation): StoredAnnotation {
  return { ...(toolCall === undefined ? {} : { toolCall }), name, by, kind, label, score, passed, explanation, at };
}

function byNameThenAnnotator(
  one: Pick<Annotation, 'toolCall' | 'name' | 'by'>,
  other: Pick<Annotation, 'toolCall' | 'name' | 'by'>,
): number {
  return compared(one.name, other.name) || compared(one.by, other.by) || compared(one.toolCall ?? '', other.toolCall ?? '');
}

function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function keyText(run: RunKey): string {
  return `${run.tenant}/${runTargetId(run)}`;
}
