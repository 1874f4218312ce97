/** Below floor 4 nothing touches the machine: no clock, no chance, no environment, no locale. On no floor is there module state. */
import { placeOf } from './floors.ts';
import {
  at,
  children,
  isNode,
  isProduct,
  nameOf,
  nodesOf,
  topStatements,
  type Node,
  type Rule,
  type SourceFile,
  type Visit,
} from './source.ts';

const machine: ReadonlySet<string> = new Set(
  (
    'Date performance process globalThis global window console navigator require eval Function fetch WebSocket EventSource XMLHttpRequest crypto Intl ' +
    'setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask'
  ).split(' '),
);

/** The same run must get the same verdict under every locale. */
const localeMember = /^(toLocale\w+|localeCompare)$/;

export const lowFloorsArePure: Rule = (files) =>
  files
    .filter((file) => isProduct(file) && (placeOf(file.path)?.floor ?? 6) < 4)
    .flatMap((file) =>
      nodesOf(file).flatMap((visit) => {
        const fault = impurity(visit);
        return fault === undefined ? [] : [`${at(file, visit.node)}: ${fault} is not for floors 0 to 3`];
      }),
    );

function impurity({ node, parent, key }: Visit): string | undefined {
  if (node.type === 'MetaProperty' && nameOf(node['meta']) === 'import') return 'import.meta';
  const name = nameOf(node);
  if (name === undefined) return undefined;
  if (isMemberName(parent, key)) {
    if (localeMember.test(name)) return name;
    const object = parent?.type === 'MemberExpression' ? nameOf(parent['object']) : undefined;
    return object === 'Math' && name === 'random' ? 'Math.random' : undefined;
  }
  // Math as a value, or under a computed member, may be Math.random by another name.
  if (name === 'Math' && (parent?.type !== 'MemberExpression' || parent['computed'] === true)) return 'Math as a value';
  return machine.has(name) ? name : undefined;
}

/** A name behind a dot or before a colon is not about the machine. */
function isMemberName(parent: Node | undefined, key: string): boolean {
  if (parent === undefined || parent['computed'] === true) return false;
  if (parent.type === 'MemberExpression') return key === 'property';
  if (parent.type === 'TSQualifiedName') return key === 'right';
  return key === 'key' && parent['shorthand'] !== true;
}

/** Names that start a process or a thread. */
const programs: ReadonlySet<string> = new Set([
  'src/cli/main.ts',
  'src/cli/console/main.ts',
  'src/console/main.tsx',
  'src/stores/sql/thread.ts',
  'src/datasets/forms/yaml-thread.ts',
]);

/** Importing a file does nothing: its top level declares. */
export const importingDoesNothing: Rule = (files) =>
  files
    .filter((file) => isProduct(file) && !programs.has(file.path))
    .flatMap((file) =>
      topStatements(file)
        .filter((statement) => !/Declaration$|^Export|^TSDeclareFunction$/.test(statement.type))
        .map((statement) => `${at(file, statement)}: the top level of a file only declares`),
    );

export const noModuleState: Rule = (files) =>
  files.filter(isProduct).flatMap((file) => {
    const declarations = topStatements(file).filter(
      (statement) => statement.type === 'VariableDeclaration' && statement['declare'] !== true,
    );
    const lets = declarations
      .filter((statement) => statement['kind'] !== 'const')
      .map((statement) => `${at(file, statement)}: a variable at the top of a file is state`);
    const constants = declarations.flatMap((statement) => children(statement, 'declarations'));
    return [...lets, ...constants.flatMap((constant) => collectionFault(file, constant)), ...changes(file, constants)];
  });

function collectionFault(file: SourceFile, declarator: Node): readonly string[] {
  const value = declarator['init'];
  if (!isNode(value) || value.type !== 'NewExpression') return [];
  const made = nameOf(value['callee']) ?? '';
  if (!/^(Map|Set|WeakMap|WeakSet|Array)$/.test(made)) return [];
  const id = declarator['id'];
  const annotation =
    isNode(id) && isNode(id['typeAnnotation']) ? file.text.slice(id['typeAnnotation'].start, id['typeAnnotation'].end) : '';
  return /^:\s*(Readonly|readonly )/.test(annotation)
    ? []
    : [`${at(file, declarator)}: a ${made} at the top of a file is typed as read only`];
}

/** Constants of the top level that are changed in place, and patterns that remember where they stopped. */
function changes(file: SourceFile, declarators: readonly Node[]): readonly string[] {
  const names = new Set(declarators.map((declarator) => nameOf(declarator['id'])));
  const sticky = new Set(declarators.filter((declarator) => remembers(declarator['init'])).map((declarator) => nameOf(declarator['id'])));
  return nodesOf(file).flatMap(({ node, parent, key }) => {
    if (node.type !== 'MemberExpression') return [];
    const object = nameOf(node['object']);
    if (object === undefined || !names.has(object)) return [];
    const member = nameOf(node['property']) ?? '';
    const called = parent?.type === 'CallExpression' && key === 'callee';
    const assigned =
      (parent?.type === 'AssignmentExpression' && key === 'left') ||
      parent?.type === 'UpdateExpression' ||
      (parent?.type === 'UnaryExpression' && parent['operator'] === 'delete');
    const changed =
      assigned || (called && /^(push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|set|add|delete|clear)$/.test(member));
    if (changed) return [`${at(file, node)}: ${object} is changed in place, so it is state`];
    return called && sticky.has(object) && /^(test|exec)$/.test(member)
      ? [`${at(file, node)}: ${object} has the flag g or y and remembers its place`]
      : [];
  });
}

function remembers(init: unknown): boolean {
  const regex = isNode(init) ? init['regex'] : undefined;
  return typeof regex === 'object' && regex !== null && 'flags' in regex && typeof regex.flags === 'string' && /[gy]/.test(regex.flags);
}
