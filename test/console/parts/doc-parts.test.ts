import { expect, test } from 'vitest';
import { docParts } from '../../../src/console/parts/doc-parts.ts';

test.each([
  ['Nothing is named.', ['Nothing is named.']],
  ['docs/guides/ci.md shows it.', ['docs/guides/ci.md', ' shows it.']],
  ['See docs/guides/ci.md.', ['See ', 'docs/guides/ci.md', '.']],
  ['docs/guides/runbook.md#tracejurystorediskfull', ['docs/guides/runbook.md#tracejurystorediskfull']],
  ['Read docs/a/b.md, docs/c.md.', ['Read ', 'docs/a/b.md', ', ', 'docs/c.md', '.']],
  ['https://example.com/docs/guides/ci.md', ['https://example.com/docs/guides/ci.md']],
  ['docs/../secret.md and mydocs/a.md', ['docs/../secret.md and mydocs/a.md']],
])('doc parts: %j', (text, parts) => {
  expect(docParts(text)).toEqual(parts);
});
