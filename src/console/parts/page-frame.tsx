/** The frame of a page: its heading, what can be done with the whole of it, and its parts. */
import type { ComponentChildren } from 'preact';

export interface PageFrameProps {
  readonly title: ComponentChildren;
  /** Beside the heading. */
  readonly actions?: ComponentChildren;
  /** True when the page is as high as the window, and a table in it scrolls. */
  readonly isFull?: boolean;
  readonly children: ComponentChildren;
}

export function PageFrame({ title, actions, isFull = false, children }: PageFrameProps) {
  return (
    <div class={isFull ? 'page full' : 'page'}>
      <div class="page-head">
        <h1>{title}</h1>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** For what is loading. It comes late, so that quick answers do not flicker. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  );
}
