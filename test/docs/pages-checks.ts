import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Page } from './pages.ts';

/** Tests that the files of `pages` are what `npm run docs` writes today. */
export function checkPages(pages: readonly Page[]): void {
  for (const { path, text: written } of pages) {
    // Written once: some pages replay every recording.
    let known: string | undefined;
    const text = (): string => (known ??= written());

    test(`docs: ${path} has no hole in it`, () => {
      expect(text().match(/^.*(?:\bundefined\b|\bNaN\b|\[object ).*$/gm) ?? []).toEqual([]);
    });

    test(`docs: ${path} is what npm run docs writes`, () => {
      expect(readFileSync(join(import.meta.dirname, '../..', path), 'utf8')).toBe(text());
    });
  }
}
