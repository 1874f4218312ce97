/** The tree of a trace: noise taken out, cycles cut, what is awaited known everywhere. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SpanRole } from '../../../collectors/collector.ts';
import { runSteps } from '../../../src/runtime/cooperative.ts';
import { looseNode, tree, type Node, type Tree } from '../../../src/pipeline/assembly/span-tree.ts';
import { remoteParent, span, type SpanData } from '../../builders/spans.ts';

type Held = SpanData & { readonly role?: SpanRole };

interface Case {
  readonly name: string;
  readonly spans: readonly Held[];
  /** Each line a root: `1(2(3) 4)`; `?9` behind it names what it awaits, `!9` in another process. */
  readonly roots: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'children hang below their parents in order of start time',
    spans: [
      { id: 1, start: 0 },
      { id: 3, parent: 1, start: 2 },
      { id: 2, parent: 1, start: 5 },
      { id: 4, parent: 3, start: 3 },
    ],
    roots: ['1(3(4) 2)'],
  },
  {
    name: 'a parent that has not arrived is awaited by everything below',
    spans: [{ id: 2, parent: 9 }, { id: 3, parent: 2 }, { id: 4 }],
    roots: ['2?9(3?9)', '4'],
  },
  {
    name: 'a parent in another process is distinguished',
    spans: [
      { id: 2, parent: 9, flags: remoteParent },
      { id: 3, parent: 2 },
    ],
    roots: ['2!9(3!9)'],
  },
  {
    name: 'noise gives its children to its parent',
    spans: [
      { id: 1 },
      { id: 2, parent: 1, role: 'noise' },
      { id: 3, parent: 2, role: 'noise' },
      { id: 4, parent: 3 },
      { id: 5, parent: 3 },
    ],
    roots: ['1(4 5)'],
  },
  {
    name: 'noise at the top leaves whole roots',
    spans: [
      { id: 2, role: 'noise' },
      { id: 3, parent: 2, role: 'noise' },
      { id: 4, parent: 3 },
    ],
    roots: ['4'],
  },
  {
    name: 'noise whose parent is missing leaves roots that await it',
    spans: [
      { id: 2, parent: 9, role: 'noise' },
      { id: 3, parent: 2, role: 'noise' },
      { id: 4, parent: 3 },
      { id: 5, parent: 2 },
    ],
    roots: ['4?9', '5?9'],
  },
  {
    name: 'a span that is its own parent is a root',
    spans: [
      { id: 1, parent: 1 },
      { id: 2, parent: 1 },
    ],
    roots: ['1(2)'],
  },
  {
    name: 'a cycle of parents is cut once',
    spans: [
      { id: 1, parent: 3 },
      { id: 2, parent: 1 },
      { id: 3, parent: 2 },
      { id: 4, parent: 2 },
    ],
    roots: ['1(2(3 4))'],
  },
  {
    name: 'a cycle of noise does not become a parent',
    spans: [
      { id: 1, parent: 2, role: 'noise' },
      { id: 2, parent: 1, role: 'noise' },
      { id: 3, parent: 2 },
    ],
    roots: ['3'],
  },
  {
    name: 'noise that is its own parent does not become a parent',
    spans: [
      { id: 1, parent: 1, role: 'noise' },
      { id: 3, parent: 1 },
    ],
    roots: ['3'],
  },
];

describe('tree', () => {
  for (const { name, spans, roots } of cases) {
    test(`tree: ${name}`, () => {
      expect(treeOf(spans).roots.map(text)).toEqual(roots);
      expect(treeOf(spans.toReversed()).roots.map(text)).toEqual(roots);
    });
  }

  test('tree: with equal start times the first arrival comes first, at any ends and ids', () => {
    const spans: readonly Held[] = [
      { id: 4, start: 0, end: 1 },
      { id: 3, start: 0, end: 1 },
      { id: 5, start: 0, end: 9 },
      { id: 2, start: 0, end: 0 },
    ];
    expect(treeOf(spans).roots.map(text)).toEqual(['4', '3', '5', '2']);
    expect(treeOf(spans.toReversed()).roots.map(text)).toEqual(['2', '5', '3', '4']);
  });

  test('tree: with any parents, every span that is not noise is in the tree once, below one of its ancestors', () => {
    const held = fc.array(
      fc.record({ parent: fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined }), start: fc.nat(5), noise: fc.boolean() }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(held, (list) => {
        const spans = list.map(({ parent, start, noise }, index): Held => ({
          id: index + 1,
          parent,
          start,
          role: noise ? 'noise' : 'step',
        }));
        const built = treeOf(spans);
        const seen: number[] = [];
        const visit = (node: Node): void => {
          seen.push(idOf(node));
          if (node.parent !== undefined) expect(ancestors(spans, idOf(node))).toContain(idOf(node.parent));
          for (const child of node.children) {
            expect(child.parent).toBe(node);
            visit(child);
          }
        };
        for (const root of built.roots) visit(root);
        expect(seen.sort((a, b) => a - b)).toEqual(spans.filter((one) => one.role !== 'noise').map((one) => one.id));
      }),
    );
  });
});

function treeOf(spans: readonly Held[]): Tree {
  return runSteps(
    tree(
      spans.map((data, arrival) =>
        looseNode(
          span(data),
          0,
          { facts: data.role === undefined ? {} : { role: data.role }, dialects: [], fromLogs: new Set<never>() },
          arrival,
        ),
      ),
    ),
  );
}

function idOf(node: Node): number {
  return Number.parseInt(node.span.spanId, 16);
}

function text(node: Node): string {
  const awaits = node.awaits === undefined ? '' : `${node.awaits.elsewhere ? '!' : '?'}${Number.parseInt(node.awaits.spanId, 16)}`;
  return `${idOf(node)}${awaits}${node.children.length === 0 ? '' : `(${node.children.map(text).join(' ')})`}`;
}

function ancestors(spans: readonly Held[], id: number): readonly number[] {
  const found: number[] = [];
  for (let at = spans[id - 1]?.parent; at !== undefined && !found.includes(at); at = spans[at - 1]?.parent) found.push(at);
  return found;
}
