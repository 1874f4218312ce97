/** Pages on decisions have one form: a number and a topic, and the same four headings. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../docs/decisions');
const titleCharsMax = 60;

test.each(globSync('[0-9]*.md', { cwd: folder }))('docs: the decision %s has a topic and the four headings', (file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  const [, number, title = ''] = /^# (\d+)\. (.+)\n/.exec(text) ?? [];
  expect(Number(number)).toBe(parseInt(file, 10));
  expect(title.length).toBeLessThanOrEqual(titleCharsMax);
  expect([...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual(['Context', 'Decision', 'Alternatives', 'Consequences']);
});
