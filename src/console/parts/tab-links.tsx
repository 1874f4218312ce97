/** Links between the parts of a page; each part has its own address. */
import '../styles/tab-links.css';

export interface TabLink {
  readonly title: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

export function TabLinks({ label, tabs }: { readonly label: string; readonly tabs: readonly TabLink[] }) {
  return (
    <nav class="tab-links" aria-label={label}>
      {tabs.map(({ title, href, isCurrent }) => (
        <a key={title} href={href} aria-current={isCurrent ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
