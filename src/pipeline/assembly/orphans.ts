/**
 * Tools whose parent never came, as a filter or a sampler dropped it. They belong to the agent that asked for the call, or to the only agent
 * that was at work then.
 */
import { endOf } from '../../model/span.ts';
import { below, type Node } from './span-tree.ts';

/** An agent as far as orphans need it. */
interface Home {
  readonly node: Node | undefined;
  readonly implicit: boolean;
  own: Node[];
  readonly subAgents: readonly Home[];
}

/** The topmost spans of a part whose parent is missing. */
type Part = readonly Node[];

/** In traces with more agents only call ids show whose a part is. */
const homesMax = 64;

/** Hands each part to its agent; gives those that have none. */
export function withoutAdopted(parts: readonly Part[], runs: readonly Home[]): readonly Part[] {
  if (parts.length === 0 || runs.length === 0) return parts;
  const homes = runs.flatMap(withSubAgents).filter(({ implicit }) => !implicit);
  const askers = askersOf(homes);
  const reported = new Map<Home, ReadonlyMap<string, readonly Node[]>>();
  const adopted = new Map<Home, Node[]>();
  const left = parts.filter((roots) => {
    const all = roots.flatMap((root) => [root, ...below(root)]);
    const home = byCallId(all, askers) ?? (homes.length > homesMax ? undefined : byTime(all, homes, reported));
    if (home === undefined) return true;
    const own = adopted.get(home);
    if (own === undefined) adopted.set(home, all);
    else for (const node of all) own.push(node);
    return false;
  });
  for (const [home, nodes] of adopted) home.own = [...home.own, ...nodes];
  return left;
}

function withSubAgents(home: Home): readonly Home[] {
  return [home, ...home.subAgents.flatMap(withSubAgents)];
}

/** Agents by the ids of the calls that they asked for. */
function askersOf(homes: readonly Home[]): ReadonlyMap<string, Home | undefined> {
  const found = new Map<string, Home | undefined>();
  for (const home of homes)
    for (const { reading } of home.own)
      for (const { requested } of reading.facts.outputMessages ?? [])
        // Ids that count from one may be those of several agents.
        for (const { id } of requested) if (id !== undefined) found.set(id, !found.has(id) || found.get(id) === home ? home : undefined);
  return found;
}

function byCallId(all: readonly Node[], askers: ReadonlyMap<string, Home | undefined>): Home | undefined {
  for (const { reading } of all) {
    const { role, tool } = reading.facts;
    const home = role === 'tool' && tool?.id !== undefined ? askers.get(tool.id) : undefined;
    if (home !== undefined) return home;
  }
  return undefined;
}

/**
 * Requests to models may belong to an agent that has not arrived yet, so an agent gets them only when it has no work yet. A span that reports how the call of
 * another span was carried out, or reports that call a second time, is not a further call. `reported`: tool spans of agents by name.
 */
function byTime(all: readonly Node[], homes: readonly Home[], reported: Map<Home, ReadonlyMap<string, readonly Node[]>>): Home | undefined {
  const [only, ...others] = homes.filter(({ node }) => node !== undefined && all.every((one) => isDuring(one, node)));
  if (only === undefined || others.length > 0) return undefined;
  const calls = reported.get(only) ?? callsByName(only);
  reported.set(only, calls);
  if (all.some(({ reading: { facts } }) => facts.role === 'model'))
    return calls.size > 0 || only.own.some(({ reading: { facts } }) => facts.role === 'model') ? undefined : only;
  const isNew = all.some(
    (one) =>
      one.reading.facts.role === 'tool' &&
      one.reading.facts.tool?.insideCall !== true &&
      !(calls.get(nameOf(one)) ?? []).some((other) => overlap(other, one)),
  );
  return isNew ? only : undefined;
}

/** Spans of one tool that an orphan is compared with. */
const callsMax = 64;

function callsByName({ own }: Home): ReadonlyMap<string, readonly Node[]> {
  const found = new Map<string, Node[]>();
  for (const node of own) {
    if (node.reading.facts.role !== 'tool') continue;
    const calls = found.get(nameOf(node));
    if (calls === undefined) found.set(nameOf(node), [node]);
    else if (calls.length < callsMax) calls.push(node);
  }
  return found;
}

function nameOf({ reading: { facts } }: Node): string {
  return facts.tool?.name ?? '';
}

function isDuring({ span }: Node, { span: agent }: Node): boolean {
  return span.startUnixNano >= agent.startUnixNano && span.startUnixNano <= endOf(agent);
}

function overlap({ span: one }: Node, { span: other }: Node): boolean {
  return one.startUnixNano <= endOf(other) && other.startUnixNano <= endOf(one);
}
