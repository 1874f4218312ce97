/** Annotation queues in the SQLite store. */
import { sql, type Kysely, type RawBuilder, type Selectable, type Transaction } from 'kysely';
import type { RunKey } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { isJsonObject, jsonText, parseJson, type JsonObject } from '../../model/json.ts';
import {
  type AddingItems,
  type AnsweredItem,
  type DrawingItems,
  type FreeItems,
  type Leased,
  type LeaseRequest,
  type NewQueueResponse,
  type QueueAddOutcome,
  type QueueCandidate,
  type QueueCounts,
  type QueueDrawOutcome,
  type QueueItem,
  type QueueItemState,
  type QueueResponse,
  type QueueStore,
  type QueueUpkeep,
  type ResponseOutcome,
  type UpkeepCounts,
  queuePageMax,
} from '../../model/store/queue-store.ts';
import { drawnKept, drawnLeast, drawProbability, isDrawnTurn } from '../../model/queue-draw.ts';
import { writeAnnotations } from './annotations.ts';
import { oneOf } from './rows.ts';
import { readEntries } from './run-entries.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;
type Tx = Transaction<Tables>;
type Row = Selectable<Tables['queue_items']>;

export function queueStore(db: Db): QueueStore {
  return {
    add: (adding) => (adding.items.length === 0 ? Promise.resolve([]) : db.transaction().execute((tx) => added(tx, adding))),
    draw: (drawing) => (drawing.items.length === 0 ? Promise.resolve([]) : db.transaction().execute((tx) => drawn(tx, drawing))),
    candidates: (query) => candidatesOf(db, query),
    lease: (request) => db.transaction().execute((tx) => leased(tx, request)),
    respond: (response) => responded(db, response),
    async release({ queue, item, lease, person }) {
      const { numUpdatedRows } = await db
        .updateTable('queue_items')
        .set({ holder: null, leased_us: null })
        .where('id', '=', item)
        .where('queue', '=', queue)
        .where('fence', '=', lease)
        .where('holder', '=', person)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async item(queue, id) {
      const row = await db.selectFrom('queue_items').selectAll().where('id', '=', id).where('queue', '=', queue).executeTakeFirst();
      return row === undefined ? undefined : (await itemsOf(db, [row]))[0];
    },
    async items({ queue, tenant, state, limit: wanted, after }) {
      const limit = Math.min(wanted, queuePageMax);
      const rows = await db
        .selectFrom('queue_items')
        .selectAll()
        .where('queue', '=', queue)
        .$if(tenant !== undefined, (query) => query.where('tenant', '=', tenant ?? ''))
        .$if(state !== undefined, (query) => query.where('state', '=', state ?? ''))
        .$if(after !== undefined, (query) => query.where('id', '>', after ?? 0))
        .orderBy('id')
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      return { items: await itemsOf(db, page), next: rows.length > limit ? page.at(-1)?.id : undefined };
    },
    counts: (query) => countsOf(db, query),
    async people({ queue, tenant, limit }) {
      const rows = await sql<{ readonly person: string; readonly answers: number; readonly skips: number }>`
        select r.person, count(*) filter (where r.kind = 'answer') as answers, count(*) filter (where r.kind = 'skip') as skips
        from queue_items i join queue_responses r on r.item_id = i.id
        where i.queue = ${queue} ${ofTenant(tenant)} group by r.person order by r.person limit ${limit}`.execute(db);
      return rows.rows;
    },
    answered: (query) => answeredOf(db, query),
    upkeep: (upkeep) => db.transaction().execute((tx) => kept(tx, upkeep)),
  };
}

function ofTenant(tenant: Tenant | undefined): RawBuilder<unknown> {
  return tenant === undefined ? sql`` : sql`and i.tenant = ${tenant}`;
}

async function added(tx: Tx, { queue, items, addedBy, at, dueAt, itemsMax, reopens }: AddingItems): Promise<readonly QueueAddOutcome[]> {
  const open = new Map<string, number>();
  for (const tenant of new Set(items.map((item) => item.tenant))) open.set(tenant, await openOf(tx, queue, tenant));
  const outcomes: QueueAddOutcome[] = [];
  for (const { tenant, traceId, spanId, why } of items) {
    const run = await storedRun(tx, queue, { tenant, traceId, spanId });
    const mayOpen = run?.state === null || (reopens && (run?.state === 'skipped' || run?.state === 'expired'));
    if (run === undefined) outcomes.push('not_stored');
    else if (!mayOpen) {
      // A drawn run keeps its place in the random order, even if something else chooses it too.
      if (run.item !== null && run.is_chosen === 0)
        await tx.updateTable('queue_items').set({ is_chosen: 1, why, added_by: addedBy }).where('id', '=', run.item).execute();
      outcomes.push('known');
    } else if ((open.get(tenant) ?? 0) >= itemsMax) outcomes.push('full');
    else {
      open.set(tenant, (open.get(tenant) ?? 0) + 1);
      const entering = { why, added_by: addedBy, entered_us: at, due_us: dueAt ?? null };
      if (run.item === null)
        await tx
          .insertInto('queue_items')
          .values({ run_id: run.run, queue, tenant, trace_id: traceId, span_id: spanId, state: 'open', ...entering })
          .execute();
      else
        await tx
          .updateTable('queue_items')
          .set({ state: 'open', closed_us: null, skips: 0, is_chosen: 1, ...notDrawn, ...entering })
          .where('id', '=', run.item)
          .execute();
      outcomes.push(run.item === null ? 'added' : 'reopened');
    }
  }
  return outcomes;
}

/** An item that a person or a rule chose, and that no draw holds for. */
const notDrawn = { draw: null, judged: null, rate: null, cutoff: 0, drawn_by: null, is_ahead: 0 };

/** A run with its item in the queue; `undefined`: the store has no such run. */
function storedRun(tx: Tx, queue: string, { tenant, traceId, spanId }: RunKey) {
  return tx
    .selectFrom('runs')
    .leftJoin('queue_items as i', (join) => join.onRef('i.run_id', '=', 'runs.id').on('i.queue', '=', queue))
    .select(['runs.id as run', 'i.id as item', 'i.state', 'i.answers', 'i.holder', 'i.draw', 'i.is_chosen'])
    .where('runs.tenant', '=', tenant)
    .where('runs.trace_id', '=', traceId)
    .where('runs.span_id', '=', spanId)
    .where('runs.part_of', 'is', null)
    .executeTakeFirst();
}

/** Written out, because the index holds only these rows. */
const isOpen = sql<boolean>`state = 'open'`;

async function openOf(tx: Tx, queue: string, tenant: string): Promise<number> {
  const { open } = await tx
    .selectFrom('queue_items')
    .select(({ fn }) => fn.countAll<number>().as('open'))
    .where('queue', '=', queue)
    .where('tenant', '=', tenant)
    .where(isOpen)
    .where('draw', 'is', null)
    .executeTakeFirstOrThrow();
  return open;
}

async function drawn(tx: Tx, drawing: DrawingItems): Promise<readonly QueueDrawOutcome[]> {
  const { queue, items, evaluator, addedBy, at, dueAt, drawnMax } = drawing;
  const outcomes: QueueDrawOutcome[] = [];
  const stock = new Map<string, readonly Stocked[]>();
  for (const { tenant, traceId, spanId, why, draw } of items) {
    const own = stock.get(tenant) ?? (await stockOf(tx, queue, tenant));
    stock.set(tenant, own);
    const rate = own.length < drawnLeast * drawnMax ? 1 : Math.min(...own.map((item) => item.rate ?? 1));
    const run = await storedRun(tx, queue, { tenant, traceId, spanId });
    const isFirst = run !== undefined && (await isFirstOffer(tx, queue, run.run));
    const isAhead = run?.state === 'done' || (run?.state === 'open' && ((run.answers ?? 0) > 0 || run.holder !== null));
    if (run === undefined) outcomes.push('not_stored');
    else if (!isFirst || run.state === 'skipped') outcomes.push('known');
    else if (draw.number >= rate) outcomes.push('not_drawn');
    else {
      const drawing = { draw: draw.number, judged: draw.judged, rate, drawn_by: evaluator };
      const entering = { entered_us: at, due_us: dueAt ?? null };
      if (run.item === null)
        await tx
          .insertInto('queue_items')
          .values({
            run_id: run.run,
            queue,
            tenant,
            trace_id: traceId,
            span_id: spanId,
            state: 'open',
            why,
            added_by: addedBy,
            is_chosen: 0,
            ...entering,
            ...drawing,
          })
          .execute();
      else
        await tx
          .updateTable('queue_items')
          .set({
            ...drawing,
            is_ahead: isAhead ? 1 : 0,
            ...(run.state === 'expired' ? { state: 'open', closed_us: null, ...entering } : {}),
          })
          .where('id', '=', run.item)
          .execute();
      outcomes.push('drawn');
      stock.set(tenant, await thinned(tx, { queue, tenant, stock: await stockOf(tx, queue, tenant), drawnMax }));
    }
  }
  return outcomes;
}

/** Remembers the offer. A run comes again with each answer and revision, also after it has left the queue. */
async function isFirstOffer(tx: Tx, queue: string, run: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows: rows } = await tx
    .insertInto('queue_offers')
    .values({ run_id: run, queue })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return rows === 1n;
}

type Stocked = Pick<Row, 'id' | 'draw' | 'rate' | 'holder' | 'answers' | 'skips' | 'is_chosen' | 'is_ahead'>;

/** Drawn items to which the random order has not come, in that order. */
function stockOf(tx: Tx, queue: string, tenant: string): Promise<readonly Stocked[]> {
  return tx
    .selectFrom('queue_items')
    .select(['id', 'draw', 'rate', 'holder', 'answers', 'skips', 'is_chosen', 'is_ahead'])
    .where('queue', '=', queue)
    .where('tenant', '=', tenant)
    .where('draw', 'is not', null)
    .where(sql<boolean>`(state = 'open' or is_ahead = 1)`)
    .orderBy('draw')
    .execute();
}

/** Beyond the room, lowers the rate to the number of the first item that has to go, also that of items which are done. An item that a person holds or has answered stays. */
async function thinned(
  tx: Tx,
  {
    queue,
    tenant,
    stock,
    drawnMax,
  }: { readonly queue: string; readonly tenant: string; readonly stock: readonly Stocked[]; readonly drawnMax: number },
): Promise<readonly Stocked[]> {
  if (stock.length <= drawnMax) return stock;
  const rate = stock[Math.floor(drawnKept * drawnMax)]?.draw ?? 1;
  const isBound = ({ holder, answers, skips, is_ahead: isAhead }: Stocked): boolean =>
    isAhead === 0 && (holder !== null || answers > 0 || skips > 0);
  const [kept, others] = [stock.filter(({ draw }) => (draw ?? 0) < rate), stock.filter(({ draw }) => (draw ?? 0) >= rate)];
  const left = others.filter((item) => !isBound(item));
  await tx
    .updateTable('queue_items')
    .set({ rate })
    .where('queue', '=', queue)
    .where('tenant', '=', tenant)
    .where('rate', '>', rate)
    .execute();
  const [chosen, unchosen] = [left.filter((item) => item.is_chosen === 1), left.filter((item) => item.is_chosen === 0)];
  await tx
    .deleteFrom('queue_items')
    .where('id', 'in', oneOf(unchosen.map(({ id }) => id)))
    .execute();
  await tx
    .updateTable('queue_items')
    .set(notDrawn)
    .where('id', 'in', oneOf(chosen.map(({ id }) => id)))
    .execute();
  return [...kept, ...others.filter(isBound)].map((item) => ({ ...item, rate: Math.min(rate, item.rate ?? 1) }));
}

/** Columns of the items named `i`. */
function isFree({ queue, tenant, person, people, now }: FreeItems): RawBuilder<boolean> {
  return sql<boolean>`i.queue = ${queue} ${ofTenant(tenant)} and i.state = 'open' and i.answers < ${people}
    and (i.holder is null or i.holder = ${person} or i.leased_us <= ${now}) and (i.due_us is null or i.due_us > ${now} or i.holder = ${person})
    and not exists (select 1 from queue_responses r where r.item_id = i.id and r.person = ${person})`;
}

async function candidatesOf(db: Db, query: FreeItems & { readonly limit: number }): Promise<readonly QueueCandidate[]> {
  const { rows } = await sql<Pick<Row, 'id' | 'run_id' | 'entered_us'>>`
    select i.id, i.run_id, i.entered_us from queue_items i where ${isFree(query)} and i.draw is null order by i.entered_us, i.id limit ${query.limit}`.execute(
    db,
  );
  const entries = await readEntries(
    db,
    rows.map((row) => row.run_id),
  );
  return rows.map(({ id, run_id: run, entered_us: enteredAt }) => ({
    id,
    enteredAt,
    verdicts: (entries.get(run) ?? []).flatMap(({ name, verdict }) =>
      verdict === undefined ? [] : [{ name, kind: verdict.kind, verdict: verdict.verdict, score: verdict.score, details: verdict.details }],
    ),
  }));
}

async function leased(tx: Tx, request: LeaseRequest): Promise<Leased | undefined> {
  const { person, now, until } = request;
  const held = await one(tx, sql`${isFree(request)} and i.holder = ${person} order by i.entered_us, i.id`);
  const isDrawnFirst = held === undefined && isDrawnTurn(await turnsOf(tx, request), request.random ?? 0);
  const found =
    held ??
    (isDrawnFirst
      ? ((await firstDrawn(tx, request)) ?? (await firstChosen(tx, request)))
      : ((await firstChosen(tx, request)) ?? (await firstDrawn(tx, request))));
  if (found === undefined) return undefined;
  const isOwn = found.holder === person;
  const row: Row = { ...found, holder: person, leased_us: until, is_lapsed: 0, fence: isOwn ? found.fence : found.fence + 1 };
  await tx
    .updateTable('queue_items')
    .set({ holder: row.holder, leased_us: row.leased_us, is_lapsed: row.is_lapsed, fence: row.fence })
    .where('id', '=', row.id)
    .execute();
  const [item] = await itemsOf(tx, [row]);
  const hasEnded = found.holder !== null && (found.leased_us ?? 0) <= now;
  return item === undefined ? undefined : { item, tookOver: hasEnded && found.is_lapsed === 0 };
}

async function firstChosen(tx: Tx, request: LeaseRequest): Promise<Row | undefined> {
  const free = sql`${isFree(request)} and i.draw is null`;
  if (request.among === undefined) return await one(tx, sql`${free} order by i.entered_us, i.id`);
  for (const id of request.among) {
    const found = await one(tx, sql`${free} and i.id = ${id}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first in the random order. */
async function firstDrawn(tx: Tx, request: LeaseRequest): Promise<Row | undefined> {
  const found = await one(tx, sql`${isFree(request)} and i.draw is not null order by i.draw, i.id`);
  await raiseCutoffs(tx, request, found?.id ?? 0);
  return found;
}

/**
 * When an item is handed out, all runs with a number below the first one that waits have been, as in a bottom-k sample. So the label of such a
 * run has the probability that its number is below this cut-off, whether people answered it before or after, or even before its draw.
 */
async function raiseCutoffs(tx: Tx, { queue, tenant, now }: FreeItems, handedOut: number): Promise<void> {
  const { rows: waiting } = await sql<{ readonly first: number | null }>`select min(i.draw) as first from queue_items i
    where i.queue = ${queue} ${ofTenant(tenant)} and i.state = 'open' and i.draw is not null and i.id <> ${handedOut} and i.is_ahead = 0
      and i.holder is null and i.answers = 0 and i.skips = 0 and (i.due_us is null or i.due_us > ${now})`.execute(tx);
  const reached = waiting[0]?.first ?? 1;
  const { rows: raised } = await sql<Pick<Row, 'id'>>`update queue_items as i set cutoff = min(${reached}, i.rate),
      is_ahead = case when i.draw < min(${reached}, i.rate) then 0 else i.is_ahead end
    where i.queue = ${queue} ${ofTenant(tenant)} and i.cutoff < i.rate and i.cutoff < ${reached} returning id`.execute(tx);
  await sql`update annotations set probability = l.probability from (
      select a.id, min(1.0, i.cutoff / i.judged) as probability from queue_items i
        join queue_responses r on r.item_id = i.id and r.kind = 'answer'
        join annotations a on a.run_id = i.run_id and a.annotator = r.person and a.name = i.drawn_by and a.tool_call = ''
      where i.id in ${oneOf(raised.map(({ id }) => id))} and i.draw < i.cutoff
        and exists (select 1 from json_each(r.response) v where v.key = i.drawn_by)) as l
    where annotations.id = l.id`.execute(tx);
}

/** Answers and skips so far, of one tenant or of all. */
async function turnsOf(tx: Tx, { queue, tenant }: FreeItems): Promise<number> {
  const { turns } = await tx
    .selectFrom('queue_turns')
    .select(({ fn }) => fn.sum<number | null>('turns').as('turns'))
    .where('queue', '=', queue)
    .$if(tenant !== undefined, (query) => query.where('tenant', '=', tenant ?? ''))
    .executeTakeFirstOrThrow();
  return turns ?? 0;
}

function probabilityOf({ rate, judged }: Pick<Row, 'rate' | 'judged'>): number | undefined {
  return rate === null || judged === null ? undefined : drawProbability({ rate, judged });
}

async function one(tx: Tx, condition: RawBuilder<unknown>): Promise<Row | undefined> {
  return (await sql<Row>`select i.* from queue_items i where ${condition} limit 1`.execute(tx)).rows[0];
}

/** Undoes the transaction. */
class NoRoom extends Error {}

async function responded(db: Db, response: NewQueueResponse): Promise<ResponseOutcome> {
  try {
    return await db.transaction().execute((tx) => responseOf(tx, response));
  } catch (error) {
    if (error instanceof NoRoom) return { kind: 'refused', reason: 'full' };
    throw error;
  }
}

async function responseOf(tx: Tx, response: NewQueueResponse): Promise<ResponseOutcome> {
  const { queue, item: id, lease, person, kind, at, values, comment, people, annotations } = response;
  const row = await tx.selectFrom('queue_items').selectAll().where('id', '=', id).where('queue', '=', queue).executeTakeFirst();
  if (row === undefined) return { kind: 'refused', reason: 'unknown' };
  const before = await tx
    .selectFrom('queue_responses')
    .select('fence')
    .where('item_id', '=', id)
    .where('person', '=', person)
    .executeTakeFirst();
  if (before !== undefined) return before.fence === lease ? await takenOf(tx, row, true) : { kind: 'refused', reason: 'responded' };
  if (row.state !== 'open' || row.answers >= people) return { kind: 'refused', reason: 'closed' };
  if (row.fence !== lease || row.holder !== person) return { kind: 'refused', reason: 'lost' };
  const probability =
    row.draw === null || row.judged === null || row.draw >= row.cutoff
      ? undefined
      : drawProbability({ rate: row.cutoff, judged: row.judged });
  const labels = annotations.map((annotation) =>
    probability === undefined || annotation.name !== row.drawn_by ? annotation : { ...annotation, probability },
  );
  if ((await writeAnnotations(tx, labels, at)).some((fate) => fate === 'too_many' || fate === 'full')) throw new NoRoom();
  await tx
    .insertInto('queue_responses')
    .values({ item_id: id, person, kind, at_us: at, fence: lease, response: jsonText(values), comment })
    .execute();
  await tx
    .insertInto('queue_turns')
    .values({ queue, tenant: row.tenant, turns: 1 })
    .onConflict((conflict) => conflict.columns(['queue', 'tenant']).doUpdateSet({ turns: sql`queue_turns.turns + 1` }))
    .execute();
  const counts = { answers: row.answers + (kind === 'answer' ? 1 : 0), skips: row.skips + (kind === 'skip' ? 1 : 0) };
  const state: QueueItemState = counts.answers >= people ? 'done' : counts.skips >= people ? 'skipped' : 'open';
  const next = { ...counts, state, closed_us: state === 'open' ? null : at, holder: null, leased_us: null };
  await tx.updateTable('queue_items').set(next).where('id', '=', id).execute();
  return await takenOf(tx, { ...row, ...next }, false);
}

async function takenOf(tx: Tx, row: Row, isRepeated: boolean): Promise<ResponseOutcome> {
  const [item] = await itemsOf(tx, [row]);
  return item === undefined ? { kind: 'refused', reason: 'unknown' } : { kind: 'taken', item, isRepeated };
}

async function itemsOf(db: Db, rows: readonly Row[]): Promise<readonly QueueItem[]> {
  if (rows.length === 0) return [];
  const responses = await db
    .selectFrom('queue_responses')
    .selectAll()
    .where('item_id', 'in', oneOf(rows.map(({ id }) => id)))
    .orderBy('at_us')
    .orderBy('person')
    .execute();
  const byItem = Map.groupBy(responses, (row) => row.item_id);
  return rows.map((row) => ({
    id: row.id,
    queue: row.queue,
    tenant: row.tenant as Tenant,
    traceId: row.trace_id as TraceId,
    spanId: row.span_id as SpanId,
    why: row.why,
    addedBy: row.added_by,
    enteredAt: row.entered_us,
    probability: probabilityOf(row),
    dueAt: row.due_us ?? undefined,
    state: row.state as QueueItemState,
    closedAt: row.closed_us ?? undefined,
    lease: row.holder === null || row.leased_us === null ? undefined : { id: row.fence, person: row.holder, until: row.leased_us },
    responses: (byItem.get(row.id) ?? []).map(({ person, kind, at_us: at, response, comment }): QueueResponse => ({
      person,
      kind: kind === 'skip' ? 'skip' : 'answer',
      at,
      values: valuesOf(response),
      comment,
    })),
  }));
}

function valuesOf(text: string): JsonObject {
  const value = parseJson(text) ?? null;
  return isJsonObject(value) ? value : {};
}

async function countsOf(db: Db, { tenant, now }: { readonly tenant?: Tenant; readonly now: number }): Promise<readonly QueueCounts[]> {
  const { rows } = await sql<Omit<QueueCounts, 'oldestAt'> & { readonly oldest: number | null }>`
    select i.queue, count(*) filter (where i.state = 'open') as open,
      count(*) filter (where i.state = 'open' and i.holder is not null and i.leased_us > ${now}) as leased,
      count(*) filter (where i.state = 'done') as done, count(*) filter (where i.state = 'skipped') as skipped,
      count(*) filter (where i.state = 'expired') as expired, sum(i.answers) as answers, min(i.entered_us) filter (where i.state = 'open') as oldest
    from queue_items i where true ${ofTenant(tenant)} group by i.queue order by i.queue`.execute(db);
  return rows.map(({ oldest, ...counts }) => ({ ...counts, oldestAt: oldest ?? undefined }));
}

async function answeredOf(
  db: Db,
  { queue, tenant, limit }: { readonly queue: string; readonly tenant?: Tenant; readonly limit: number },
): Promise<readonly AnsweredItem[]> {
  const { rows } = await sql<{ readonly item: number; readonly person: string; readonly response: string }>`
    select r.item_id as item, r.person, r.response from queue_responses r
    where r.kind = 'answer' and r.item_id in (
      select i.id from queue_items i where i.queue = ${queue} ${ofTenant(tenant)} and i.answers > 1 order by i.id desc limit ${limit})
    order by r.item_id, r.person`.execute(db);
  return [...Map.groupBy(rows, ({ item }) => item)].map(([item, answers]) => ({
    item,
    answers: answers.map(({ person, response }) => ({ person, values: valuesOf(response) })),
  }));
}

type OfQueue = { readonly queue: string };

async function kept(tx: Tx, { at, people, limit }: QueueUpkeep): Promise<UpkeepCounts> {
  const ended = sql`i.state = 'open' and i.holder is not null and i.leased_us <= ${at}`;
  const lapsed = await sql<OfQueue>`update queue_items set is_lapsed = 1
    where id in (select i.id from queue_items i where ${ended} and i.is_lapsed = 0 limit ${limit}) returning queue`.execute(tx);
  // The person who holds an item may still answer it.
  const unheld = sql`i.state = 'open' and (i.holder is null or i.leased_us <= ${at})`;
  const closing = (state: QueueItemState): RawBuilder<unknown> =>
    sql`update queue_items set state = ${state}, closed_us = ${at}, holder = null, leased_us = null`;
  for (const [queue, enough] of people)
    await sql`${closing('done')} where id in (
      select i.id from queue_items i where i.queue = ${queue} and ${unheld} and i.answers >= ${enough} limit ${limit})`.execute(tx);
  const expired = await sql<OfQueue>`${closing('expired')} where id in (
    select i.id from queue_items i where ${unheld} and i.due_us <= ${at} limit ${limit}) returning queue`.execute(tx);
  return { expired: numbersOf(expired.rows), lapsed: numbersOf(lapsed.rows) };
}

function numbersOf(rows: readonly OfQueue[]): ReadonlyMap<string, number> {
  return new Map([...Map.groupBy(rows, ({ queue }) => queue)].map(([queue, own]) => [queue, own.length]));
}
