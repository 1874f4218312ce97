/** Reads a process model from JSON: a file, the store, or a value of a program. Everything but `runs` may be left out. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import {
  argumentTypes,
  emptyProcess,
  processLimits,
  type ArgumentPath,
  type ProcessModel,
  type ProcessTool,
  type ToolOrder,
  type Transition,
} from '../../src/model/process-model.ts';
import { emptySketch, type QuantileSketch } from '../../src/model/quantile-sketch.ts';

export type ReadModel =
  | { readonly kind: 'read'; readonly model: ProcessModel }
  | { readonly kind: 'faulty'; readonly path: readonly (string | number)[]; readonly problem: string };

/** The place and the sentence of the first fault. */
class Faulty extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], problem: string) {
    super(problem);
    this.name = 'Faulty';
    this.path = path;
  }
}

export function readProcessModel(given: unknown): ReadModel {
  try {
    return { kind: 'read', model: model(objectOf(given as JsonValue, [])) };
  } catch (error) {
    if (!(error instanceof Faulty)) throw error;
    return { kind: 'faulty', path: error.path, problem: error.message };
  }
}

type Path = readonly (string | number)[];

function model(value: JsonObject): ProcessModel {
  const beyond = optional(value, 'beyond', [], objectOf) ?? {};
  return {
    runs: countOf(member(value, 'runs') ?? null, ['runs']),
    tools: list(value, 'tools', processLimits.tools, tool),
    transitions: list(value, 'transitions', processLimits.transitions, transition),
    orders: list(value, 'orders', processLimits.orders, order),
    calls: optional(value, 'calls', [], sketch) ?? emptySketch,
    duration: optional(value, 'duration', [], sketch) ?? emptySketch,
    tokens: optional(value, 'tokens', [], sketch) ?? emptySketch,
    beyond: {
      tools: optional(beyond, 'tools', ['beyond'], countOf) ?? emptyProcess.beyond.tools,
      transitions: optional(beyond, 'transitions', ['beyond'], countOf) ?? emptyProcess.beyond.transitions,
      orders: optional(beyond, 'orders', ['beyond'], countOf) ?? emptyProcess.beyond.orders,
    },
  };
}

function tool(value: JsonValue, path: Path): ProcessTool {
  const given = objectOf(value, path);
  const runs = countOf(member(given, 'runs') ?? null, [...path, 'runs']);
  const calls = optional(given, 'calls', path, countOf) ?? runs;
  return {
    name: textOf(member(given, 'name') ?? null, [...path, 'name']),
    runs,
    calls,
    most: optional(given, 'most', path, countOf) ?? 0,
    shaped: optional(given, 'shaped', path, countOf) ?? (member(given, 'paths') === undefined ? 0 : calls),
    paths: listAt(given, 'paths', path, processLimits.paths, (one, at) => argumentPath(one, at, calls)),
    beyond: optional(given, 'beyond', path, countOf) ?? 0,
  };
}

function argumentPath(value: JsonValue, path: Path, callsOfTool: number): ArgumentPath {
  const given = objectOf(value, path);
  const types = objectOf(member(given, 'types') ?? null, [...path, 'types']);
  for (const [name, count] of Object.entries(types)) {
    if (!argumentTypes.some((type) => type === name))
      throw new Faulty([...path, 'types', name], `is not a type of JSON; there are ${argumentTypes.join(', ')}`);
    countOf(count, [...path, 'types', name]);
  }
  return {
    path: textOf(member(given, 'path') ?? null, [...path, 'path']),
    calls: optional(given, 'calls', path, countOf) ?? callsOfTool,
    types,
  };
}

function transition(value: JsonValue, path: Path): Transition {
  const given = objectOf(value, path);
  const runs = countOf(member(given, 'runs') ?? null, [...path, 'runs']);
  return {
    from: endOf(member(given, 'from'), [...path, 'from']),
    to: endOf(member(given, 'to'), [...path, 'to']),
    runs,
    times: optional(given, 'times', path, countOf) ?? runs,
  };
}

function endOf(value: JsonValue | undefined, path: Path): string | null {
  return value === null ? null : textOf(value ?? null, path);
}

function order(value: JsonValue, path: Path): ToolOrder {
  const given = objectOf(value, path);
  return {
    first: textOf(member(given, 'first') ?? null, [...path, 'first']),
    then: textOf(member(given, 'then') ?? null, [...path, 'then']),
    runs: countOf(member(given, 'runs') ?? null, [...path, 'runs']),
  };
}

/** More buckets than a sketch can have; the arithmetic holds 400. */
const bucketsMost = 1_000;

function sketch(value: JsonValue, path: Path): QuantileSketch {
  const given = objectOf(value, path);
  const buckets = listAt(given, 'buckets', path, bucketsMost, (one, at): readonly [number, number] => {
    const [index, count] = isJsonArray(one) ? one : [];
    if (typeof index !== 'number' || !Number.isSafeInteger(index)) throw new Faulty(at, 'must be an index and a count');
    return [index, countOf(count ?? null, at)];
  });
  return {
    count: countOf(member(given, 'count') ?? null, [...path, 'count']),
    zeros: optional(given, 'zeros', path, countOf) ?? 0,
    low: numberOf(member(given, 'low') ?? null, [...path, 'low']),
    high: numberOf(member(given, 'high') ?? null, [...path, 'high']),
    buckets,
  };
}

function list<Item>(value: JsonObject, key: string, most: number, item: (value: JsonValue, path: Path) => Item): readonly Item[] {
  return listAt(value, key, [], most, item);
}

function listAt<Item>(
  value: JsonObject,
  key: string,
  path: Path,
  most: number,
  item: (value: JsonValue, path: Path) => Item,
): readonly Item[] {
  const given = member(value, key) ?? [];
  if (!isJsonArray(given)) throw new Faulty([...path, key], 'must be a list');
  if (given.length > most) throw new Faulty([...path, key], `must have ${most} items at most`);
  return given.map((one, at) => item(one, [...path, key, at]));
}

function optional<Value>(value: JsonObject, key: string, path: Path, read: (value: JsonValue, path: Path) => Value): Value | undefined {
  const given = member(value, key);
  return given === undefined ? undefined : read(given, [...path, key]);
}

function objectOf(value: JsonValue, path: Path): JsonObject {
  if (!isJsonObject(value)) throw new Faulty(path, 'must be an object');
  return value;
}

function textOf(value: JsonValue, path: Path): string {
  if (typeof value !== 'string' || value.length > processLimits.text)
    throw new Faulty(path, `must be a text of ${processLimits.text} characters at most`);
  return value;
}

function countOf(value: JsonValue, path: Path): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Faulty(path, 'must be a whole number from 0');
  return value;
}

function numberOf(value: JsonValue, path: Path): number {
  if (typeof value !== 'number') throw new Faulty(path, 'must be a number');
  return value;
}
