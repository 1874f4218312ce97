/** The frame of a table: where the table is wider than the page, or longer than its place, the frame scrolls, and the keyboard reaches it. */
import type { ComponentChildren, Ref } from 'preact';

export interface TableFrameProps {
  /** Names the frame for a screen reader. */
  readonly label: string;
  /** True: the frame takes the height that is left, and the rows scroll in it. */
  readonly isLong?: boolean;
  readonly frame?: Ref<HTMLDivElement>;
  readonly onHover?: ((isOver: boolean) => void) | undefined;
  readonly children: ComponentChildren;
}

export function TableFrame({ label, isLong = false, frame, onHover, children }: TableFrameProps) {
  return (
    <div
      {...(frame === undefined ? {} : { ref: frame })}
      class={isLong ? 'table-frame scrolls' : 'table-frame'}
      role="region"
      aria-label={label}
      tabIndex={0}
      onMouseEnter={() => onHover?.(true)}
      onMouseLeave={() => onHover?.(false)}
    >
      {children}
    </div>
  );
}
