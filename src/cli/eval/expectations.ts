/** Matches expectations with evaluators: switches on those that check them, and reports unchecked expectations. */
import type { ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { coverageOf, partsWithoutScore } from '../../../evaluators/configuration/coverage.ts';
import type { AnyEvaluator, ExpectedPart, Fault } from '../../../evaluators/evaluator.ts';
import { expectationNames, readExpectation, refinedPart } from '../../../evaluators/expectation/expectation.ts';
import type { Coverage, EvalItem, EvalResult, FileExample, MatchedItem } from './scoring.ts';
import { InputFaults } from '../input-faults.ts';
import { type ConfigFault, pathText } from '../../config/diagnostic.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import type { Expectation } from '../../model/expectation.ts';
import { isJsonArray, isJsonObject, type JsonValue, member } from '../../model/json.ts';
import { expectedOf, type PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';

export interface SwitchedOnEvaluator {
  readonly name: string;
  readonly evaluator: string;
  readonly parts: readonly ExpectedPart[];
  /** `undefined` for an evaluator without a judge. */
  readonly judge: string | undefined;
}

interface CoveredItems {
  /** The plan of each run includes the evaluators that its expectation switches on. */
  readonly items: readonly (MatchedItem & { readonly plan: readonly PlannedEvaluator[] })[];
  readonly switchedOn: readonly SwitchedOnEvaluator[];
  /** Expectations that no evaluator checks, each once. */
  readonly unchecked: readonly ConfigFault[];
  readonly warnings: readonly string[];
}

interface CoverageSettings {
  readonly plan: readonly PlannedEvaluator[];
  readonly members: readonly AnyEvaluator[];
  /** Names of the configured judges; evaluators that an expectation switches on ask the first one. */
  readonly judges: readonly string[];
}

export interface CoverageReader {
  ofItem(item: MatchedItem): Coverage;
  /** An example without a run counts as well: no evaluator checks its expectation either. */
  ofExample(example: FileExample): Coverage;
}

export function coverageReader({ plan, members, judges: [judge] }: CoverageSettings): CoverageReader {
  const made = new Map<string, ConfiguredEvaluator>();
  const read = (
    expected: Expectation,
    base: readonly PlannedEvaluator[],
    looking: readonly PlannedEvaluator[],
    place: (part: ExpectedPart) => Omit<ConfigFault, 'problem' | 'todo'>,
  ): Coverage => {
    const { switchedOn, unchecked, notCompared, undecided } = coverageOf(
      expected,
      looking.map(({ configured }) => configured),
      { table: members, canAsk: judge !== undefined, made },
    );
    const judgeOf = ({ kind }: ConfiguredEvaluator): string | undefined => (kind === 'judge' ? judge : undefined);
    const added = switchedOn.map(({ configured }): PlannedEvaluator => {
      const asked = judgeOf(configured);
      return { configured, ...(asked === undefined ? {} : { judge: asked }), sampleRate: 1 };
    });
    return {
      plan: added.length === 0 ? base : [...base, ...added],
      switchedOn: switchedOn.map(({ part, configured }) => ({
        name: configured.name,
        evaluator: configured.evaluator.id,
        judge: judgeOf(configured),
        part,
      })),
      unchecked: unchecked.map(({ part, use }) => ({
        ...place(part),
        problem: 'has no evaluator that checks it',
        todo: `Add ${use.join(' or ')} to evaluators and a judge to judges, or leave the expectation out.`,
      })),
      notCompared,
      undecided,
    };
  };
  return {
    ofItem(item) {
      const base = item.example?.plan ?? plan;
      if (item.run.partOf !== undefined) return { plan: base, switchedOn: [], unchecked: [], notCompared: [], undecided: [] };
      return read(
        expectedOf(item.run),
        base,
        base.filter(({ when }) => when?.(item.run) !== false),
        (part) => placeOf(item, part),
      );
    },
    ofExample(example) {
      const base = example.plan ?? plan;
      return read(example.expect === undefined ? {} : readExpectation(example.expect).expectation, base, base, example.placeOf);
    },
  };
}

/** `items`: those without a coverage get theirs. */
export function covered(
  items: readonly MatchedItem[],
  examplesWithoutRun: readonly FileExample[],
  settings: CoverageSettings,
  reader: CoverageReader = coverageReader(settings),
): CoveredItems {
  const on = new Map<string, { readonly evaluator: string; readonly parts: Set<ExpectedPart>; readonly judge: string | undefined }>();
  const unchecked = new Map<string, ConfigFault>();
  const notCompared = new Map<ExpectedPart, number>();
  const undecided = new Map<ExpectedPart, number>();
  const count = (found: Coverage): void => {
    for (const fault of found.unchecked) unchecked.set(`${fault.file}\n${fault.key}`, fault);
    for (const part of found.notCompared) notCompared.set(part, (notCompared.get(part) ?? 0) + 1);
    for (const part of found.undecided) undecided.set(part, (undecided.get(part) ?? 0) + 1);
    for (const { name, evaluator, judge, part } of found.switchedOn) {
      const known = on.get(name) ?? { evaluator, parts: new Set(), judge };
      on.set(name, known);
      known.parts.add(part);
    }
  };
  const planned = items.map((item) => {
    const coverage = item.coverage ?? reader.ofItem(item);
    count(coverage);
    return { ...item, plan: coverage.plan };
  });
  for (const example of examplesWithoutRun) count(reader.ofExample(example));
  return {
    items: planned,
    switchedOn: [...on].map(([name, { parts, ...rest }]) => ({ name, ...rest, parts: [...parts] })),
    unchecked: [...unchecked.values()],
    warnings: [
      ...[...notCompared].map(
        ([part, runs]) =>
          `No evaluator compares ${wordOf[part] ?? part} of ${runs} ${runs === 1 ? 'run' : 'runs'}: the configured ones only compare the calls.`,
      ),
      ...[...undecided].map(
        ([part, runs]) =>
          `expect.${part} of ${runs} ${runs === 1 ? 'run' : 'runs'} is measured and decides nothing: its evaluators have no threshold.`,
      ),
    ],
  };
}

const wordOf: { readonly [part in ExpectedPart]?: string } = {
  'tool_calls.arguments': 'the expected arguments of tool calls',
  'tool_calls.result': 'the expected results of tool calls',
};

function placeOf(item: MatchedItem, part: ExpectedPart): Omit<ConfigFault, 'problem' | 'todo'> {
  const stated = item.example?.expect;
  const name = refinedPart(part) ?? part;
  if (item.example !== undefined && stated !== undefined && Object.hasOwn(stated, name)) return item.example.placeOf(part);
  return ownPlace(item, [name], 'value');
}

/** The place of an expectation in the file of its run. */
function ownPlace(
  { origin, label }: EvalItem,
  path: readonly (string | number)[],
  at: 'key' | 'value',
): Omit<ConfigFault, 'problem' | 'todo'> {
  return (
    origin?.(path, at) ?? {
      file: `run ${label}`,
      line: 0,
      column: 0,
      source: '',
      key: pathText(['tracejury.expected', ...path]).replace('["tracejury.expected"]', 'tracejury.expected'),
    }
  );
}

/** Throws InputFaults for unreadable expectations in runs: no evaluator would check them. */
export function refuseFaultyExpectations(items: readonly EvalItem[]): void {
  const faults = items.flatMap((item) => item.faults ?? expectationFaults(item));
  if (faults.length > 0)
    throw new InputFaults(
      faults[0]?.file ?? '',
      faults.slice(0, faultsMax),
      faults.map(({ key, problem }) => `${key} ${problem}`),
    );
}

const faultsMax = 200;

export function expectationFaults(item: EvalItem): readonly ConfigFault[] {
  const { expected } = item.run;
  return expected === undefined ? [] : readExpectation(expected).faults.map((fault) => located(item, fault, expected));
}

function located(item: EvalItem, fault: ReturnType<typeof readExpectation>['faults'][number], expected: JsonValue): ConfigFault {
  const { at, problem, todo } = wordedFault(fault, expected);
  return { ...ownPlace(item, fault.path, at), problem, todo };
}

/** An expectation without a score of any evaluator that checks it. */
export interface Unverified {
  readonly label: string;
  readonly part: ExpectedPart;
  /** Its evaluators, and why they gave no score. */
  readonly why: readonly { readonly name: string; readonly reason: string }[];
}

export function unverified(results: readonly EvalResult[]): readonly Unverified[] {
  return results.flatMap(({ item, verdicts }) => {
    const planned = new Map((item.plan ?? []).map(({ configured }) => [configured.name, configured]));
    const given = verdicts.flatMap(({ name, verdict }) => {
      const configured = planned.get(name);
      return configured === undefined ? [] : [{ configured, verdict }];
    });
    return partsWithoutScore(expectedOf(item.run), given).map(({ part, checking }) => ({
      label: item.label,
      part,
      why: checking.map(({ configured: { name }, verdict }) => ({
        name,
        reason: verdict.kind === 'skipped' ? verdict.reason : verdict.kind === 'failed' ? verdict.error : '',
      })),
    }));
  });
}

interface WordedFault extends Pick<ConfigFault, 'problem' | 'todo'> {
  readonly at: 'key' | 'value';
}

/** Names at the end of a fault's problem. */
const listed = /^(is not known|names no evaluator|must be one of|must name a judge of the configuration)(?:; (?:known|there) are)? (.+)$/;

const forms: { readonly [problem: string]: string } = {
  'must be array': 'Write a list: [ … ].',
  'must be a list': 'Write a list: [ … ].',
  'must be object': 'Write an object: { … }.',
  'must be an object': 'Write an object: { … }.',
  'must be string': 'Write a text in quotes.',
  'is missing': 'Add it.',
};

/** Writes a fault of a dataset or an expectation as problem and remedy. The path of the fault begins at `value`. */
export function wordedFault({ path, problem }: Fault, value: JsonValue): WordedFault {
  const [, head = '', names = ''] = listed.exec(problem) ?? [];
  if (head === '') return { at: 'value', problem, todo: forms[problem] ?? 'docs/guides/ci.md shows the form of a dataset.' };
  const known = names.split(', ');
  const key = String(path.at(-1) ?? '');
  const isKey = head === 'is not known';
  const written = isKey ? key : valueAt(value, path);
  const guess = typeof written === 'string' ? didYouMean(written, known) : undefined;
  const elsewhere = isKey && path.length === 1 && guess === undefined ? didYouMean(key, expectationNames) : undefined;
  const todo =
    guess !== undefined
      ? `Did you mean ${guess}?`
      : elsewhere !== undefined
        ? `Did you mean ${elsewhere} under expect?`
        : `${isKey ? 'Known are' : 'There are'} ${names}.`;
  const quoted = typeof written === 'string' && !isKey ? `${JSON.stringify(written.slice(0, 60))} ` : '';
  return {
    at: isKey ? 'key' : 'value',
    problem: head === 'must be one of' ? `${quoted}is not an allowed value` : `${quoted}${head}`,
    todo,
  };
}

function valueAt(value: JsonValue, path: Fault['path']): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const part of path) at = isJsonArray(at) && typeof part === 'number' ? at[part] : isJsonObject(at) ? member(at, String(part)) : at;
  return at;
}
