/** The evaluator that a module exports, or everything that is wrong with it. */
import { expectedParts } from '../../../evaluators/expectation/expectation.ts';
import type { AnyEvaluator, Need } from '../../../evaluators/evaluator.ts';
import { isJsonObject } from '../../model/json.ts';
import { checker } from '../checks/check.ts';
import { configSchema } from '../schema.ts';

export type ModuleEvaluator =
  | { readonly kind: 'found'; readonly evaluator: AnyEvaluator }
  | { readonly kind: 'faulty'; readonly problem: string; readonly todo: string };

/** A module's exports by name, as `import` gives them. */
export type ModuleExports = { readonly [name: string]: unknown };

const idLengthMax = 100;
/** Enough to see the kind of thing that was found. */
const namesShown = 10;
const needs: { readonly [need in Need]: true } = {
  tool_calls: true,
  tool_definitions: true,
  tool_results: true,
  input: true,
  final_response: true,
  expected_tool_calls: true,
  expected_tool_outputs: true,
  expected_tool_counts: true,
  expected_tool_order: true,
  expected_messages: true,
  expected_output: true,
  expected_context: true,
  search_text: true,
  documents: true,
  tokens: true,
  times: true,
  tasks: true,
};

/** `table` holds the evaluators that it must not be confused with. An error that its members throw when they are read is a fault of the module. */
export function moduleEvaluator(exports: ModuleExports, table: readonly AnyEvaluator[]): ModuleEvaluator {
  try {
    const named = Object.entries(exports).filter(([name, value]) => name !== 'default' && resemblesEvaluator(value));
    const [only, second] = named;
    if (only === undefined) return absent(exports);
    if (second !== undefined)
      return faulty(
        `exports several evaluators: ${named
          .slice(0, namesShown)
          .map(([name]) => name)
          .join(', ')}`,
        'Keep one evaluator in a file.',
      );
    const candidate = only[1] as ModuleExports;
    const problems = [...dataProblems(candidate, table), ...functionProblems(candidate)];
    const all = problems.length > 0 ? problems : schemaProblems(candidate, table);
    return all.length === 0
      ? { kind: 'found', evaluator: candidate as unknown as AnyEvaluator }
      : faulty(`exports ${only[0]}, which is no evaluator: ${all.join('; ')}`, contractTodo);
  } catch (error) {
    return faulty(`exports something that cannot be looked at: ${error instanceof Error ? error.name : 'an error'}`, contractTodo);
  }
}

const contractTodo = 'See docs/guides/custom-evaluators.md.';

function faulty(problem: string, todo: string): ModuleEvaluator {
  return { kind: 'faulty', problem, todo };
}

function absent(exports: ModuleExports): ModuleEvaluator {
  if (resemblesEvaluator(exports['default']))
    return faulty('exports its evaluator as default', 'Export it by a name: export const myEvaluator = { … }.');
  const names = Object.keys(exports).slice(0, namesShown).join(', ');
  return faulty(
    `exports no evaluator${names === '' ? '' : `, only ${names}`}`,
    'Export one object with kind, id and evaluate: see docs/guides/custom-evaluators.md.',
  );
}

function resemblesEvaluator(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && 'id' in value && 'evaluate' in value;
}

function dataProblems(candidate: ModuleExports, table: readonly AnyEvaluator[]): readonly string[] {
  const { id, kind, target, version, summary, source, onByDefault, defaultThreshold, defaults, optionsSchema, expectationSchema } =
    candidate;
  const isId = typeof id === 'string' && /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(id) && id.length <= idLengthMax;
  const isThreshold = defaultThreshold === null || (typeof defaultThreshold === 'number' && defaultThreshold >= 0 && defaultThreshold <= 1);
  return [
    ...(kind === 'rule' || kind === 'judge' ? [] : ['kind must be rule or judge']),
    ...(target === undefined || (target === 'session' && kind === 'judge') ? [] : ['target may be session, of a judge, or is left out']),
    ...(isId ? [] : ['id must be written in snake_case']),
    ...(isId && others(table, candidate).some((member) => member.id === id) ? [`another evaluator has the id ${id} already`] : []),
    ...(typeof version === 'number' && Number.isSafeInteger(version) && version > 0 ? [] : ['version must be a whole number from 1']),
    ...['summary', 'source'].flatMap((key) =>
      typeof { summary, source }[key as 'summary' | 'source'] === 'string' ? [] : [`${key} must be a text`],
    ),
    ...(typeof onByDefault === 'boolean' ? [] : ['onByDefault must be true or false']),
    ...(isThreshold ? [] : ['defaultThreshold must be a number from 0 to 1, or null']),
    ...needProblems(candidate['needs']),
    ...(isJsonObject(defaults) && isJson(defaults) ? [] : ['defaults must be an object of JSON values']),
    ...(isJsonObject(optionsSchema) && isJson(optionsSchema) ? [] : ['optionsSchema must be a JSON Schema']),
    ...switchProblems(candidate['switchedOnBy']),
    ...(expectationSchema === undefined || (isJsonObject(expectationSchema) && isJson(expectationSchema))
      ? []
      : ['expectationSchema must be a JSON Schema']),
  ];
}

function switchProblems(given: unknown): readonly string[] {
  if (given === undefined) return [];
  const known: readonly string[] = expectedParts;
  if (
    isJsonObject(given) &&
    Object.entries(given).every(([part, options]) => known.includes(part) && isJsonObject(options) && isJson(options))
  )
    return [];
  return [`switchedOnBy must give options by the names ${known.join(', ')}`];
}

function needProblems(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return ['needs must be a list'];
  const unknown = given.some((need) => typeof need !== 'string' || !Object.hasOwn(needs, need));
  return unknown ? [`needs may name ${Object.keys(needs).join(', ')}`] : [];
}

function functionProblems({ kind, evaluate, evaluateWithJudge, checks }: ModuleExports): readonly string[] {
  const isGenerator = kindOfFunction(evaluate) === 'GeneratorFunction';
  const wrongEvaluate = kind === 'judge' ? !isGenerator : kindOfFunction(evaluate) !== 'Function';
  return [
    ...(wrongEvaluate
      ? [
          kind === 'judge'
            ? 'evaluate of a judge must be a generator function (function*)'
            : 'evaluate of a rule must be a plain function, not async',
        ]
      : []),
    ...(checks === undefined || kindOfFunction(checks) === 'Function' ? [] : ['checks must be a plain function']),
    ...(evaluateWithJudge === undefined || kindOfFunction(evaluateWithJudge) === 'GeneratorFunction'
      ? []
      : ['evaluateWithJudge must be a generator function (function*)']),
  ];
}

function kindOfFunction(value: unknown): string | undefined {
  return typeof value === 'function' ? Object.prototype.toString.call(value).slice('[object '.length, -1) : undefined;
}

/** One module may be reached by two paths. */
function others(table: readonly AnyEvaluator[], candidate: unknown): readonly AnyEvaluator[] {
  return table.filter((member) => member !== candidate);
}

/** They become parts of the configuration's own schema, so that is where they must compile. */
function schemaProblems(candidate: ModuleExports, table: readonly AnyEvaluator[]): readonly string[] {
  const { optionsSchema, expectationSchema } = candidate;
  if (JSON.stringify([optionsSchema, expectationSchema]).includes('"$id"')) return ['its schemas must not carry $id'];
  try {
    checker(configSchema([...others(table, candidate), candidate as unknown as AnyEvaluator]), () => true);
    return [];
  } catch (error) {
    return [`its schemas do not compile: ${error instanceof Error ? error.message.slice(0, 200) : 'an error'}`];
  }
}

/** Whether it is the same after it was written and read: no functions, dates, cycles. */
function isJson(value: unknown): boolean {
  try {
    const text = JSON.stringify(value);
    return text !== undefined && sameShape(JSON.parse(text), value);
  } catch {
    return false;
  }
}

function sameShape(read: unknown, given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return read === given;
  if (typeof read !== 'object' || read === null || Array.isArray(read) !== Array.isArray(given)) return false;
  const [left, right] = [Object.entries(read), Object.entries(given)];
  return (
    left.length === right.length &&
    left.every(([key, value]) => Object.hasOwn(given, key) && sameShape(value, (given as ModuleExports)[key]))
  );
}
