/** `docs/decisions/README.md`, from the titles of the pages. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../docs/decisions');

export function decisionsPage(): string {
  const rows = globSync('[0-9]*.md', { cwd: folder })
    .toSorted()
    .map((file) => {
      const [, number = '', title = ''] = /^# (\d+)\. (.+)\n/.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
      return `| ${number} | [${title}](${file}) |`;
    });
  return `${opening}\n\n${['| | topic |', '|---|---|', ...rows].join('\n')}\n`;
}

const opening = `# Decisions

<!-- Written by npm run docs from the titles of the pages. -->

Each page is the record of one subject whose decisions are hard to take back. It has the decisions in force, the alternatives with their price, and the figures
that decided. Its last line names the reasons to decide again.`;
