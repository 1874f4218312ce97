/**
 * Places the learnt process of an agent as a layered graph, top to bottom (Sugiyama, Tagawa and Toda, IEEE Transactions on Systems, Man,
 * and Cybernetics 11, 1981): rare steps that close a circle go back up, the others lead from layer to layer.
 */
import { chosenProcess, endId, type ProcessData, type ProcessEdge, type ProcessNode, startId } from './process-steps.ts';
import { rounded } from '../../parts/sparkline-paths.ts';

export interface PlacedNode extends ProcessNode {
  /** Centre. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedEdge extends ProcessEdge {
  /** True when it goes back to an earlier layer, or to the same tool. */
  readonly isBack: boolean;
  /** SVG path. */
  readonly path: string;
  /** SVG path of the arrow at its end. */
  readonly arrow: string;
  readonly labelX: number;
  readonly labelY: number;
}

export interface ProcessLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly toolsLeftOut: number;
  readonly stepsLeftOut: number;
}

export const nodeSize = { width: 168, height: 44 } as const;
const gap = { x: 28, y: 64 } as const;
const margin = 24;
/** Width of the place where a long step passes a layer. */
const passWidth = 36;
const sweeps = 6;
/** Distance that a step back swings out for each layer that it passes. */
const swing = 26;

/** A node, or the place where a step passes a layer. */
interface Place {
  readonly id: string;
  readonly width: number;
  x: number;
}

export function processLayout(data: ProcessData): ProcessLayout {
  const { nodes, edges, toolsLeftOut, stepsLeftOut } = chosenProcess(data);
  const forward = withoutCircles(edges);
  const ranks = ranksOf(nodes, forward);
  const { layers, chains } = layered(nodes, forward, ranks);
  ordered(layers, chains);
  positioned(layers, chains);
  const places = new Map(layers.flat().map((place) => [place.id, place]));
  const left = Math.min(...layers.flat().map(({ x, width }) => x - width / 2));
  const right = Math.max(...layers.flat().map(({ x, width }) => x + width / 2));
  const at = (id: string): Point => ({
    x: (places.get(id)?.x ?? 0) - left + margin,
    y: margin + nodeSize.height / 2 + rankOf(ranks, id) * (nodeSize.height + gap.y),
  });
  // Labels of steps from one tool are at two heights, so that fewer overlap.
  const siblings = Map.groupBy(forward, ({ from }) => from);
  const labelAt = (edge: ProcessEdge): number => ((siblings.get(edge.from)?.indexOf(edge) ?? 0) % 2 === 0 ? 0.38 : 0.66);
  const placed = edges.map((edge) =>
    forward.has(edge) ? forwardEdge(edge, chains.get(edge) ?? [], { at, labelAt: labelAt(edge) }) : backEdge(edge, { at, ranks }),
  );
  const swung = edges.filter((edge) => !forward.has(edge)).map((edge) => swingOf(edge, ranks));
  return {
    width: right - left + 2 * margin + Math.max(0, ...swung),
    height: layers.length * (nodeSize.height + gap.y) - gap.y + 2 * margin,
    nodes: nodes.map((node) => ({ ...node, ...at(node.id), ...nodeSize })),
    edges: placed,
    toolsLeftOut,
    stepsLeftOut,
  };
}

/** The steps without those that close a circle; frequent steps come first, so rare ones go back. */
function withoutCircles(edges: readonly ProcessEdge[]): ReadonlySet<ProcessEdge> {
  const next = new Map<string, Set<string>>();
  const leads = (from: string, to: string): boolean => {
    const [seen, open] = [new Set<string>(), [from]];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === to) return true;
      if (seen.has(id)) continue;
      seen.add(id);
      open.push(...(next.get(id) ?? []));
    }
    return false;
  };
  const kept = new Set<ProcessEdge>();
  for (const edge of edges.toSorted((one, other) => other.times - one.times)) {
    if (leads(edge.to, edge.from)) continue;
    kept.add(edge);
    next.set(edge.from, (next.get(edge.from) ?? new Set()).add(edge.to));
  }
  return kept;
}

/** Longest way from the start, the end last. */
function ranksOf(nodes: readonly ProcessNode[], forward: ReadonlySet<ProcessEdge>): ReadonlyMap<string, number> {
  const ranks = new Map(nodes.map(({ id }) => [id, id === startId ? 0 : 1]));
  // Without circles no way is longer than the number of nodes.
  for (let pass = 0; pass < nodes.length; pass++) {
    let isChanged = false;
    for (const { from, to } of forward) {
      const wanted = rankOf(ranks, from) + 1;
      if (wanted <= rankOf(ranks, to)) continue;
      ranks.set(to, wanted);
      isChanged = true;
    }
    if (!isChanged) break;
  }
  ranks.set(endId, Math.max(0, ...nodes.filter(({ id }) => id !== endId).map(({ id }) => rankOf(ranks, id))) + 1);
  return ranks;
}

function rankOf(ranks: ReadonlyMap<string, number>, id: string): number {
  return ranks.get(id) ?? Number(/@(\d+)$/.exec(id)?.[1] ?? 0);
}

interface Layered {
  readonly layers: Place[][];
  /** The places of each step, its ends included. */
  readonly chains: ReadonlyMap<ProcessEdge, readonly Place[]>;
}

/** A step over several layers has a place in each. */
function layered(nodes: readonly ProcessNode[], forward: ReadonlySet<ProcessEdge>, ranks: ReadonlyMap<string, number>): Layered {
  const layers: Place[][] = Array.from({ length: rankOf(ranks, endId) + 1 }, () => []);
  const places = new Map<string, Place>();
  for (const { id } of nodes) {
    const place = { id, width: nodeSize.width, x: 0 };
    places.set(id, place);
    layers[rankOf(ranks, id)]?.push(place);
  }
  const chains = new Map<ProcessEdge, readonly Place[]>();
  for (const edge of forward) {
    const chain: (Place | undefined)[] = [places.get(edge.from)];
    for (let rank = rankOf(ranks, edge.from) + 1; rank < rankOf(ranks, edge.to); rank++) {
      const pass = { id: `${edge.key}@${rank}`, width: passWidth, x: 0 };
      layers[rank]?.push(pass);
      chain.push(pass);
    }
    chain.push(places.get(edge.to));
    chains.set(
      edge,
      chain.filter((place) => place !== undefined),
    );
  }
  return { layers, chains };
}

/** Neighbours of each place in the layers above and below. */
function neighbours(chains: Layered['chains']): { readonly above: Neighbours; readonly below: Neighbours } {
  const [above, below] = [new Map<Place, Place[]>(), new Map<Place, Place[]>()];
  for (const chain of chains.values())
    for (const [at, place] of chain.entries()) {
      const before = chain[at - 1];
      if (before === undefined) continue;
      above.set(place, [...(above.get(place) ?? []), before]);
      below.set(before, [...(below.get(before) ?? []), place]);
    }
  return { above, below };
}

type Neighbours = ReadonlyMap<Place, readonly Place[]>;

/** Sorts each layer by the mean position of the neighbours, from above and from below in turn. */
function ordered(layers: readonly Place[][], chains: Layered['chains']): void {
  const { above, below } = neighbours(chains);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isDown = sweep % 2 === 0;
    const position = new Map(layers.flatMap((layer) => layer.map((place, at) => [place, at - layer.length / 2] as const)));
    for (const layer of isDown ? layers : layers.toReversed()) {
      const wanted = (place: Place): number =>
        meanOf((isDown ? above : below).get(place)?.map((one) => position.get(one) ?? 0)) ?? position.get(place) ?? 0;
      const keys = new Map(layer.map((place) => [place, wanted(place)]));
      layer.sort((one, other) => (keys.get(one) ?? 0) - (keys.get(other) ?? 0));
      for (const [at, place] of layer.entries()) position.set(place, at - layer.length / 2);
    }
  }
}

/** Draws each place towards its neighbours, without overlap and in order. */
function positioned(layers: readonly Place[][], chains: Layered['chains']): void {
  const { above, below } = neighbours(chains);
  for (const layer of layers) spread(layer, new Map());
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const wanted = new Map(layer.map((place) => [place, meanOf((isDown ? above : below).get(place)?.map(({ x }) => x)) ?? place.x]));
      spread(layer, wanted);
    }
  }
}

/** Spreads places from left to right with room between. Then the whole layer moves to where its places want to be. */
function spread(layer: readonly Place[], wanted: ReadonlyMap<Place, number>): void {
  let edge = -Infinity;
  for (const place of layer) {
    place.x = Math.max(wanted.get(place) ?? 0, edge + place.width / 2);
    edge = place.x + place.width / 2 + gap.x;
  }
  const shift = meanOf(layer.map((place) => (wanted.get(place) ?? 0) - place.x)) ?? 0;
  for (const place of layer) place.x += shift;
}

function meanOf(values: readonly number[] | undefined): number | undefined {
  return values === undefined || values.length === 0 ? undefined : values.reduce((sum, one) => sum + one, 0) / values.length;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Ground {
  readonly at: (id: string) => Point;
  readonly ranks: ReadonlyMap<string, number>;
}

function forwardEdge(
  edge: ProcessEdge,
  chain: readonly Place[],
  { at, labelAt }: Pick<Ground, 'at'> & { readonly labelAt: number },
): PlacedEdge {
  const half = nodeSize.height / 2;
  const centres = chain.map(({ id }) => at(id));
  const points = centres.map(({ x, y }, index) => ({ x, y: index === 0 ? y + half : index === centres.length - 1 ? y - half : y }));
  const [first, ...rest] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return { ...edge, isBack: false, path: '', arrow: '', labelX: 0, labelY: 0 };
  let before = first;
  const curves = rest.map((point) => {
    const middle = rounded((before.y + point.y) / 2);
    const curve = `C${rounded(before.x)} ${middle} ${rounded(point.x)} ${middle} ${rounded(point.x)} ${rounded(point.y)}`;
    before = point;
    return curve;
  });
  const second = rest[0] ?? first;
  return {
    ...edge,
    isBack: false,
    path: `M${rounded(first.x)} ${rounded(first.y)}${curves.join('')}`,
    arrow: `M${rounded(last.x)} ${rounded(last.y)}l-4.5 -8h9z`,
    labelX: rounded(first.x + (second.x - first.x) * eased(labelAt)),
    labelY: rounded(first.y + (second.y - first.y) * labelAt + 4),
  };
}

/** Sideways position of a step at a part of its height. */
function eased(part: number): number {
  return part * part * (3 - 2 * part);
}

function backEdge(edge: ProcessEdge, { at, ranks }: Ground): PlacedEdge {
  const [from, to] = [at(edge.from), at(edge.to)];
  const isLoop = edge.from === edge.to;
  const out = swingOf(edge, ranks);
  const offset = isLoop ? 10 : 0;
  const [start, end] = [
    { x: from.x + nodeSize.width / 2, y: from.y + offset },
    { x: to.x + nodeSize.width / 2, y: to.y - offset },
  ];
  const far = Math.max(start.x, end.x) + out;
  return {
    ...edge,
    isBack: true,
    path: `M${rounded(start.x)} ${rounded(start.y)}C${rounded(far)} ${rounded(start.y)} ${rounded(far)} ${rounded(end.y)} ${rounded(end.x)} ${rounded(end.y)}`,
    arrow: `M${rounded(end.x)} ${rounded(end.y)}l8 -4.5v9z`,
    labelX: rounded((start.x + end.x + 6 * far) / 8),
    labelY: rounded((start.y + end.y) / 2),
  };
}

function swingOf({ from, to }: ProcessEdge, ranks: ReadonlyMap<string, number>): number {
  return swing * (2 + Math.abs(rankOf(ranks, from) - rankOf(ranks, to)));
}
