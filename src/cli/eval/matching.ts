/**
 * Which example a run belongs to: the one whose id it names, else one with the same input, else, for agent traces and messages, the
 * next one in order. Several runs may belong to one example. Sub-agents belong to none unless their own span names it.
 */
import { unitedDefinitions, readDefinitions } from '../../../collectors/parsing/definitions.ts';
import { isJsonObject } from '../../model/json.ts';
import type { DatasetExample, EvalItem, MatchedItem } from './item.ts';
import { sampleDecision } from '../../pipeline/evaluation/sampling.ts';

interface Matching {
  readonly items: readonly MatchedItem[];
  readonly missing: readonly string[];
}

export function matched(items: readonly EvalItem[], examples: readonly DatasetExample[]): Matching {
  const byId = new Map(examples.map((example) => [example.id, example]));
  const byInput = Map.groupBy(
    examples.filter(({ input }) => input !== undefined),
    ({ input }) => plain(input ?? ''),
  );
  const taken = new Set<DatasetExample>();
  const found = new Map<EvalItem, DatasetExample>();
  const take = (item: EvalItem, example: DatasetExample | undefined): void => {
    if (example === undefined) return;
    found.set(item, example);
    taken.add(example);
  };
  for (const item of items) if (item.exampleId !== undefined) take(item, byId.get(item.exampleId));
  for (const item of items) {
    const input = item.run.trace.input;
    if (found.has(item) || item.exampleId !== undefined || item.run.parent !== undefined || input === undefined) continue;
    // Of several with the same input, each gets its run before one gets a second.
    const same = byInput.get(plain(input)) ?? [];
    take(item, same.find((example) => !taken.has(example)) ?? same[0]);
  }
  const left = examples.filter((example) => !taken.has(example)).values();
  for (const item of items) if (item.ordered && !found.has(item) && item.exampleId === undefined) take(item, left.next().value);
  return {
    items: items.map((item) => withExample(item, found.get(item))),
    missing: examples.filter((example) => !taken.has(example)).map(({ id }) => id),
  };
}

/** White space at the ends is what people and templates add. */
function plain(input: string): string {
  return input.trim();
}

/** The expectation of the dataset wins over that of the run; its tools add the definitions that the run does not carry. */
function withExample(item: EvalItem, example: DatasetExample | undefined): MatchedItem {
  if (example === undefined) return { ...item, example };
  const { run } = item;
  const own = isJsonObject(run.expected) ? run.expected : {};
  const toolDefinitions =
    example.tools === undefined
      ? run.trace.toolDefinitions
      : unitedDefinitions([run.trace.toolDefinitions, readDefinitions(example.tools)]);
  return {
    ...item,
    label: example.id,
    example,
    run: {
      ...run,
      trace: { ...run.trace, toolDefinitions },
      ...(example.expect === undefined ? {} : { expected: { ...own, ...example.expect } }),
    },
  };
}

// A share of the runs by their trace ids: the same ones each time, and a larger share holds all of a smaller one.

/** Never none of them: a gate over nothing would say nothing. */
export function sampledItems<Item extends MatchedItem>(items: readonly Item[], percent: number): readonly Item[] {
  const kept = items.filter(({ run: { traceId } }) => sampleDecision({ traceId, traceState: '', rate: percent / 100 }).sampled);
  if (kept.length > 0) return kept;
  const first = items
    .map(({ run }) => run.traceId)
    .reduce((best, id) => (randomPart(id) > randomPart(best) ? id : best), items[0]?.run.traceId ?? '');
  return items.filter(({ run }) => run.traceId === first);
}

/** The bits that the sampler reads. */
function randomPart(traceId: string): string {
  return traceId.slice(-14);
}
