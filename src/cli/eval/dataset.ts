/** A dataset: YAML, JSON or JSON lines; a list of examples, or an object with one. All faults come at once. */
import { readFileSync, statSync } from 'node:fs';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { AnyEvaluator, Fault } from '../../../evaluators/evaluator.ts';
import { readExpectation, refinedPart } from '../../../evaluators/expectation/expectation.ts';
import { schemaFaults } from '../../../evaluators/configuration/options.ts';
import type { EvaluatorConfig } from '../../config/config.ts';
import { juryFindings, unknownJudges } from '../../config/checks/cross-checks-juries.ts';
import { askedBy, evaluatorEntry } from '../../config/entries/evaluator-entry.ts';
import { whoIsAskedSchema } from '../../config/sections/evaluators.ts';
import { withShared } from '../../config/entries/shared-options.ts';
import { JuryError } from '../../model/errors.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';
import { pathText, type ConfigFault } from '../../config/diagnostic.ts';
import { InputFaults } from '../input-faults.ts';
import { unreadable } from '../inspect/bodies.ts';
import { datasetText, type Locate } from './dataset-text.ts';
import { wordedFault } from './fault-wording.ts';
import type { DatasetExample } from './item.ts';

const fileBytesMax = 64 * 1024 * 1024;
const examplesMax = 100_000;
/** More faults than a person mends in one go. */
const faultsMax = 200;

const text = { type: 'string', minLength: 1 } as const;
const exampleSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    id: { type: ['string', 'number'] },
    input: {},
    expect: { type: 'object' },
    tasks: { type: 'array', items: text },
    constraints: text,
    tools: { type: 'array' },
    tags: { type: 'array', items: text },
    evaluators: { type: 'array', minItems: 1, maxItems: 500, items: { type: ['string', 'object'] } },
    metadata: {},
  },
} as const;

export interface DatasetWith {
  readonly members: readonly AnyEvaluator[];
  /** Sections of the configuration that evaluators take options from. */
  readonly shared?: JsonObject;
  /** The configured evaluators, which an example may name. */
  readonly plan: readonly EvaluatorConfig[];
  /** Names of judges that an entry may name. */
  readonly judges: readonly string[];
}

/** Throws INPUT_UNREADABLE with every fault at its line and column. */
export function readDataset(file: string, options: DatasetWith): readonly DatasetExample[] {
  const { value, locate } = datasetText(file, textOf(file));
  return datasetOf(file, value, options, locate);
}

/** Without `locate` faults have their keys for a place. */
export function datasetOf(file: string, value: JsonValue, options: DatasetWith, locate?: Locate): readonly DatasetExample[] {
  const list = isJsonObject(value) ? member(value, 'examples') : value;
  if (!isJsonArray(list)) throw unreadable(file, 'it is neither a list of examples nor an object with `examples`.');
  if (list.length > examplesMax) throw unreadable(file, `more than ${examplesMax} examples.`);
  const inList = isJsonObject(value) ? ['examples'] : [];
  const read = list.map((given, at) => exampleOf(given, at, options));
  const firstWith = new Map<string, number>();
  const found = read.flatMap(({ example: { id }, faults }, at) => {
    const first = firstWith.get(id);
    if (first === undefined) firstWith.set(id, at);
    return [
      ...faults,
      ...(first === undefined
        ? []
        : [{ path: ['id'], problem: `${JSON.stringify(id)} is the id of examples[${first}] already`, twice: id }]),
    ].map((fault) => ({ ...fault, at }));
  });
  if (found.length > 0) {
    const faults =
      locate === undefined
        ? []
        : found
            .slice(0, faultsMax)
            .map(({ path, problem, at }): ConfigFault => {
              const worded = wordedFault({ path, problem }, list[at] ?? null);
              return {
                file,
                ...locate([...inList, at, ...path], worded.at),
                key: pathText(['examples', at, ...path]),
                problem: worded.problem,
                todo: problem.endsWith('already') ? 'Give each example an id of its own.' : worded.todo,
              };
            })
            .toSorted((a, b) => a.line - b.line || a.column - b.column);
    throw new InputFaults(
      file,
      faults,
      found.map((fault) =>
        'twice' in fault
          ? `two examples have the id ${JSON.stringify(fault.twice)}`
          : `${pathText(['examples', fault.at, ...fault.path])} ${fault.problem}`,
      ),
    );
  }
  return read.map(({ example }, at) => ({
    ...example,
    placeOf(part) {
      const path = ['examples', at, ...statedAt(list[at] ?? null, refinedPart(part) ?? part)];
      return { file, key: pathText(path), ...(locate?.([...inList, ...path.slice(1)]) ?? { line: 0, column: 0, source: '' }) };
    },
  }));
}

/** Tasks and constraints may stand beside `expect`. */
function statedAt(example: JsonValue, name: string): readonly string[] {
  return isJsonObject(example) && ['tasks', 'constraints'].includes(name) && member(example, name) !== undefined
    ? [name]
    : ['expect', name];
}

function exampleOf(
  given: JsonValue,
  at: number,
  options: DatasetWith,
): { readonly example: Omit<DatasetExample, 'placeOf'>; readonly faults: readonly Fault[] } {
  const object = isJsonObject(given) ? given : {};
  const [id, input, expect, tasks, constraints, tools, tags, entries] = [
    'id',
    'input',
    'expect',
    'tasks',
    'constraints',
    'tools',
    'tags',
    'evaluators',
  ].map((key) => member(object, key));
  const whole = {
    ...(isJsonObject(expect) ? expect : {}),
    ...(tasks === undefined ? {} : { tasks }),
    ...(constraints === undefined ? {} : { constraints }),
  };
  const plan = isJsonArray(entries) ? entries.map((entry) => planned(entry, options)) : undefined;
  const faults: readonly Fault[] = [
    ...schemaFaults(exampleSchema, given),
    ...(isJsonObject(expect) ? readExpectation(expect).faults.map(({ path, problem }) => ({ path: ['expect', ...path], problem })) : []),
    ...(plan ?? []).flatMap(({ faults: own }, nth) => own.map(({ path, problem }) => ({ path: ['evaluators', nth, ...path], problem }))),
  ];
  const example = {
    id: id === undefined || typeof id === 'object' ? String(at + 1) : String(id),
    input: inputText(input),
    expect: Object.keys(whole).length === 0 ? undefined : whole,
    tools,
    tags: isJsonArray(tags) ? tags.map(String) : [],
    plan: plan?.flatMap(({ evaluator }) => evaluator ?? []),
  };
  return { example, faults };
}

/** What the agent was asked: a text, or an object that holds it as its only text. */
function inputText(input: JsonValue | undefined): string | undefined {
  if (typeof input === 'string') return input;
  const texts = isJsonObject(input) ? Object.values(input).filter((value) => typeof value === 'string') : [];
  return texts.length === 1 ? texts[0] : undefined;
}

/** An entry as in the configuration; the name of a configured evaluator stands for that one. */
function planned(
  entry: JsonValue,
  { members, plan, judges, shared = {} }: DatasetWith,
): { readonly evaluator?: PlannedEvaluator; readonly faults: readonly Fault[] } {
  const known = typeof entry === 'string' ? plan.find(({ configured }) => configured.name === entry) : undefined;
  if (known !== undefined) return { evaluator: known, faults: [] };
  const written: JsonObject = typeof entry === 'string' ? { use: entry } : isJsonObject(entry) ? entry : {};
  const made = configuredEvaluator(evaluatorEntry(withShared(written, members, shared)), members);
  if (made.kind === 'faulty') return { faults: made.faults };
  if (made.evaluator.kind !== 'judge') return { evaluator: { configured: made.evaluator, sampleRate: 1 }, faults: [] };
  const faults = whoIsAskedFaults(written, judges);
  return faults.length > 0 ? { faults } : { evaluator: { configured: made.evaluator, ...askedBy(written), sampleRate: 1 }, faults: [] };
}

/** Who is asked must be there, and be known by the configuration. */
function whoIsAskedFaults(written: JsonObject, judges: readonly string[]): readonly Fault[] {
  const asked = Object.fromEntries(Object.entries(written).filter(([key]) => Object.hasOwn(whoIsAskedSchema, key)));
  const faults = schemaFaults({ type: 'object', properties: whoIsAskedSchema }, asked);
  if (faults.length > 0) return faults;
  const unknown =
    askedBy(asked).judge === undefined && askedBy(asked).panel === undefined
      ? [['judge']]
      : unknownJudges([], asked, judges).map(({ path }) => path);
  return [
    ...unknown.map((path) => ({
      path,
      problem: `must name a judge of the configuration; there are ${judges.length === 0 ? 'none' : judges.join(', ')}`,
    })),
    ...juryFindings([], asked).map(({ path, problem, todo }) => ({ path, problem: `${problem}. ${todo}` })),
  ];
}

function textOf(file: string): string {
  try {
    if (statSync(file).size > fileBytesMax) throw unreadable(file, `larger than ${fileBytesMax} bytes.`);
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof JuryError) throw error;
    throw unreadable(
      file,
      error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'there is no such file.' : 'it cannot be read.',
    );
  }
}
