/** What waits for backends, in a store that ends with the process. */
import { itemRevision } from '../model/scored-run.ts';
import type { RunKey } from '../model/agent-trace.ts';
import { runTargetId } from '../model/verdict.ts';
import { roughBytes } from '../model/size-estimate.ts';
import { exportItem } from './outbox-codec.ts';
import type { ExportRow, ExportStore, NewExport, WaitingExport } from '../model/store/export-store.ts';
import type { Retention } from '../model/store/store.ts';

interface Kept extends Omit<WaitingExport, 'item'>, ExportRow {
  readonly item: NonNullable<WaitingExport['item']>;
  /** What it holds, roughly. */
  readonly bytes: number;
}

export interface MemoryExports extends ExportStore {
  write(exports: readonly NewExport[]): readonly (number | undefined)[];
  /** Whether a backend waits for scores of this run. */
  awaited(): (run: RunKey) => boolean;
  /** Those of runs that are gone; what of them went is told by the next `prune`. */
  forget(runs: readonly RunKey[]): void;
  prune(limits: Pick<Retention, 'exportsBefore' | 'exportsMax' | 'stepRuns'>): {
    readonly exports: { readonly [exporter: string]: number };
    readonly more: boolean;
  };
  /** Of all rows. */
  bytes(): number;
}

export function memoryExports(): MemoryExports {
  /** By id, ascending. */
  const rows = new Map<number, Kept>();
  const byKey = new Map<string, number>();
  let ids = 0;
  let gone: string[] = [];
  let bytes = 0;

  function drop(row: Kept): void {
    rows.delete(row.id);
    bytes -= row.bytes;
    byKey.delete(keyText(row));
  }

  function put({ exporter, part, item, offeredAt, already }: NewExport): number | undefined {
    const { tenant, traceId, spanId } = item.run;
    const revision = itemRevision(item);
    const key = keyText({ exporter, part, tenant, traceId, spanId });
    const before = rows.get(byKey.get(key) ?? 0);
    if (before !== undefined && before.revision > revision) return undefined;
    if (before !== undefined) drop(before);
    if (already === 'sent') return undefined;
    const kept = exportItem(item);
    const row: Kept = {
      id: ++ids,
      exporter,
      part,
      tenant,
      traceId,
      spanId,
      revision,
      item: kept,
      bytes: roughBytes(kept),
      state: 'waiting',
      attempts: 0,
      offeredAt,
      dueAt: 0,
      reason: undefined,
      ...(already === undefined ? {} : { ...already, state: 'dead' }),
    };
    rows.set(row.id, row);
    bytes += row.bytes;
    byKey.set(key, row.id);
    return row.id;
  }

  function change(id: number, members: Partial<Kept>): void {
    const row = rows.get(id);
    if (row !== undefined) rows.set(id, { ...row, ...members });
  }

  const all = (): readonly Kept[] => [...rows.values()];
  const waits = ({ state }: Kept): boolean => state === 'waiting';

  return {
    write(exports) {
      const written = exports.map(put);
      return written.map((id) => (id !== undefined && rows.has(id) ? id : undefined));
    },
    awaited() {
      const places = new Set(
        all()
          .filter(waits)
          .map((row) => `${row.tenant}/${runTargetId(row)}`),
      );
      return (run) => places.has(`${run.tenant}/${runTargetId(run)}`);
    },
    forget(runs) {
      const places = new Set(runs.map((run) => `${run.tenant}/${runTargetId(run)}`));
      for (const row of all()) {
        if (!places.has(`${row.tenant}/${runTargetId(row)}`)) continue;
        drop(row);
        gone.push(row.exporter);
      }
    },
    prune({ exportsBefore, exportsMax, stepRuns }) {
      const old = all()
        .slice(0, stepRuns)
        .filter(({ offeredAt }) => offeredAt < exportsBefore);
      const surplus =
        old.length > 0
          ? []
          : [...all().filter((row) => !waits(row)), ...all().filter(waits)].slice(
              0,
              Math.max(0, Math.min(stepRuns, rows.size - exportsMax)),
            );
      const step = [...old, ...surplus];
      step.forEach(drop);
      const names = [...gone, ...step.map(({ exporter }) => exporter)];
      gone = [];
      return {
        exports: Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, own]) => [name, own.length])),
        more: step.length === stepRuns,
      };
    },
    bytes: () => bytes,
    async due({ exporter, now, limit, except }) {
      return all()
        .filter((row) => waits(row) && row.exporter === exporter && row.dueAt <= now && !except.includes(row.id))
        .slice(0, limit)
        .map(({ id, part, item, attempts, offeredAt }) => ({ id, part, item, attempts, offeredAt }));
    },
    async note({ sent, putBack, dead }) {
      for (const id of sent) {
        const row = rows.get(id);
        if (row !== undefined) drop(row);
      }
      for (const { id, attempts, dueAt } of putBack) if (rows.get(id)?.state === 'waiting') change(id, { attempts, dueAt });
      for (const { id, attempts, reason } of dead) change(id, { state: 'dead', attempts, reason });
    },
    async list({ exporter, state, limit, after = 0 }) {
      const found = all().filter(
        (row) => row.id > after && (exporter === undefined || row.exporter === exporter) && (state === undefined || row.state === state),
      );
      const page = found.slice(0, limit);
      return {
        exports: page.map(({ item: _item, bytes: _bytes, ...row }) => row),
        next: found.length > limit ? page.at(-1)?.id : undefined,
      };
    },
    async retry({ exporter, ids: wanted, now, limit }) {
      const dead = all()
        .filter(
          (row) =>
            row.state === 'dead' &&
            (exporter === undefined || row.exporter === exporter) &&
            (wanted === undefined || wanted.includes(row.id)),
        )
        .slice(0, limit);
      for (const { id } of dead) change(id, { state: 'waiting', attempts: 0, dueAt: 0, reason: undefined, offeredAt: now });
      return dead.length;
    },
    async counts() {
      const byExporter = [...Map.groupBy(all(), ({ exporter }) => exporter)].sort(([one], [other]) => (one < other ? -1 : 1));
      return byExporter.map(([exporter, own]) => ({
        exporter,
        waiting: own.filter(waits).length,
        dead: own.filter((row) => !waits(row)).length,
        oldestAt: own.find(waits)?.offeredAt,
      }));
    },
  };
}

function keyText({ exporter, part, ...run }: Pick<NewExport, 'exporter' | 'part'> & RunKey): string {
  return `${run.tenant}/${runTargetId(run)} ${exporter} ${part}`;
}
