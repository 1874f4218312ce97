/** `npm run check -- prose [PATH…]`: lists phrases that a native speaker would not write. `--write` lowers the allowance of every file to what it has. */
import { writeFileSync } from 'node:fs';
import { allowanceFile, isProse, phrasesIn } from './prose.ts';
import { repositoryFiles } from './tree.ts';

const words = process.argv.slice(2);
const paths = words.filter((word) => word !== '--write');
const found = repositoryFiles()
  .filter((file) => isProse(file) && (paths.length === 0 || paths.some((path) => file.path.startsWith(path))))
  .map((file) => ({ file, phrases: phrasesIn(file) }))
  .filter(({ phrases }) => phrases.length > 0);
const total = found.reduce((sum, { phrases }) => sum + phrases.length, 0);
if (words.includes('--write')) {
  const left = Object.fromEntries(found.map(({ file, phrases }) => [file.path, phrases.length]));
  writeFileSync(allowanceFile, `${JSON.stringify(left, undefined, 1)}\n`);
} else
  for (const { file, phrases } of found)
    for (const { line, text, instead } of phrases) process.stdout.write(`${file.path}:${line}: “${text}”: ${instead}\n`);
process.stdout.write(`${total} phrases in ${found.length} files\n`);
