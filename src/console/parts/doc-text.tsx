/** A text whose names of documentation pages, such as `docs/guides/alerts.md`, are links to the pages that the service brings along. */
import { docParts } from './doc-parts.ts';

export function DocText({ text }: { readonly text: string }) {
  return (
    <>
      {docParts(text).map((part) =>
        part.startsWith('docs/') ? (
          <a key={part} href={`/${part}`}>
            {part}
          </a>
        ) : (
          part
        ),
      )}
    </>
  );
}
