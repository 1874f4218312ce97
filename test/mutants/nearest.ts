/** The tests that can notice a change to a file: those that import it, over any number of steps, nearest first. */
import { dirname, join, normalize, relative } from 'node:path';
import { children, isNode, nodesOf, type Node, type SourceFile } from '../tidy/source.ts';

/** They read text of the repository, start images or measure, and say nothing about one change. */
const leftOut = /^test\/(tidy|docs|docker|bench|mutants|faults|examples)\b/;

/** Paths of the test files for a source file: that of its own path first, then those of the files that import it, then those of its folder. */
export function nearestTests(files: readonly SourceFile[]): (path: string) => readonly string[] {
  const imports = new Map(files.map((file) => [file.path, importsOf(file)]));
  const importers = new Map<string, string[]>();
  for (const [by, all] of imports) for (const imported of all) importers.set(imported, [...(importers.get(imported) ?? []), by]);
  const reaches = new Map<string, number>();
  const reachOf = (test: string): number => {
    const known = reaches.get(test) ?? reach(test, imports).size;
    reaches.set(test, known);
    return known;
  };
  return (path) => {
    const distances = reach(path, importers);
    const users = new Set((importers.get(path) ?? []).map(testOf));
    const rank = (test: string): number =>
      (distances.get(test) ?? 0) +
      (test === testOf(path) ? -10 : users.has(test) ? -5 : dirname(test).startsWith(dirname(testOf(path))) ? -1 : 0);
    return [...distances.keys()]
      .filter((test) => test.endsWith('.test.ts') && !leftOut.test(test))
      .sort((a, b) => rank(a) - rank(b) || reachOf(a) - reachOf(b));
  };
}

/** Everything that the edges lead to, with the number of steps. */
function reach(from: string, edges: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> {
  const distances = new Map([[from, 0]]);
  for (const [path, distance] of distances)
    for (const next of edges.get(path) ?? []) if (!distances.has(next)) distances.set(next, distance + 1);
  return distances;
}

function testOf(path: string): string {
  return `test/${path.replace(/^src\//, '').replace(/\.ts$/, '.test.ts')}`;
}

/** Files that it loads when it runs, workers and processes included. Types are gone by then. */
function importsOf(file: SourceFile): readonly string[] {
  return nodesOf(file).flatMap(({ node }) => {
    const name = loadedName(node);
    if (typeof name !== 'string') return [];
    return name.startsWith('.')
      ? [relative('', normalize(join(dirname(file.path), name)))]
      : name.startsWith('tracejury/')
        ? [`src/library/${name.slice('tracejury/'.length)}.ts`]
        : [];
  });
}

function loadedName(node: Node): unknown {
  if (node['importKind'] === 'type' || node['exportKind'] === 'type') return undefined;
  const source = /^(Import|ExportNamed|ExportAll)(Declaration|Expression)$/.test(node.type)
    ? node['source']
    : isNode(node['callee']) && node['callee']['name'] === 'URL'
      ? (node['arguments'] as readonly unknown[])[0]
      : undefined;
  if (!isNode(source)) return undefined;
  // The ending of a worker's file is that of its starter.
  const [start] = children(source, 'quasis');
  return start === undefined ? source['value'] : `${(start['value'] as { readonly raw: string }).raw}.ts`;
}
