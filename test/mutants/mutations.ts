/** Single changes to a source file: each swaps one operator, turns one condition, or drops one call, one `await` or one step of a chain. */
import { nameOf, nodesOf, isNode, type Node, type SourceFile, type Visit } from '../tidy/source.ts';

export interface Mutant {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** `path › enclosing names: before → after`, with a number behind it where the same change is there again: it outlives a moved line. */
  readonly change: string;
}

const operators: ReadonlyMap<unknown, string> = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['===', '!=='],
  ['!==', '==='],
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
  ['%', '*'],
  ['&&', '||'],
  ['||', '&&'],
  ['??', '&&'],
]);
const methods: ReadonlyMap<unknown, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
]);
/** Steps of a chain without which the value keeps its type. */
const steps: ReadonlySet<unknown> = new Set(['sort', 'toSorted', 'reverse', 'toReversed', 'filter', 'trim', 'toLowerCase', 'slice']);
/** Larger numbers are measures, whose exact value no behaviour depends on. */
const numberMax = 10;
const shownChars = 90;

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export function mutantsOf(file: SourceFile): readonly Mutant[] {
  const visits = nodesOf(file);
  const parents = new Map(visits.map((visit) => [visit.node, visit]));
  const times = new Map<string, number>();
  return visits.flatMap((visit) => {
    if (isOutsideBehaviour(visit, parents)) return [];
    return editsOf(visit, file.text).map((edit) => {
      const { node } = visit;
      const after = file.text.slice(node.start, edit.start) + edit.replacement + file.text.slice(edit.end, node.end);
      const change = `${file.path} › ${enclosing(visit, parents)}: ${shown(file.text.slice(node.start, node.end))} → ${shown(after)}`;
      const time = (times.get(change) ?? 0) + 1;
      times.set(change, time);
      return { path: file.path, ...edit, change: time === 1 ? change : `${change} (${time})` };
    });
  });
}

function editsOf({ node, parent, key }: Visit, text: string): readonly Edit[] {
  const whole = (replacement: string): readonly Edit[] => [{ start: node.start, end: node.end, replacement }];
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return operatorEdits(node, text);
    case 'UnaryExpression':
      return node['operator'] === '!' && isNode(node['argument']) ? whole(source(node['argument'], text)) : [];
    case 'ConditionalExpression':
    case 'IfStatement':
      return isNode(node['test']) ? [true, false].map((value) => ({ ...rangeOf(node['test'] as Node), replacement: String(value) })) : [];
    case 'Literal':
      return literalEdits(node, parent, key, whole);
    case 'CallExpression':
      return callEdits(node, text);
    case 'ExpressionStatement':
      return statementEdits(node, text, whole);
    default:
      return [];
  }
}

function operatorEdits(node: Node, text: string): readonly Edit[] {
  const [left, right, after] = [node['left'], node['right'], operators.get(node['operator'])];
  if (!isNode(left) || !isNode(right) || after === undefined) return [];
  // A difference of texts is not a number, and the types forbid it.
  if (node['operator'] === '+' && [left, right].some((side) => /['"`]/.test(source(side, text)))) return [];
  const between = text.slice(left.end, right.start);
  const offset = between.indexOf(String(node['operator']));
  const start = left.end + offset;
  // `??` is not allowed beside `&&` without brackets.
  return offset < 0
    ? []
    : after === '&&' || after === '||'
      ? [{ start: node.start, end: node.end, replacement: `((${source(left, text)}) ${after} (${source(right, text)}))` }]
      : [{ start, end: start + String(node['operator']).length, replacement: after }];
}

function literalEdits(node: Node, parent: Node | undefined, key: string, whole: (replacement: string) => readonly Edit[]): readonly Edit[] {
  const value = node['value'];
  if (typeof value === 'boolean') return whole(String(!value));
  // A name or an index of a type is not a value.
  if (typeof value !== 'number' || !Number.isInteger(value) || value > numberMax || (parent?.type === 'Property' && key === 'key'))
    return [];
  return whole(value === 1 ? '0' : String(value + 1));
}

function callEdits(node: Node, text: string): readonly Edit[] {
  const callee = node['callee'];
  if (!isNode(callee) || callee.type !== 'MemberExpression' || callee['computed'] === true) return [];
  const [object, property] = [callee['object'], callee['property']];
  const name = nameOf(property);
  if (!isNode(object) || !isNode(property)) return [];
  const other = methods.get(name);
  if (other !== undefined) return [{ ...rangeOf(property), replacement: other }];
  return steps.has(name) ? [{ start: node.start, end: node.end, replacement: source(object, text) }] : [];
}

function statementEdits(node: Node, text: string, whole: (replacement: string) => readonly Edit[]): readonly Edit[] {
  const expression = node['expression'];
  if (!isNode(expression)) return [];
  const without = /^(Await|Call|Assignment|Update)Expression$/.test(expression.type) ? whole('void 0;') : [];
  const argument = expression['argument'];
  return expression.type === 'AwaitExpression' && isNode(argument) ? [...without, ...whole(`void ${source(argument, text)};`)] : without;
}

/** Types, imports and messages for people decide nothing. */
function isOutsideBehaviour({ node, parent }: Visit, parents: ReadonlyMap<Node, Visit>): boolean {
  for (
    let at: Node | undefined = node, above = parent;
    at !== undefined;
    at = above, above = at === undefined ? undefined : parents.get(at)?.parent
  ) {
    if (at.type.startsWith('TS') && !/^TS(As|NonNull|Satisfies)/.test(at.type)) return true;
    if (at.type.startsWith('Import') || at.type === 'ThrowStatement') return true;
  }
  return false;
}

/** Names of the functions and constants around it, outermost first. */
function enclosing(visit: Visit, parents: ReadonlyMap<Node, Visit>): string {
  const names: string[] = [];
  for (let at: Visit | undefined = visit; at !== undefined; at = at.parent === undefined ? undefined : parents.get(at.parent)) {
    const name = /^(FunctionDeclaration|VariableDeclarator|ClassDeclaration)$/.test(at.node.type)
      ? nameOf(at.node['id'])
      : at.node.type === 'Property' && at.node !== visit.node
        ? nameOf(at.node['key'])
        : undefined;
    if (name !== undefined) names.unshift(name);
  }
  return names.join('.') || 'top';
}

function rangeOf({ start, end }: Node): Pick<Edit, 'start' | 'end'> {
  return { start, end };
}

function source(node: Node, text: string): string {
  return text.slice(node.start, node.end);
}

function shown(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > shownChars ? `${line.slice(0, shownChars)}…` : line;
}
