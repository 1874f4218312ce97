/** The input of the rules: files as text, and the syntax tree of the TypeScript ones. */
import { parseSync } from 'oxc-parser';

/** Path from the repository's root, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Gives the syntax tree that the file keeps, for the next rule. */
  readonly program?: () => Node;
}

/** The files with their syntax trees, each parsed once. `forget` lets the trees go: they take some 200 MB. */
export function parsedOnce(files: readonly SourceFile[]): { readonly files: readonly SourceFile[]; readonly forget: () => void } {
  const programs = new Map<string, Node>();
  const withPrograms = files.map((file) => ({
    ...file,
    program: (): Node => {
      const program = programs.get(file.path) ?? parsed(file);
      programs.set(file.path, program);
      return program;
    },
  }));
  return { files: withPrograms, forget: () => programs.clear() };
}

/** A rule gives one sentence a fault, with the place in front; no fault, no sentence. */
export type Rule = (files: readonly SourceFile[]) => readonly string[];

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** A node with the way to it: the nearest parent last, and the member under which that parent holds it. */
export interface Visit {
  readonly node: Node;
  readonly parent: Node | undefined;
  readonly key: string;
}

/** Every node of a file, outermost first. Throws when the file is not valid TypeScript. */
export function nodesOf(file: SourceFile): readonly Visit[] {
  const found: Visit[] = [];
  collect({ node: programOf(file), parent: undefined, key: '' }, found);
  return found;
}

/** The statements at the top of a file, each exported declaration without its `export`. */
export function topStatements(file: SourceFile): readonly Node[] {
  return programBody(file).map((statement) => {
    const declaration = statement['declaration'];
    return statement.type === 'ExportNamedDeclaration' && isNode(declaration) ? declaration : statement;
  });
}

/** The unchanged statements at the top of a file. */
export function programBody(file: SourceFile): readonly Node[] {
  return children(programOf(file), 'body');
}

export function isCode(file: SourceFile): boolean {
  return /\.tsx?$/.test(file.path) && !file.path.endsWith('.d.ts');
}

/** Code that is part of the product, as opposed to tests and settings. */
export function isProduct(file: SourceFile): boolean {
  return isCode(file) && /^(src|collectors|evaluators)\//.test(file.path);
}

export function children(node: Node, key: string): readonly Node[] {
  const value = node[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The name of an identifier, else undefined. */
export function nameOf(node: unknown): string | undefined {
  if (!isNode(node) || node.type !== 'Identifier') return undefined;
  return typeof node['name'] === 'string' ? node['name'] : undefined;
}

export function at(file: SourceFile, node: Node): string {
  return `${file.path}:${lineOf(file.text, node.start)}`;
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function programOf(file: SourceFile): Node {
  return file.program?.() ?? parsed(file);
}

function parsed(file: SourceFile): Node {
  const { program, errors } = parseSync(file.path, file.text);
  if (errors.length > 0) throw new Error(`${file.path}: ${errors.map((error) => error.message).join('; ')}`);
  return program as unknown as Node;
}

/** Goes through a million nodes for each rule, so it makes no list on its way. */
function collect(visit: Visit, found: Visit[]): void {
  found.push(visit);
  const { node } = visit;
  for (const key in node) {
    const value = node[key];
    if (Array.isArray(value)) {
      for (const item of value as readonly unknown[]) if (isNode(item)) collect({ node: item, parent: node, key }, found);
    } else if (isNode(value)) collect({ node: value, parent: node, key }, found);
  }
}
