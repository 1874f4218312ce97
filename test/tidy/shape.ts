/** The shape of a file: how long, how it is named, what it exports. */
import {
  at,
  children,
  isCode,
  isNode,
  isProduct,
  lineOf,
  nameOf,
  nodesOf,
  type Node,
  type Rule,
  type SourceFile,
  type Visit,
} from './source.ts';

/** At 300 lines one asks whether a file holds two ideas; this is where the question has an answer. Lines are those of the formatter. */
const fileLinesMax = 600;
const functionLinesMax = 100;
const functionNode = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** Data tables are read by looking something up, not from top to bottom. */
const tables: ReadonlySet<string> = new Set([
  'src/telemetry/metrics.ts',
  'src/console/api/schema.ts',
  'test/evaluators/syntax/snippets.ts',
]);

export const filesAreShort: Rule = (files) =>
  files
    .filter((file) => isCode(file) && !tables.has(file.path))
    .map((file) => ({ path: file.path, lines: lineOf(file.text.trimEnd(), file.text.length) }))
    .filter(({ lines }) => lines > fileLinesMax)
    .map(({ path, lines }) => `${path}: ${lines} lines, more than ${fileLinesMax}`);

/** Functions inside a function count for themselves, so a factory may hold many short ones. Tests hold tables and are left out. */
export const functionsAreShort: Rule = (files) =>
  files
    .filter((file) => isCode(file) && !file.path.endsWith('.test.ts') && lineOf(file.text, file.text.length) > functionLinesMax)
    .flatMap((file) => {
      const functions = nodesOf(file)
        .map(({ node }) => node)
        .filter((node) => functionNode.test(node.type));
      return functions
        .filter((node) => lines(file, node) > functionLinesMax)
        .map((node) => ({ node, lines: ownLines(file, node, functions) }))
        .filter(({ lines }) => lines > functionLinesMax)
        .map(({ node, lines }) => `${at(file, node)}: a function of ${lines} lines, more than ${functionLinesMax}`);
    });

function ownLines(file: SourceFile, node: Node, functions: readonly Node[]): number {
  const inside = functions.filter((other) => other !== node && other.start >= node.start && other.end <= node.end);
  const outermost = inside.filter(
    (other) => !inside.some((around) => around !== other && around.start <= other.start && around.end >= other.end),
  );
  // The line on which an inner function begins belongs to the outer one.
  return outermost.reduce((left, other) => left - (lines(file, other) - 1), lines(file, node));
}

function lines(file: SourceFile, node: Node): number {
  return lineOf(file.text.slice(node.start, node.end), node.end - node.start);
}

export const namesSayWhatIsInside: Rule = (files) =>
  files.filter(isCode).flatMap((file) => {
    const name = file.path.slice(file.path.lastIndexOf('/') + 1);
    if (/^(utils?|common|misc|helpers?|shared|stuff)\.tsx?$/.test(name))
      return [`${file.path}: the name says nothing about what is inside`];
    return /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*\.tsx?$/.test(name) ? [] : [`${file.path}: file names are kebab-case`];
  });

/** `index.ts` is the table of a family that has a contract: in its folder, beside it or in `src/model`; nothing else. */
export const indexIsATable: Rule = (files) => {
  const paths = new Set(files.map((file) => file.path));
  return files
    .filter((file) => isProduct(file) && /\/index\.tsx?$/.test(file.path))
    .flatMap((file) => {
      const folder = file.path.slice(0, file.path.lastIndexOf('/'));
      const family = folder.slice(folder.lastIndexOf('/') + 1);
      const name = family.slice(0, -1);
      const hasContract =
        family.endsWith('s') &&
        [folder, folder.slice(0, -family.length - 1), `src/model/${name}`].some((home) => paths.has(`${home}/${name}.ts`));
      return hasContract ? [] : [`${file.path}: only a family with a contract has a table`];
    });
};

/** A file whose text does not match needs no syntax tree: a tree costs a hundred times as much. */
const mayHideExports = /\bdefault\b|\bexport\b[^;{('"]*\*/;

export const exportsAreNamed: Rule = (files) =>
  files
    .filter((file) => isCode(file) && !file.path.endsWith('.config.ts') && mayHideExports.test(file.text))
    .flatMap((file) =>
      nodesOf(file).flatMap(({ node }) => {
        if (
          node.type === 'ExportDefaultDeclaration' ||
          children(node, 'specifiers').some((specifier) => nameOf(specifier['exported']) === 'default')
        )
          return [`${at(file, node)}: a default export`];
        return node.type === 'ExportAllDeclaration' ? [`${at(file, node)}: export * hides what is exported`] : [];
      }),
    );

/** As above; in a sentence, a word follows `any`. */
const mayBeDishonest =
  /\bany\b(?!\s+[a-z])|\bany\s+(as|extends|satisfies)\b|\b(enum|namespace|module|global|constructor)\b|[\w$)\]}>'"`]!(?!=)/;

/** Syntax that Node cannot strip, and marks that switch the compiler off. */
export const typesAreHonest: Rule = (files) =>
  files
    .filter((file) => isCode(file) && mayBeDishonest.test(file.text))
    .flatMap((file) =>
      nodesOf(file).flatMap((visit) => {
        const fault = typeFault(visit);
        return fault === undefined ? [] : [`${at(file, visit.node)}: ${fault}`];
      }),
    );

function typeFault({ node }: Visit): string | undefined {
  if (node.type === 'TSAnyKeyword') return 'any';
  if (node.type === 'TSNonNullExpression') return 'a ! that no check stands behind';
  if (node.type === 'TSEnumDeclaration') return 'an enum';
  if (node.type === 'TSParameterProperty') return 'a parameter property';
  if (node.type === 'TSModuleDeclaration' && !isAmbientModule(node)) return 'a namespace';
  return undefined;
}

function isAmbientModule(node: Node): boolean {
  return node['declare'] === true && isNode(node['id']) && node['id'].type === 'Literal';
}
