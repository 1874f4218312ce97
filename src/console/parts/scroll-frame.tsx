/** The frame of what may be larger than its place: it scrolls, has a name, and the keyboard reaches it. */
import type { ComponentChildren, Ref } from 'preact';

export interface ScrollFrameProps {
  /** Names the frame for a screen reader. */
  readonly label: string;
  /** Says how far the frame goes before it scrolls. */
  readonly class: string;
  readonly frame?: Ref<HTMLDivElement>;
  readonly onHover?: ((isOver: boolean) => void) | undefined;
  readonly children: ComponentChildren;
}

export function ScrollFrame({ label, class: name, frame, onHover, children }: ScrollFrameProps) {
  return (
    <div
      {...(frame === undefined ? {} : { ref: frame })}
      class={name}
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
