/** Imports go down the floors, never up and never sideways between families; packages are listed per floor. */
import { posix } from 'node:path';
import { at, children, isNode, isProduct, nameOf, nodesOf, programBody, type Node, type Rule, type SourceFile } from './source.ts';

export interface Place {
  readonly floor: 0 | 1 | 2 | 3 | 4 | 5 | 6;
  /** Files of one family may import each other. */
  readonly family: string;
}

/** Folders by floor. A new folder gets its place here first. */
const floors: readonly (readonly [folder: string, floor: Place['floor']])[] = [
  ['src/model', 0],
  // Mechanisms that know no runs: under an injected clock, once each.
  ['src/runtime', 1],
  ['src/otlp', 2],
  ['src/telemetry', 2],
  ['src/redaction', 2],
  // Parts of reports in the forms that people read.
  ['src/report', 2],
  ['src/statistics', 2],
  ['collectors', 2],
  ['evaluators', 2],
  ['src/pipeline', 3],
  ['src/analytics', 3],
  // Texts of files, by libraries: above what examples are.
  ['src/datasets/forms', 4],
  ['src/datasets', 3],
  ['src/queues', 3],
  // Packages by which hosts reach other machines.
  ['src/http', 4],
  ['src/receivers', 5],
  ['src/exporters', 5],
  ['src/judges', 5],
  ['src/journals', 5],
  ['src/stores', 5],
  ['src/web', 5],
  // A separate program, in a browser: it knows the service only by its API.
  ['src/console', 5],
  // The public entries: hosts of the engine like the others, so they are above the pipeline (decision 27).
  ['src/library', 5],
  ['src/config', 6],
  // A host as the service is one, in an agent's own process.
  ['src/span-processor', 6],
  // Packages that the service is put together from.
  ['src/service', 6],
  ['src/cli', 6],
];

/** Packages by floor; floors 5 and 6 take what package.json lists. */
const packages: { readonly [floor in Place['floor']]: RegExp | undefined } = {
  0: /^$/,
  1: /^$/,
  // The parsers that read code blocks (decision 17).
  2: /^(ajv|ajv\/.+|re2js|acorn|acorn-jsx|@sveltejs\/acorn-typescript|py-ast|php-parser|@lezer\/(css|rust)|unbash|@rgrove\/parse-xml|yaml)$/,
  3: /^$/,
  4: /^(undici|csv-parse\/sync|yaml)$/,
  5: undefined,
  6: undefined,
};

/** Imports nothing of the other folders, and none of them imports it. */
const apart = 'src/console';
/** Packages of the console, which its build puts into its files. */
const consolePackages = /^(preact|preact\/hooks|preact-iso|@preact\/signals|uplot|uplot\/dist\/uPlot\.min\.css|@tanstack\/virtual-core)$/;

/** Names that are arithmetic in Node; everything else of it is the machine. */
const arithmetic: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['node:buffer', new Set(['isAscii'])],
  ['node:crypto', new Set(['createHash', 'hash'])],
]);

/** CommonJS files that load packages of floor 2 with their first user. They import no file. */
const loaders: ReadonlySet<string> = new Set(['src/runtime/packages.cjs', 'evaluators/syntax/parsers.cjs']);

/** Imports the evaluators that a configuration names: the only import that is not a literal. */
const importer = 'src/config/files/evaluator-files.ts';

export function placeOf(path: string): Place | undefined {
  if (path === 'src/service.ts') return { floor: 6, family: 'top' };
  const row = floors.find(([folder]) => path.startsWith(`${folder}/`));
  if (row === undefined) return undefined;
  return { floor: row[1], family: row[1] === 6 ? 'top' : row[0] };
}

/** The folder of `floors` that holds a file; `src/service.ts` is its own. */
export function folderOf(path: string): string | undefined {
  return path === 'src/service.ts' ? path : floors.find(([folder]) => path.startsWith(`${folder}/`))?.[0];
}

/** Paths of the files of the product that this one imports. */
export function importedPaths(file: SourceFile): readonly string[] {
  return importsOf(file).flatMap(({ target }) => (target?.startsWith('.') === true ? [posix.join(posix.dirname(file.path), target)] : []));
}

export const importsGoDown: Rule = (files) => {
  const known = new Set(files.map((file) => file.path));
  return files.filter(isProduct).flatMap((file) => {
    const place = placeOf(file.path);
    if (place === undefined) return [`${file.path}: no floor is known for this folder`];
    return importsOf(file).flatMap(({ node, target, names }) => {
      const fault =
        target === undefined
          ? file.path === importer
            ? undefined
            : 'imports what is not a literal'
          : faultOf({ from: file.path, place, target, names, known });
      return fault === undefined ? [] : [`${at(file, node)}: ${fault}`];
    });
  });
};

/** No file reaches itself over its imports; each circle is named once, by its files. */
export const importsFormNoCircle: Rule = (files) => {
  const product = new Map(files.filter((file) => isProduct(file)).map((file) => [file.path, file]));
  const done = new Set<string>();
  const way: string[] = [];
  const circles: string[] = [];
  const follow = (path: string): void => {
    const file = product.get(path);
    if (file === undefined || done.has(path)) return;
    const before = way.indexOf(path);
    if (before >= 0) {
      circles.push(`${[...way.slice(before), path].join(' → ')}: a circle`);
      return;
    }
    way.push(path);
    for (const imported of importedPaths(file)) follow(imported);
    way.pop();
    done.add(path);
  };
  for (const path of product.keys()) follow(path);
  return circles;
};

interface Import {
  readonly node: Node;
  readonly target: string | undefined;
  readonly names: readonly string[];
}

function importsOf(file: SourceFile): readonly Import[] {
  const nodes = /\bimport\s*\(/.test(file.text) ? nodesOf(file).map(({ node }) => node) : programBody(file);
  return nodes.flatMap((node) => {
    const isImport = /^(ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration|ImportExpression|TSImportType)$/.test(node.type);
    const source = node['source'] ?? node['argument'];
    if (!isImport || !isNode(source)) return [];
    const literal = isNode(source['literal']) ? source['literal'] : source;
    const target = typeof literal['value'] === 'string' ? literal['value'] : undefined;
    return [{ node, target, names: children(node, 'specifiers').map((specifier) => nameOf(specifier['imported']) ?? '*') }];
  });
}

function faultOf(edge: {
  readonly from: string;
  readonly place: Place;
  readonly target: string;
  readonly names: readonly string[];
  readonly known: ReadonlySet<string>;
}): string | undefined {
  const { from, place, target, names, known } = edge;
  if (place.family === apart && !target.startsWith('.'))
    return consolePackages.test(target) ? undefined : `the console may not import ${target}`;
  if (target.startsWith('node:'))
    return place.floor > 3 || isArithmetic(target, names) ? undefined : `floor ${place.floor} may not import ${target}`;
  if (!target.startsWith('.')) {
    const allowed = packages[place.floor];
    return allowed === undefined || allowed.test(target) ? undefined : `floor ${place.floor} may not import the package ${target}`;
  }
  const path = posix.join(posix.dirname(from), target);
  if (!known.has(path) && !loaders.has(path)) return `imports ${path}, which is not a file`;
  const to = placeOf(path);
  if (to === undefined) return `imports ${path}, outside the product`;
  if (to.family !== place.family && (to.family === apart || place.family === apart))
    return `imports ${path} across the edge of the console`;
  if (to.floor > place.floor) return `floor ${place.floor} imports ${path} of floor ${to.floor}`;
  return to.floor === place.floor && to.family !== place.family ? `imports ${path} sideways` : undefined;
}

function isArithmetic(target: string, names: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => arithmetic.get(target)?.has(name) === true);
}
