/**
 * Items that are sent at one time go in one request. One that nobody else is sent beside goes at once: nothing waits for a batch to fill, unless requests are
 * few. A batch that is refused for good, or of which something is not there yet, is sent item by item, so that only the one that it is about is given up or
 * waits; where the answer says which one that is, nothing is sent again.
 */
import type { ExportOutcome } from '../exporter.ts';

export interface MicroBatcherOptions<Item> {
  /** Resolves, never rejects. One outcome for all of them, or that of each. An item that is sent twice is the same for the backend. */
  readonly send: (items: readonly Item[]) => Promise<ExportOutcome | readonly ExportOutcome[]>;
  readonly itemsMax: number;
  readonly requestsMax: number;
  /** Resolves when what waits for others is to go. */
  readonly gather?: () => Promise<void>;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly done: (outcome: ExportOutcome) => void;
}

/** Whoever calls bounds how many items are under way. */
export function microBatcher<Item>({
  send,
  itemsMax,
  requestsMax,
  gather,
}: MicroBatcherOptions<Item>): (item: Item) => Promise<ExportOutcome> {
  const waiting: Waiting<Item>[] = [];
  let requests = 0;
  let isDue = false;

  /** After everybody who has something to send now, or soon, has said so. */
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
