/** The order in which the service delivers scored runs, and how far the store and the exporters have come in it. */
import type { Brand } from './ids.ts';

/** Number of a delivered item in its process: from 1 on, ascending. */
export type ItemId = Brand<number, 'ItemId'>;
/** The id up to which all items are in some state; 0 when none is. It only grows. */
export type Watermark = Brand<number, 'Watermark'>;
export type Delivered<Item> = Item & { readonly id: ItemId };

export const noItems = 0 as Watermark;

/** Items above `delivered` do not exist yet. */
export interface DeliveryWatermarks {
  delivered(): Watermark;
  /** The store has these items or has given them up. */
  stored(): Watermark;
  /** Each exporter has sent these items or given them up, or a durable store keeps them for it. */
  sent(): Watermark;
}

export function upTo(id: ItemId): Watermark {
  return id as number as Watermark;
}

export function lowest(marks: readonly [Watermark, ...Watermark[]]): Watermark {
  return marks.reduce((low, mark) => (mark < low ? mark : low));
}

export interface ItemSequence {
  next(): ItemId;
  last(): Watermark;
}

export function itemSequence(): ItemSequence {
  let last = noItems;
  return {
    next() {
      last = (last + 1) as Watermark;
      return last as number as ItemId;
    },
    last: () => last,
  };
}

export interface WatermarkTracker {
  /** Ids come in ascending order. */
  add(id: ItemId): void;
  /** Does nothing when the item is settled already. */
  settle(id: ItemId): void;
  /** All items up to here are settled. */
  low(): Watermark;
}

/** `from`: the items up to it are settled. */
export function watermarkTracker(from: Watermark = noItems): WatermarkTracker {
  const open = new Set<ItemId>();
  let last = from;
  return {
    add(id) {
      open.add(id);
      last = upTo(id);
    },
    settle: (id) => void open.delete(id),
    low() {
      for (const id of open) return (id - 1) as Watermark;
      return last;
    },
  };
}
