/** Rows of a long table that are on screen, by @tanstack/virtual-core. All rows have one height. */
import { elementScroll, observeElementOffset, observeElementRect, type VirtualItem, Virtualizer } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';

export interface VirtualRows {
  readonly items: readonly VirtualItem[];
  /** Pixels before the first item and after the last. */
  readonly before: number;
  readonly after: number;
  readonly scrollTo: (index: number) => void;
}

/** Rows above and below those on screen. */
const overscan = 12;

export function useVirtualRows(count: number, frame: RefObject<HTMLElement | null>, rowHeight: number): VirtualRows {
  const [, update] = useReducer((one: number) => one + 1, 0);
  const options = {
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan,
    // The head of the table covers the first row of the frame.
    scrollPaddingStart: rowHeight,
    onChange: () => update(0),
  };
  const known = useRef<Virtualizer<HTMLElement, HTMLElement> | undefined>(undefined);
  const virtualizer = (known.current ??= new Virtualizer<HTMLElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  return {
    items,
    before: first?.start ?? 0,
    after: last === undefined ? 0 : virtualizer.getTotalSize() - last.end,
    scrollTo(index) {
      // By what is known of the frame: measuring it lays the page out.
      const { scrollOffset, scrollRect } = virtualizer;
      const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight];
      const isInSight =
        scrollOffset !== null && scrollRect !== null && top >= scrollOffset + rowHeight && bottom <= scrollOffset + scrollRect.height;
      if (!isInSight) virtualizer.scrollToIndex(index);
    },
  };
}
