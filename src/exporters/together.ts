/**
 * Items that are sent at one time go in one request. One that nobody else is sent beside goes at once: nothing waits for a batch to fill. A batch
 * that is refused for good, or of which something is not there yet, is sent item by item, so that only the one that it is about is given up or waits.
 */
import type { ExportOutcome } from './exporter.ts';

export interface TogetherOptions<Item> {
  /** Resolves, never rejects. An item that is sent twice is the same for the backend. */
  readonly send: (items: readonly Item[]) => Promise<ExportOutcome>;
  readonly itemsMax: number;
  readonly requestsMax: number;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly done: (outcome: ExportOutcome) => void;
}

/** Whoever calls bounds how many items are under way. */
export function together<Item>({ send, itemsMax, requestsMax }: TogetherOptions<Item>): (item: Item) => Promise<ExportOutcome> {
  const waiting: Waiting<Item>[] = [];
  let requests = 0;
  let isDue = false;

  /** After everybody who has something to send now has said so. */
  function soon(): void {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      while (requests < requestsMax && waiting.length > 0) void request(waiting.splice(0, itemsMax));
    });
  }

  async function request(batch: readonly Waiting<Item>[]): Promise<void> {
    requests++;
    const outcome = await send(batch.map(({ item }) => item));
    if (batch.length > 1 && isOfOne(outcome)) for (const { item, done } of batch) done(await send([item]));
    else for (const { done } of batch) done(outcome);
    requests--;
    soon();
  }

  return (item) =>
    new Promise((done) => {
      waiting.push({ item, done });
      soon();
    });
}

function isOfOne(outcome: ExportOutcome): boolean {
  return outcome.kind === 'failed' && (!outcome.retryable || 'isMissing' in outcome);
}
