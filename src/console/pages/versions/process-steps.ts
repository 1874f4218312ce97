/** The learnt process of an agent as nodes and edges: the most frequent tools and steps, with their shares. */

/** `model` of `GET /processes/{agent}/{version}`. */
export interface ProcessData {
  readonly runs: number;
  readonly tools: readonly { readonly name: string; readonly runs: number; readonly calls: number }[];
  /** Null is the start or the end of the run. */
  readonly transitions: readonly {
    readonly from: string | null;
    readonly to: string | null;
    readonly runs: number;
    readonly times: number;
  }[];
}

export interface ProcessNode {
  readonly id: string;
  readonly kind: 'start' | 'tool' | 'end';
  readonly name: string;
  readonly calls: number;
  readonly runs: number;
}

export interface ProcessEdge {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly fromName: string | null;
  readonly toName: string | null;
  readonly times: number;
  readonly runs: number;
  /** Among all steps from `from`. */
  readonly share: number;
  /** True when fewer than `rareShare` of the runs with the first tool take it. */
  readonly isRare: boolean;
}

export interface ChosenProcess {
  readonly nodes: readonly ProcessNode[];
  readonly edges: readonly ProcessEdge[];
  readonly toolsLeftOut: number;
  readonly stepsLeftOut: number;
}

export const startId = 'start';
export const endId = 'end';
/** People cannot read more in one picture; the table has all. */
export const toolsMax = 24;
export const stepsMax = 60;
/** Below it a step is drawn as unusual. */
export const rareShare = 0.05;

/** The model of the answer; `undefined` when it is not readable as one. */
export function processDataOf(model: unknown): ProcessData | undefined {
  if (typeof model !== 'object' || model === null) return undefined;
  const { runs, tools, transitions } = model as Partial<ProcessData>;
  return typeof runs === 'number' && Array.isArray(tools) && Array.isArray(transitions) ? { runs, tools, transitions } : undefined;
}

/** All steps that happened, most frequent first. */
export function processSteps({ runs: allRuns, tools, transitions }: ProcessData): readonly ProcessEdge[] {
  const left = new Map<string | null, number>();
  for (const { from, times } of transitions) left.set(from, (left.get(from) ?? 0) + times);
  const toolRuns = new Map(tools.map(({ name, runs }) => [name, runs]));
  return transitions
    .filter(({ times }) => times > 0)
    .map(({ from, to, times, runs }) => {
      const [fromId, toId] = [from === null ? startId : idOf(from), to === null ? endId : idOf(to)];
      const runsFrom = from === null ? allRuns : (toolRuns.get(from) ?? 0);
      return {
        key: JSON.stringify([from, to]),
        from: fromId,
        to: toId,
        fromName: from,
        toName: to,
        times,
        runs,
        share: times / (left.get(from) ?? times),
        isRare: runsFrom > 0 && runs / runsFrom < rareShare,
      };
    })
    .sort((one, other) => other.times - one.times || (one.key < other.key ? -1 : 1));
}

/** Chooses the shown part of the process. A shown tool keeps the most frequent step to it and the one from it. */
export function chosenProcess(data: ProcessData): ChosenProcess {
  const tools = data.tools.toSorted((one, other) => other.calls - one.calls).slice(0, toolsMax);
  const shown = new Set([startId, endId, ...tools.map(({ name }) => idOf(name))]);
  const all = processSteps(data);
  const among = all.filter(({ from, to }) => shown.has(from) && shown.has(to));
  const [left, entered] = [new Set<string>(), new Set<string>()];
  const needed = new Set(
    among.filter(({ from, to }) => {
      const isFirst = !left.has(from) || !entered.has(to);
      left.add(from);
      entered.add(to);
      return isFirst;
    }),
  );
  const others = among.filter((edge) => !needed.has(edge)).slice(0, Math.max(0, stepsMax - needed.size));
  const edges = [...needed, ...others].sort((one, other) => other.times - one.times);
  const nodes: readonly ProcessNode[] = [
    { id: startId, kind: 'start', name: 'Start', calls: data.runs, runs: data.runs },
    ...tools.map(({ name, calls, runs }) => ({ id: idOf(name), kind: 'tool' as const, name, calls, runs })),
    { id: endId, kind: 'end', name: 'End', calls: data.runs, runs: data.runs },
  ];
  return { nodes, edges, toolsLeftOut: data.tools.length - tools.length, stepsLeftOut: all.length - edges.length };
}

/** Apart from the ids of start and end. The space at the end keeps it apart from a place of a step in a layer. */
function idOf(tool: string): string {
  return `tool ${tool} `;
}
