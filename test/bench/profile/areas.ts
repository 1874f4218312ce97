/** The part of the service that a profile's time belongs to. */
import type { Profiler } from 'node:inspector';

/** Time by the folder of our nearest function on the stack; work of `src/model` belongs to its caller. */
const folders = {
  'src/receivers/': 'taking requests',
  'src/otlp/': 'reading and writing OTLP',
  'src/journals/': 'journal',
  'collectors/': 'reading messages, tools, tokens',
  'src/pipeline/': 'gathering, assembling, closing',
  'evaluators/': 'rules',
  'src/stores/': 'what is stored',
  'src/exporters/': 'span events, metrics',
  'src/service/': 'the service around it',
  'src/telemetry/': 'the service around it',
  'src/runtime/': 'the service around it',
} as const satisfies { readonly [folder: string]: string };
const around = 'Node: HTTP, streams, timers';
const others = new Map([
  ['(garbage collector)', 'collecting garbage'],
  ['(program)', 'outside of JavaScript'],
]);

export interface AreaTime {
  readonly area: string;
  readonly micros: number;
}

/** Without the time in which nothing was done; the largest first. `root`: URL of the project's folder. */
export function timeByArea({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, root: string): readonly AreaTime[] {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const areas = new Map<number, string>();
  const areaOf = (id: number): string => {
    const known = areas.get(id);
    if (known !== undefined) return known;
    const node = byId.get(id);
    const parent = parents.get(id);
    const own = node === undefined ? undefined : (others.get(node.callFrame.functionName) ?? folderArea(node.callFrame.url, root));
    const area = own ?? (parent === undefined ? around : areaOf(parent));
    areas.set(id, area);
    return area;
  };
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id));
  const sums = new Map<string, number>();
  for (const [at, id] of samples.entries()) if (!idle.has(id)) sums.set(areaOf(id), (sums.get(areaOf(id)) ?? 0) + (timeDeltas[at] ?? 0));
  return [...sums].map(([area, micros]) => ({ area, micros })).sort((one, other) => other.micros - one.micros);
}

function folderArea(url: string, root: string): string | undefined {
  if (!url.startsWith(root)) return undefined;
  const path = url.slice(root.length);
  return Object.entries(folders).find(([folder]) => path.startsWith(folder))?.[1];
}
