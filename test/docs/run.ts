/** `npm run docs`: writes the reference pages. A test fails while one of them is stale. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pages } from './pages.ts';

for (const { path, text } of pages) writeFileSync(join(import.meta.dirname, '../..', path), text());
