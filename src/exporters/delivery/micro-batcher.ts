/**
 * Puts items that are sent at the same time into one request. No item waits for a batch to fill, unless requests are rationed. A batch that
 * fails because of single items is sent again item by item, so only those fail. It is not when the answer names them.
 */
import type { ExportOutcome } from '../exporter.ts';

export interface MicroBatcherOptions<Item> {
  /** Resolves, never rejects, with one outcome for all items or one for each. Sending an item twice must be idempotent. */
  readonly send: (items: readonly Item[]) => Promise<ExportOutcome | readonly ExportOutcome[]>;
  readonly itemsMax: number;
  readonly requestsMax: number;
  /** Resolves when the waiting items go. Default: at the end of the event loop's turn. */
  readonly gather?: () => Promise<void>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly done: (outcome: ExportOutcome) => void;
}

/** The caller bounds the number of items in progress. */
export function microBatcher<Item>({
  send,
  itemsMax,
  requestsMax,
  gather,
}: MicroBatcherOptions<Item>): (item: Item) => Promise<ExportOutcome> {
  const waiting: Waiting<Item>[] = [];
  let requests = 0;
  let isDue = false;

  /** Sends after all callers of this turn have added their items. */
  function soon(): void {
    if (isDue || waiting.length === 0) return;
    isDue = true;
    const begin = (): void => {
      isDue = false;
      while (requests < requestsMax && waiting.length > 0) void request(waiting.splice(0, itemsMax));
    };
    if (gather === undefined) setImmediate(begin);
    else void gather().then(begin);
  }

  async function request(batch: readonly Waiting<Item>[]): Promise<void> {
    requests++;
    const outcome = await send(batch.map(({ item }) => item));
    if (batch.length > 1 && 'kind' in outcome && isOfOne(outcome))
      for (const { item, done } of batch) done(outcomeAt(await send([item]), 0));
    else for (const [at, { done }] of batch.entries()) done(outcomeAt(outcome, at));
    requests--;
    soon();
  }

  return (item) =>
    new Promise((done) => {
      waiting.push({ item, done });
      soon();
    });
}

function outcomeAt(outcome: ExportOutcome | readonly ExportOutcome[], at: number): ExportOutcome {
  return 'kind' in outcome ? outcome : (outcome[at] ?? { kind: 'failed', retryable: true, error: 'no outcome' });
}

function isOfOne(outcome: ExportOutcome): boolean {
  return outcome.kind === 'failed' && (!outcome.retryable || 'isMissing' in outcome);
}
