/** The frame of a table, which scrolls where the table is wider than the page, or longer than its place. */
import { ScrollFrame, type ScrollFrameProps } from './scroll-frame.tsx';

export interface TableFrameProps extends Omit<ScrollFrameProps, 'class'> {
  /** True when the frame takes the remaining height, and the rows scroll in it. */
  readonly isLong?: boolean;
}

export function TableFrame({ isLong = false, ...props }: TableFrameProps) {
  return <ScrollFrame class={isLong ? 'table-frame scrolls' : 'table-frame'} {...props} />;
}
