/** The repository's own text files. Fixtures are foreign data; what tools install or build is not ours to judge. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SourceFile } from './source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const leftOut: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage', '.git', 'tracejury-data', 'fixtures']);
/** They are there, and nothing can be said about their text. */
const picture = /\.png$/;
const textFile = /\.(tsx?|js|json|md|ya?ml|html|css|py)$|^(\.npmrc|Dockerfile|run)$/;

export function repositoryFiles(): readonly SourceFile[] {
  return filesBelow('');
}

function filesBelow(folder: string): readonly SourceFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return leftOut.has(entry.name) ? [] : filesBelow(path);
    if (entry.isFile() && picture.test(entry.name)) return [{ path, text: '' }];
    return entry.isFile() && textFile.test(entry.name) ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
  });
}
