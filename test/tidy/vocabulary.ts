/** One word, one meaning, and it is the field's own: `docs/reference/glossary.md` lists the words. These stood for the same things once. */
import { at, children, isCode, isNode, isProduct, nameOf, programBody, type Node, type Rule } from './source.ts';

const instead: { readonly [word: string]: string } = {
  bench: 'pool',
  course: 'progress',
  desk: 'worker',
  door: 'request gate',
  lane: 'executor or queue',
  leaving: 'redacted',
  look: 'scan',
  looked: 'scan result',
  looks: 'scans',
  parties: 'queue keys',
  party: 'queue key',
  passing: 'forward',
  patience: 'retry',
  prints: 'fingerprint',
  purse: 'budget',
  reckon: 'compute',
  reckoning: 'computation',
  remedies: 'missing data',
  remedy: 'missing data',
  seat: 'slot',
  shelf: 'slab allocator',
  shown: 'judge input',
  squeeze: 'compact',
  stand: 'state',
  standing: 'status or journal reference',
  standings: 'journal references',
  strain: 'pressure',
  strains: 'pressure',
  stress: 'load shedding',
  tell: 'report',
  telling: 'reading',
  tellings: 'readings',
  tells: 'report',
  till: 'reservation',
  together: 'join window or batcher',
  told: 'report or reading',
  turnstile: 'limiter',
  twin: 'double-buffered',
  whoever: 'the part itself',
};

const declaration = /^(FunctionDeclaration|ClassDeclaration|TSInterfaceDeclaration|TSTypeAliasDeclaration|VariableDeclarator)$/;

/** Names of product files, and of what they export. */
export const namesAreOfTheField: Rule = (files) =>
  files
    .filter((file) => isCode(file) && isProduct(file))
    .flatMap((file) => [
      ...faultsIn(file.path.slice(file.path.lastIndexOf('/') + 1).replace(/\.tsx?$/, ''), file.path),
      ...programBody(file)
        .filter((node) => node.type === 'ExportNamedDeclaration')
        .flatMap((node) => declaredIn(node).flatMap((name) => faultsIn(name, at(file, node)))),
    ]);

function declaredIn(node: Node): readonly string[] {
  const declared = node['declaration'];
  if (!isNode(declared)) return [];
  return [declared, ...children(declared, 'declarations')]
    .filter(({ type }) => declaration.test(type))
    .flatMap((one) => nameOf(one['id']) ?? []);
}

function faultsIn(name: string, place: string): readonly string[] {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.flatMap((word) =>
    Object.hasOwn(instead, word) ? [`${place}: “${name}” says “${word}”; the glossary says ${instead[word]}`] : [],
  );
}
