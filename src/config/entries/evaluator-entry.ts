/** Reads entries of `evaluators`. */
import type { EvaluatorEntry } from '../../../evaluators/configuration/configured.ts';
import { snakeMembers } from '../../../evaluators/configuration/options.ts';
import type { AnyEvaluator, RuleEvaluator } from '../../../evaluators/evaluator.ts';
import { listPrices } from '../../../evaluators/pricing/list-prices.ts';
import { priceOf, priceTableSchema } from '../../../evaluators/pricing/prices.ts';
import { linearPattern } from '../checks/check.ts';
import { asObject, listAt, objectAt } from '../diagnostic.ts';
import { ownMembers } from '../schema.ts';
import { defaultsEntry } from '../sections/evaluators.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { KnownEvaluators } from '../../model/did-you-mean.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member, plainText } from '../../model/json.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';
import type { ExpressionNames } from '../../pipeline/evaluation/run-expression.ts';
import { isRunField, runFields } from '../../pipeline/evaluation/run-fields.ts';
import { type Escalation, judgesOf } from '../../pipeline/jury/jury-panel.ts';

/** An entry with its index in the file, the key of its faults and certificates. */
export interface PlacedEntry {
  readonly entry: JsonValue;
  readonly index: number;
}

/** Replaces `defaults` by its evaluators, except those of other entries. */
export function placedEntries(value: JsonObject, members: readonly AnyEvaluator[]): readonly PlacedEntry[] {
  const list = listAt(value, 'evaluators');
  const named = new Set(list.map((entry) => entryName(entryOf(entry))));
  const defaultIds = members.filter(({ id, onByDefault }) => onByDefault && !named.has(id)).map(({ id }) => id);
  const first = list.indexOf(defaultsEntry);
  return list.flatMap((entry, index) =>
    entry === defaultsEntry && index === first ? defaultIds.map((id) => ({ entry: id, index })) : [{ entry, index }],
  );
}

/** The name in its scores. */
export function entryName(written: JsonObject): string {
  const name = member(written, 'name') ?? member(written, 'use');
  return typeof name === 'string' ? name : '';
}

/** The names of all entries in their scores. */
function evaluatorNames(value: JsonObject, members: readonly AnyEvaluator[]): readonly string[] {
  return placedEntries(value, members).flatMap(({ entry }) => {
    const name = entryName(entryOf(entry));
    return name === '' ? [] : [name];
  });
}

/** Gives the long form of an entry; `sample: 0.05` is short for `sample: { rate: 0.05 }`. */
export function entryOf(entry: JsonValue): JsonObject {
  if (typeof entry === 'string') return { use: entry };
  if (!isJsonObject(entry)) return {};
  const rate = member(entry, 'sample');
  return typeof rate === 'number'
    ? ownMembers(Object.entries(entry).map(([key, value]) => [key, key === 'sample' ? { rate } : value]))
    : entry;
}

/** The keys of the evaluator itself. */
export function evaluatorEntry(written: JsonObject): EvaluatorEntry {
  const [use, name] = [member(written, 'use'), member(written, 'name')];
  const rest = (['options', 'expect', 'threshold', 'on_empty', 'include_explanation', 'turns', 'on', 'map'] as const).flatMap((key) => {
    const value = member(written, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  const judge = member(written, 'judge') ?? member(written, 'judges');
  return {
    use: typeof use === 'string' ? use : '',
    ...(typeof name === 'string' ? { name } : {}),
    ...Object.fromEntries(rest),
    ...(judge === undefined ? {} : { judge }),
  };
}

/** The judge or the panel of an entry. */
export function askedBy(written: JsonObject): Pick<PlannedEvaluator, 'judge' | 'panel'> {
  const [judge, several, votes] = [member(written, 'judge'), listAt(written, 'judges'), member(written, 'votes') ?? 1];
  const judges = (several.length === 0 && judge !== undefined ? [judge] : several).filter((name) => typeof name === 'string');
  const escalate = escalation(member(written, 'escalate'));
  const [only] = judges;
  if (only === undefined) return {};
  if (judges.length === 1 && votes === 1 && escalate === undefined) return { judge: only };
  return { panel: { judges, votes: Number(votes), ...(escalate === undefined ? {} : { escalate }) } };
}

/** Names of all judges of an entry. */
export function askable(written: JsonObject): readonly string[] {
  const { judge, panel } = askedBy(written);
  if (panel !== undefined) return judgesOf(panel);
  return judge === undefined ? [] : [judge];
}

/** `map` with the context of the judges of the entry, the least of them: each may be asked every question. */
export function withContext(written: JsonObject, judges: JsonObject): JsonObject {
  const map = member(written, 'map');
  if (map === undefined || (isJsonObject(map) && member(map, 'context_tokens') !== undefined)) return written;
  const known = askable(written).flatMap((name) => {
    const tokens = member(objectAt(judges, name), 'context_tokens');
    return typeof tokens === 'number' ? [tokens] : [];
  });
  if (known.length === 0) return written;
  const whole = ownMembers([...Object.entries(isJsonObject(map) ? map : {}), ['context_tokens', Math.min(...known)]]);
  return ownMembers(Object.entries(written).map(([key, value]) => [key, key === 'map' ? whole : value]));
}

function escalation(written: JsonValue | undefined): Escalation | undefined {
  if (!isJsonObject(written)) return undefined;
  const [to, below] = [member(written, 'to'), member(written, 'below')];
  return { to: String(to), onDisagreement: member(written, 'on_disagreement') !== false, ...(typeof below === 'number' ? { below } : {}) };
}

export type RunCondition = (run: Run) => boolean;

type TextCondition = (text: string) => boolean;

/** Makes the test of a checked `when`. */
export function runCondition(when: JsonObject): RunCondition {
  const tests: RunCondition[] = [];
  for (const [name, condition] of Object.entries(when)) {
    const texts = isRunField(name) ? runFields[name] : undefined;
    if (texts !== undefined) tests.push(anyText(texts, textCondition(condition)));
    else if (isJsonObject(condition))
      for (const [key, value] of Object.entries(condition)) tests.push(anyText(resourceAttribute(key), textCondition(value)));
  }
  return (run) => tests.every((test) => test(run));
}

function anyText(texts: (run: Run) => readonly (string | undefined)[], test: TextCondition): RunCondition {
  return (run) => texts(run).some((text) => text !== undefined && test(text));
}

function resourceAttribute(key: string): (run: Run) => readonly (string | undefined)[] {
  return (run) => {
    const value = member(run.resourceAttributes, key);
    return [value === undefined ? undefined : plainText(value)];
  };
}

function textCondition(condition: JsonValue): TextCondition {
  if (isJsonArray(condition)) return (text) => condition.includes(text);
  if (!isJsonObject(condition)) return (text) => text === condition;
  const tests = Object.entries(condition).map(([name, wanted]) => comparison(name, wanted));
  return (text) => tests.every((test) => test(text));
}

function comparison(name: string, wanted: JsonValue): TextCondition {
  const given = plainText(wanted);
  switch (name) {
    case 'in':
      return (text) => isJsonArray(wanted) && wanted.includes(text);
    case 'contains':
      return (text) => text.includes(given);
    case 'matches':
      return linearPattern(given);
    case 'not':
      return (text) => text !== given;
    default:
      return (text) => text === given;
  }
}

/** A rule that can ask a judge counts as a rule unless its entry names a judge. */
export function isRule(evaluator: AnyEvaluator | undefined, written: JsonObject): evaluator is RuleEvaluator<unknown> {
  return evaluator?.kind === 'rule' && (evaluator.evaluateWithJudge === undefined || askable(written).length === 0);
}

export function knownEvaluators(value: JsonObject, members: readonly AnyEvaluator[]): KnownEvaluators {
  return { on: evaluatorNames(value, members), all: members.map(({ id }) => id) };
}

/** The evaluators that an expression about a scored run may name. */
export function expressionNames(value: JsonObject, members: readonly AnyEvaluator[]): ExpressionNames {
  return {
    evaluators: evaluatorNames(value, members),
    judged: namesOf(value, members, (written) => askable(written).length > 0),
    all: members.map(({ id }) => id),
  };
}

/** The evaluators that an expression of `sample.raise` may name: the sample is drawn before anybody asks a judge. */
export function raiseNames(value: JsonObject, members: readonly AnyEvaluator[]): ExpressionNames {
  const evaluators = namesOf(value, members, (written, evaluator) => isRule(evaluator, written));
  const others = evaluatorNames(value, members).filter((name) => !evaluators.includes(name));
  return {
    evaluators,
    judged: [],
    noun: 'a rule evaluator of this file',
    late: {
      names: others,
      why: 'Name a rule: the sample is drawn before any judge or endpoint gives its verdict. To ask one more judge, write escalate.',
    },
  };
}

function namesOf(
  value: JsonObject,
  members: readonly AnyEvaluator[],
  test: (written: JsonObject, evaluator: AnyEvaluator | undefined) => boolean,
): readonly string[] {
  return placedEntries(value, members).flatMap(({ entry }) => {
    const written = entryOf(entry);
    const use = member(written, 'use');
    const evaluator = members.find(({ id }) => id === use);
    return test(written, evaluator) ? [entryName(written)] : [];
  });
}

/** Adds list prices of vendors. A configured price for the same model overrides them, also under a shorter name or one with `*`. */
export function withListPrices(value: JsonObject): JsonObject {
  const own = objectAt(value, 'prices');
  const named = ownPrices(own);
  const listed = Object.entries(snakeMembers(priceTableSchema, listPrices as unknown as JsonObject) as JsonObject).filter(
    ([model]) => priceOf(model, named) === undefined,
  );
  return ownMembers([
    ...Object.entries(value).filter(([key]) => key !== 'prices'),
    ['prices', ownMembers([...Object.entries(own), ...listed])],
  ]);
}

/** Restores the configured prices for `config print`. */
export function withOwnPrices(value: JsonObject, own: JsonObject): JsonObject {
  return ownMembers(Object.entries(value).map(([key, below]) => [key, key === 'prices' ? objectAt(own, key) : below]));
}

/** The prices do not matter here. */
function ownPrices(own: JsonObject): { readonly [model: string]: { readonly inputPerMillion: number; readonly outputPerMillion: number } } {
  return Object.fromEntries(Object.keys(own).map((model) => [model, { inputPerMillion: 0, outputPerMillion: 0 }]));
}

/** Missing keys of a judge's `price`. */
export function missingPrices(judge: JsonObject): readonly string[] {
  return ['input_per_million', 'output_per_million'].filter((key) => member(objectAt(judge, 'price'), key) === undefined);
}

/** The sections with options of evaluators: `x-from` in an evaluator's schema names the section of an option. */
export function sharedSections(members: readonly AnyEvaluator[], value: JsonObject): JsonObject {
  const names = new Set(members.flatMap((evaluator) => takenOptions(evaluator).map(({ section }) => section)));
  return ownMembers(Object.entries(value).filter(([key]) => names.has(key)));
}

/** Replaces `defaults`, and fills in options of shared sections. */
export function withSharedOptions(value: JsonObject, members: readonly AnyEvaluator[]): JsonObject {
  const shared = sharedSections(members, value);
  const entries = placedEntries(value, members).map(({ entry }) => withShared(entry, members, shared));
  return ownMembers(Object.entries(value).map(([key, below]) => [key, key === 'evaluators' ? entries : below]));
}

/** Fills in options of shared sections. */
export function withShared(entry: JsonValue, members: readonly AnyEvaluator[], shared: JsonObject): JsonObject {
  const written = entryOf(entry);
  const evaluator = members.find(({ id }) => id === member(written, 'use'));
  const options = objectAt(written, 'options');
  const missing =
    evaluator === undefined
      ? []
      : takenOptions(evaluator).filter(({ option, section }) => !Object.hasOwn(options, option) && member(shared, section) !== undefined);
  if (missing.length === 0) return written;
  const filled = ownMembers([
    ...Object.entries(options),
    ...missing.map(({ option, section }) => [option, shared[section] ?? null] as const),
  ]);
  return ownMembers([...Object.entries(written).filter(([key]) => key !== 'options'), ['options', filled]]);
}

function takenOptions({ optionsSchema }: AnyEvaluator): readonly { readonly option: string; readonly section: string }[] {
  return Object.entries(asObject(member(optionsSchema, 'properties'))).flatMap(([option, schema]) => {
    const section = isJsonObject(schema) ? member(schema, 'x-from') : undefined;
    return typeof section === 'string' ? [{ option, section }] : [];
  });
}
