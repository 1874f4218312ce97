/** State of a page without content: what would be here, and how it comes here. */
import type { ComponentChildren } from 'preact';

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
