/** `docs/explanation/source-tree.md`, from the files of the product and their imports. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf, importedPaths, importsFormNoCircle, importsGoDown, placeOf } from '../tidy/floors.ts';
import { isProduct, parsedOnce, type SourceFile } from '../tidy/source.ts';
import { repositoryFiles } from '../tidy/tree.ts';

const page = join(import.meta.dirname, '../../docs/explanation/source-tree.md');

export interface Folder {
  readonly name: string;
  readonly floor: number;
  readonly files: number;
  readonly lines: number;
  /** Folders that it imports. */
  readonly imports: ReadonlySet<string>;
}

export function sourceTreePage(files = parsedOnce(repositoryFiles()).files): string {
  const faults = { upward: importsGoDown(files).length, circles: importsFormNoCircle(files).length };
  return sourceTree(foldersOf(files), faults, existsSync(page) ? readFileSync(page, 'utf8') : '');
}

export function foldersOf(files: readonly SourceFile[]): readonly Folder[] {
  const byFolder = Map.groupBy(files.filter(isProduct), ({ path }) => folderOf(path) ?? path);
  return [...byFolder]
    .map(([name, own]) => ({
      name,
      floor: placeOf(own[0]?.path ?? '')?.floor ?? 0,
      files: own.length,
      lines: own.reduce((sum, { text }) => sum + text.trimEnd().split('\n').length, 0),
      imports: new Set(own.flatMap((file) => importedPaths(file).map((path) => folderOf(path) ?? path)).filter((other) => other !== name)),
    }))
    .toSorted((one, other) => other.floor - one.floor || (one.name < other.name ? -1 : 1));
}

/** `known` is the current page, whose figures stay until they are wrong by more than a tenth. */
export function sourceTree(
  folders: readonly Folder[],
  { upward, circles }: { readonly upward: number; readonly circles: number },
  known: string,
): string {
  const rows = folders.map(({ name, floor, files, lines, imports }) => {
    const [, filesBefore, linesBefore] = new RegExp(`^\\| ${floor} \\| \`${name}\` \\| ([\\d,]+) \\| ([\\d,]+) \\|`, 'm').exec(known) ?? [];
    const names = [...imports].toSorted().map((other) => `\`${other}\``);
    return `| ${floor} | \`${name}\` | ${kept(filesBefore, files, 1)} | ${kept(linesBefore, lines, 100)} | ${names.join(', ')} |`;
  });
  return `${[
    opening,
    diagram(folders),
    `Upward arrows: ${upward}. Circles of files: ${circles}. Folders that import each other: ${mutual(folders)}.`,
    tableOpening,
    ['| floor | folder | files | lines | imports |', '|---|---|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')}\n`;
}

/** A figure that changes with every commit would make the page stale with every commit. */
function kept(before: string | undefined, now: number, unit: number): string {
  const known = Number((before ?? '').replaceAll(',', ''));
  const isClose = before !== undefined && Math.abs(known - now) <= Math.max(now / 10, unit);
  return (isClose ? known : Math.max(unit, Math.round(now / unit) * unit)).toLocaleString('en-US');
}

/** Without an arrow that a way over other folders implies. */
function diagram(folders: readonly Folder[]): string {
  const byName = new Map(folders.map((folder) => [folder.name, folder]));
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    [...(byName.get(from)?.imports ?? [])].some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  const id = (name: string): string => name.replaceAll(/[^a-z]/g, '_');
  const floors = [...Map.groupBy(folders, ({ floor }) => floor)].map(
    ([floor, own]) => `  subgraph floor${floor} [floor ${floor}]\n${own.map(({ name }) => `    ${id(name)}["${name}"]`).join('\n')}\n  end`,
  );
  const arrows = folders.flatMap(({ name, imports }) =>
    [...imports]
      .filter((to) => ![...imports].some((other) => other !== to && reaches(other, to, new Set([name]))))
      .toSorted()
      .map((to) => `  ${id(name)} --> ${id(to)}`),
  );
  return ['```mermaid', 'flowchart TD', ...floors, ...arrows, '```'].join('\n');
}

function mutual(folders: readonly Folder[]): string {
  const pairs = folders.flatMap(({ name, imports }) =>
    folders.filter((other) => name < other.name && imports.has(other.name) && other.imports.has(name)).map((other) => [name, other.name]),
  );
  return pairs.length === 0 ? '0' : `${pairs.length} (${pairs.map(([one, other]) => `\`${one}\` and \`${other}\``).join('; ')})`;
}

const opening = `# Source tree

<!-- Written by npm run docs from the files of the product and their imports. -->

An arrow leads from a folder to one that it imports, types included. An arrow is left out where a way over other folders implies it.
[Architecture](architecture.md#floors) explains the floors.`;

const tableOpening = `## Folders

Lines are rounded to hundreds. \`npm run docs\` renews a figure when it is wrong by more than a tenth.`;
