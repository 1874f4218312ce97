/** Writing a batch of scored runs, in one transaction. */
import type { Transaction } from 'kysely';
import type { AddedExport } from '../../model/store/export-store.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import { endJobs, writeChosen, chosenPairs, spoken } from './judge-jobs.ts';
import type { RunDecision } from '../../model/scored-run.ts';
import type { RunRecord } from '../../model/store/store.ts';
import { addEntry, encodedEntries, parsedEntries, type RunEntry } from '../run-record.ts';
import { settleAnnotations } from './annotations.ts';
import type { Batch, BatchItem, BatchRun } from './batch.ts';
import { type TextPlace, writeBlocks } from './blocks.ts';
import { type Rows, chunks, oneOf } from './rows.ts';
import { readEntries, saidColumns } from './run-entries.ts';
import { endedFences } from './journal-partitions.ts';
import { columnChanges, type ComparedColumns, comparedColumns, verdictChanges, writeRunRevisions } from './run-revisions.ts';
import { writeMatches } from './rule-matches.ts';
import { type FaultChange, writeFaults } from './issue-writes.ts';
import { forgetTurns, writeTurns } from './sessions.ts';
import type { Tables } from './tables.ts';
import { writeExports } from './outbox.ts';
import { fineTime } from './version-totals.ts';

type Tx = Transaction<Tables>;

export interface Known {
  readonly id: number;
  /** As it was before this batch. */
  readonly startedAt: number;
  /** Empty without a name. */
  readonly agent: string;
  readonly version: string;
  /** Before this batch; empty without one. */
  readonly session: string;
  /** Before this batch; 0: there was no such run. */
  readonly revision: number;
  /** It turned out to be part of another run. */
  readonly isPart: boolean;
  /** As they were before this batch; absent: there was no such run. */
  readonly columns?: ComparedColumns;
}

/** Resolves with the fate of each export, in their order. A batch without items has exports of runs that are written already. */
export async function writeBatch(tx: Tx, to: Rows, batch: Batch): Promise<readonly AddedExport[]> {
  const { items, exports } = batch;
  const hasEnded = await endedFences(
    tx,
    items.flatMap(({ fence }) => fence ?? []),
  );
  const ended = items.filter(({ fence }) => fence !== undefined && hasEnded(fence));
  if (ended.length > 0) return await writeHeld(tx, to, batch, new Set(ended));
  const newest = newestItems(items);
  const known = await knownRuns(tx, [...tracesOf(newest), ...(items.length === 0 ? exports.map(({ run }) => run.traceId) : [])]);
  if (items.length > 0) await writeItems(tx, to, { items, newest, known });
  const placed = exports.map((one) => ({ ...one, runId: known.get(keyText(one.run))?.id }));
  return exports.length === 0 ? [] : await writeExports(tx, to, placed);
}

/** The new owner of a partition writes the runs whose fence has ended, so they and their exports are left out. */
async function writeHeld(tx: Tx, to: Rows, { items, exports }: Batch, ended: ReadonlySet<BatchItem>): Promise<readonly AddedExport[]> {
  const left = new Set([...ended].map(({ run }) => revisionText(run, run.revision)));
  const isHeld = ({ run, revision }: Batch['exports'][number]): boolean => !left.has(revisionText(run, revision));
  const held = items.filter((item) => !ended.has(item));
  const written = held.length === 0 ? [] : await writeBatch(tx, to, { items: held, exports: exports.filter(isHeld) });
  let at = 0;
  return exports.map((one) => (held.length > 0 && isHeld(one) ? written[at++] : 'gone'));
}

function revisionText(run: RunKey, revision: number): string {
  return `${keyText(run)} ${revision}`;
}

async function writeItems(
  tx: Tx,
  to: Rows,
  { items, newest, known }: { readonly newest: ReadonlyMap<string, BatchItem>; readonly known: Map<string, Known> } & Pick<Batch, 'items'>,
): Promise<void> {
  const before = new Map([...newest.keys()].map((key) => [key, known.get(key)]));
  const said = Map.groupBy(items, ({ run }) => keyText(run));
  await noteChanges(to, newest, before);
  const isPlain = (key: string): boolean => before.get(key) === undefined && saysAll(said.get(key) ?? []);
  await writeRuns(to, newest, known, isPlain);
  const others = items.filter(({ run }) => !isPlain(keyText(run)));
  if (others.length > 0) await writeSaid(tx, to, { others, newest, before, known });
  for (const { run, matches = [] } of items) await writeMatches(tx, idOf(known, run), matches);
  await writeFaults(tx, faultChanges(items, before, known));
  await forgetParts(tx, known);
  await settleAnnotations(tx, tracesOf(newest));
}

/** Skips new runs without failures, and items of an older revision than the stored one. */
function faultChanges(
  items: readonly BatchItem[],
  before: ReadonlyMap<string, Known | undefined>,
  known: ReadonlyMap<string, Known>,
): readonly FaultChange[] {
  const newest = new Map<string, number>();
  return items.flatMap(({ run, record, answered, faults = [] }) => {
    const key = keyText(run);
    const last = newest.get(key) ?? before.get(key)?.revision;
    const isNew = last === undefined;
    if (isNew && faults.length === 0) return [];
    const { id, isPart } = known.get(key) ?? {};
    // `addEntry` takes the same verdicts.
    if (id === undefined || (last !== undefined && (answered === true ? run.revision < last : run.revision <= last))) return [];
    newest.set(key, run.revision);
    const { columns } = run;
    return [
      {
        runId: id,
        isNew,
        tenant: run.tenant,
        agent: columns.agent ?? '',
        version: columns.version ?? '',
        startedAt: columns.started_us,
        session: columns.session_id ?? '',
        sessionBefore: before.get(key)?.session ?? '',
        faults: isPart === true ? [] : faults,
        isSaid: isPart === true ? () => true : isSaidBy(record),
      },
    ];
  });
}

/** True for an evaluator with a verdict in the record. */
export function isSaidBy({ verdicts }: Pick<RunRecord, 'verdicts'>): (evaluator: string) => boolean {
  let names: ReadonlySet<string> | undefined;
  return (evaluator) => {
    names ??= new Set(parsedEntries(verdicts).flatMap(({ name, verdict }) => (verdict === undefined ? [] : [name])));
    return names.has(evaluator);
  };
}

/** The times in which sums by version are not right any more: that of each run, and the one it had before. */
async function noteChanges(
  to: Rows,
  newest: ReadonlyMap<string, BatchItem>,
  before: ReadonlyMap<string, Known | undefined>,
): Promise<void> {
  const starts = [...newest].flatMap(([key, { run }]) => [run.columns.started_us, before.get(key)?.startedAt ?? run.columns.started_us]);
  for (const time of new Set(starts.map(fineTime))) await to.changed(time);
}

/** One item of a run that waits for no judge and is not part of another run: it is written unchanged. */
function saysAll([item, ...more]: readonly BatchItem[]): boolean {
  return (
    item !== undefined &&
    more.length === 0 &&
    item.jobs === undefined &&
    item.turn === undefined &&
    item.answered !== true &&
    item.run.columns.part_of === null
  );
}

/** Key of a run, or of a row that was one. */
export function keyText({ tenant, traceId, spanId }: { readonly [part in keyof RunKey]: string }): string {
  return `${traceId}/${spanId}/${tenant}`;
}

/** Keeps for each run the item of the highest revision; of equal ones the first. */
function newestItems(items: readonly BatchItem[]): ReadonlyMap<string, BatchItem> {
  const newest = new Map<string, BatchItem>();
  for (const item of items) {
    const key = keyText(item.run);
    const before = newest.get(key);
    if (before === undefined || item.run.revision > before.run.revision) newest.set(key, item);
  }
  return newest;
}

function tracesOf(newest: ReadonlyMap<string, BatchItem>): readonly string[] {
  return [...new Set([...newest.values()].map(({ run }) => run.traceId))];
}

export async function knownRuns(tx: Tx, traces: readonly string[]): Promise<Map<string, Known>> {
  const rows = await tx
    .selectFrom('runs')
    .select([
      'id',
      'revision',
      'tenant',
      'trace_id',
      'span_id',
      'agent',
      'version',
      'started_us',
      'session_id',
      'part_of',
      ...comparedColumns,
    ])
    .where('trace_id', 'in', oneOf([...new Set(traces)]))
    .execute();
  return new Map(
    rows.map(
      ({
        id,
        revision,
        tenant,
        trace_id,
        span_id,
        agent,
        version,
        started_us: startedAt,
        session_id: session,
        part_of: partOf,
        ...columns
      }) => [
        keyText({ tenant, traceId: trace_id, spanId: span_id }),
        { id, startedAt, agent: agent ?? '', version: version ?? '', session: session ?? '', revision, isPart: partOf !== null, columns },
      ],
    ),
  );
}

/** Rows of new runs and of new revisions; of plain runs with all that is said of them. */
async function writeRuns(
  to: Rows,
  newest: ReadonlyMap<string, BatchItem>,
  known: Map<string, Known>,
  isPlain: (key: string) => boolean,
): Promise<void> {
  const fresh = [...newest].filter(([key, { run }]) => run.revision > (known.get(key)?.revision ?? 0));
  const contents = await placesOf(to, fresh, ({ run }) => run.content.content);
  const verdicts = await placesOf(to, fresh, ({ record }, key) => (isPlain(key) && record.marks !== '' ? record.verdicts : undefined));
  for (const [key, { run, record }] of fresh) {
    const { columns, content } = run;
    const [before, place] = [known.get(key), contents.get(key)];
    const row = {
      ...columns,
      content_gone: content.contentGone ?? null,
      tools: columns.part_of === null ? record.tools : null,
      content_block: place?.block ?? null,
      content_at: place?.at ?? null,
      content_length: place?.length ?? null,
      excerpt: content.excerpt ?? null,
    };
    const said = isPlain(key) ? saidColumns({ ...record, marks: await to.marks(record.marks) }, verdicts.get(key)) : nothingSaid;
    const id = before?.id ?? (await to.run({ ...row, ...said }));
    if (before !== undefined) await to.revision(id, { ...row, ...said });
    known.set(key, {
      id,
      startedAt: columns.started_us,
      agent: columns.agent ?? '',
      version: columns.version ?? '',
      session: before?.session ?? '',
      revision: before?.revision ?? 0,
      isPart: columns.part_of !== null,
    });
  }
}

const nothingSaid = saidColumns({ marks: '', figures: [], failures: null }, undefined);

/** Keyed by run. */
async function placesOf(
  to: Rows,
  items: readonly (readonly [string, BatchItem])[],
  textOf: (item: BatchItem, key: string) => string | undefined,
): Promise<ReadonlyMap<string, TextPlace>> {
  const texts = items.flatMap(([key, item]) => {
    const text = textOf(item, key);
    return text === undefined ? [] : [{ key, text }];
  });
  const places = await writeBlocks(
    texts.map(({ text }) => text),
    to.block,
  );
  return new Map(places.map((place, at) => [texts[at]?.key ?? '', place]));
}

interface Said {
  readonly others: readonly BatchItem[];
  readonly newest: ReadonlyMap<string, BatchItem>;
  /** The stored runs before the change. */
  readonly before: ReadonlyMap<string, Known | undefined>;
  readonly known: ReadonlyMap<string, Known>;
}

/** New entries are joined to the stored ones. */
async function writeSaid(tx: Tx, to: Rows, { others, newest, before, known }: Said): Promise<void> {
  const keys = [...new Set(others.map(({ run }) => keyText(run)))];
  const stored = await readEntries(
    tx,
    keys.flatMap((key) => before.get(key)?.id ?? []),
  );
  const entries = new Map(
    keys.map((key) => [key, new Map((stored.get(before.get(key)?.id ?? Number.NaN) ?? []).map((entry) => [entry.name, entry]))]),
  );
  const add = (run: RunKey, entry: RunEntry): void => addEntry(entries.get(keyText(run)) ?? new Map<string, RunEntry>(), entry);
  const decide = (run: BatchRun, decisions: readonly RunDecision[]): void => {
    const revision = run.session?.revision ?? run.revision;
    for (const { name, ...decision } of decisions) add(run, { name, decision: { ...decision, revision } });
  };
  const items = others.map((item) => ({ ...item, ...saidBy(item) }));
  for (const { run, verdicts } of items) for (const entry of verdicts) add(run, entry);
  for (const item of items) decide(item.run, spoken(item));

  const id = (run: RunKey): number => idOf(known, run);
  // After what is said for good, which decides over the same batch as over what was written before.
  await endJobs(
    tx,
    items
      .filter(({ answered }) => answered === true)
      .flatMap(({ run, decisions }) =>
        decisions.map(({ name }) => ({ runId: id(run), name, revision: run.session?.revision ?? run.revision })),
      ),
  );
  const decided = (run: RunKey, name: string): number => entries.get(keyText(run))?.get(name)?.decision?.revision ?? 0;
  for (const { run, what } of await writeChosen(tx, { pairs: chosenPairs(items, keyText), idOf: id, decided }))
    if (what.kind === 'decision') decide(run, [what.decision]);
  for (const { run, decisions } of await writeTurns(tx, others, id)) decide(run, decisions);
  await saveEntries(to, entries, known);
  await writeRunRevisions(
    tx,
    keys.flatMap((key) => {
      const [old, item] = [before.get(key), newest.get(key)];
      // A run that became a part has no entries any more.
      if (old?.columns === undefined || item === undefined || item.run.revision <= old.revision || item.run.columns.part_of !== null)
        return [];
      const changes = [
        ...columnChanges(old.columns, { ...item.run.columns, tools: item.record.tools }),
        ...verdictChanges(stored.get(old.id) ?? [], entries.get(key)?.values() ?? []),
      ];
      return [{ runId: old.id, revision: item.run.revision, changes }];
    }),
  );
}

function saidBy({ record }: BatchItem): { readonly verdicts: readonly RunEntry[]; readonly decisions: readonly RunDecision[] } {
  const entries = parsedEntries(record.verdicts);
  return {
    verdicts: entries.flatMap(({ name, verdict }) => (verdict === undefined ? [] : [{ name, verdict }])),
    decisions: entries.flatMap(({ name, decision }) => (decision === undefined ? [] : [{ name, ...decision }])),
  };
}

/** A run that turned out to be part of another one has no entries: the other one has them now. */
export async function saveEntries(
  to: Rows,
  all: ReadonlyMap<string, ReadonlyMap<string, RunEntry>>,
  known: ReadonlyMap<string, Known>,
): Promise<void> {
  const encoded = [...all].flatMap(([key, entries]) => {
    const run = known.get(key);
    return run === undefined ? [] : [{ id: run.id, ...encodedEntries(run.isPart ? [] : [...entries.values()]) }];
  });
  const said = encoded.filter(({ marks }) => marks !== '');
  const places = await writeBlocks(
    said.map(({ verdicts }) => verdicts),
    to.block,
  );
  const placeOf = new Map(said.map(({ id }, at) => [id, places[at]]));
  for (const { id, ...one } of encoded) await to.said(id, saidColumns({ ...one, marks: await to.marks(one.marks) }, placeOf.get(id)));
}

/** No judge is asked about a run that turned out to be part of another one. */
async function forgetParts(tx: Tx, known: ReadonlyMap<string, Known>): Promise<void> {
  const parts = [...known.values()].flatMap(({ id, isPart }) => (isPart ? [id] : []));
  await forgetTurns(tx, parts);
  for (const some of chunks(parts)) await tx.deleteFrom('judge_jobs').where('run_id', 'in', some).execute();
}

function idOf(known: ReadonlyMap<string, Known>, run: RunKey): number {
  const found = known.get(keyText(run));
  if (found === undefined) throw new Error('a run was written without an id');
  return found.id;
}
