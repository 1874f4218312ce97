/** The order in which the service delivers scored runs, and the progress of store and exporters in it. */
import type { Brand } from './ids.ts';

/** Number of a delivered item in its process, ascending from 1. */
export type ItemId = Brand<number, 'ItemId'>;
/** The id up to which all items have reached a state; 0 when none has. It only grows. */
export type Watermark = Brand<number, 'Watermark'>;
export type Delivered<Item> = Item & { readonly id: ItemId };

export const noItems = 0 as Watermark;

/** Items above `delivered` do not exist yet. */
export interface DeliveryWatermarks {
  delivered(): Watermark;
  /** The store has written these items or given them up. */
  stored(): Watermark;
  /** Every exporter has sent these items or given them up, or a durable store keeps them. */
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
  /** Requires ascending ids. */
  add(id: ItemId): void;
  /** Does nothing when the item is settled. */
  settle(id: ItemId): void;
  /** All items up to this one are settled. */
  low(): Watermark;
}

/** `from`: all items up to it are settled. */
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
