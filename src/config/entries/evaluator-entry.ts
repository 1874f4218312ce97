/** Reads entries of `evaluators`. */
import type { EvaluatorEntry } from '../../../evaluators/configuration/configured.ts';
import { snakeMembers } from '../../../evaluators/configuration/options.ts';
import type { AnyEvaluator, RuleEvaluator } from '../../../evaluators/evaluator.ts';
import { listPrices } from '../../../evaluators/pricing/list-prices.ts';
import { priceOf, priceTableSchema } from '../../../evaluators/pricing/prices.ts';
import { linearPattern } from '../checks/check.ts';
import { asObject, listAt, objectAt, ownMembers, withMember } from '../diagnostic.ts';
import type { Draft } from '../field.ts';
import { defaultsEntry, readEntry, type WrittenEvaluator } from '../sections/evaluators.ts';
import type { Written } from '../sections/index.ts';
import type { WrittenJudge } from '../sections/judges.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { KnownEvaluators } from '../../model/did-you-mean.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member, plainText } from '../../model/json.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';
import type { ExpressionNames } from '../../pipeline/evaluation/run-expression.ts';
import { isRunField, runFields } from '../../pipeline/evaluation/run-fields.ts';
import { type Escalation, judgesOf } from '../../pipeline/jury/jury-panel.ts';

/** An entry of the list. */
export interface PlacedEntry {
  /** The entry of the file in its long form. */
  readonly raw: JsonObject;
  readonly written: Draft<WrittenEvaluator>;
  /** The index in the file: the key of its faults and certificates. */
  readonly index: number;
  /** The name in its scores. */
  readonly name: string;
  readonly evaluator: AnyEvaluator | undefined;
}

/** Replaces `defaults` by its evaluators, except those of other entries. */
export function placedEntries(value: JsonObject, members: readonly AnyEvaluator[]): readonly PlacedEntry[] {
  const list = listAt(value, 'evaluators');
  const named = new Set(list.map((entry) => nameOf(readEntry(entry))));
  const defaultIds = members.filter(({ id, onByDefault }) => onByDefault && !named.has(id)).map(({ id }) => id);
  const first = list.indexOf(defaultsEntry);
  return list.flatMap((entry, index) =>
    (entry === defaultsEntry && index === first ? defaultIds : [entry]).map((one) => {
      const written: Draft<WrittenEvaluator> = readEntry(one);
      return { raw: entryOf(one), written, index, name: nameOf(written), evaluator: members.find(({ id }) => id === written.use) };
    }),
  );
}

function nameOf({ name, use }: Draft<WrittenEvaluator>): string {
  return name ?? use ?? '';
}

function names(entries: readonly PlacedEntry[]): readonly string[] {
  return entries.map(({ name }) => name).filter((name) => name !== '');
}

/** Gives the long form of an entry; `sample: 0.05` is short for `sample: { rate: 0.05 }`. */
export function entryOf(entry: JsonValue): JsonObject {
  if (typeof entry === 'string') return { use: entry };
  const rate = member(asObject(entry), 'sample');
  return typeof rate === 'number' ? withMember(asObject(entry), 'sample', { rate }) : asObject(entry);
}

const ownKeys = ['name', 'options', 'expect', 'threshold', 'on_empty', 'include_explanation', 'turns', 'on', 'map'] as const;

/** The keys of the evaluator itself. */
export function evaluatorEntry(written: JsonObject): EvaluatorEntry {
  const entry: Draft<WrittenEvaluator> = readEntry(written);
  const given = ownKeys.flatMap((key) => (member(written, key) === undefined ? [] : [[key, member(written, key)] as const]));
  const judge = member(written, 'judge') ?? member(written, 'judges');
  return { use: entry.use ?? '', ...Object.fromEntries(given), ...(judge === undefined ? {} : { judge }) };
}

/** The judge or the panel of an entry. */
export function askedBy({ judge, judges = [], votes = 1, escalate }: Draft<WrittenEvaluator>): Pick<PlannedEvaluator, 'judge' | 'panel'> {
  const named = (judges.length === 0 ? [judge] : judges).filter((name) => name !== undefined);
  const [only] = named;
  if (only === undefined) return {};
  if (named.length === 1 && votes === 1 && escalate === undefined) return { judge: only };
  return { panel: { judges: named, votes, ...(escalate === undefined ? {} : { escalate: escalate as Escalation }) } };
}

/** Names of all judges of an entry. */
export function askable(written: Draft<WrittenEvaluator>): readonly string[] {
  const { judge, panel } = askedBy(written);
  if (panel !== undefined) return judgesOf(panel);
  return judge === undefined ? [] : [judge];
}

/** `map` with the context of the judges of the entry, the least of them: each may be asked every question. */
export function withContext(entry: JsonObject, judges: Written['judges']): JsonObject {
  const map = member(entry, 'map');
  if (map === undefined || member(asObject(map), 'context_tokens') !== undefined) return entry;
  const known = askable(readEntry(entry)).flatMap((name) => judges[name]?.contextTokens ?? []);
  return known.length === 0 ? entry : withMember(entry, 'map', { ...asObject(map), context_tokens: Math.min(...known) });
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
export function isRule(evaluator: AnyEvaluator | undefined, written: Draft<WrittenEvaluator>): evaluator is RuleEvaluator<unknown> {
  return evaluator?.kind === 'rule' && (evaluator.evaluateWithJudge === undefined || askable(written).length === 0);
}

export function knownEvaluators(entries: readonly PlacedEntry[], members: readonly AnyEvaluator[]): KnownEvaluators {
  return { on: names(entries), all: members.map(({ id }) => id) };
}

/** The evaluators that an expression about a scored run may name. */
export function expressionNames(entries: readonly PlacedEntry[], members: readonly AnyEvaluator[]): ExpressionNames {
  return {
    evaluators: names(entries),
    judged: entries.filter(({ written }) => askable(written).length > 0).map(({ name }) => name),
    all: members.map(({ id }) => id),
  };
}

/** The evaluators that an expression of `sample.raise` may name: the sample is drawn before anybody asks a judge. */
export function raiseNames(entries: readonly PlacedEntry[]): ExpressionNames {
  const evaluators = entries.filter(({ evaluator, written }) => isRule(evaluator, written)).map(({ name }) => name);
  return {
    evaluators,
    judged: [],
    noun: 'a rule evaluator of this file',
    late: {
      names: names(entries).filter((name) => !evaluators.includes(name)),
      why: 'Name a rule: the sample is drawn before any judge or endpoint gives its verdict. To ask one more judge, write escalate.',
    },
  };
}

/** Adds list prices of vendors. A configured price for the same model overrides them, also under a shorter name or one with `*`. */
export function withListPrices(value: JsonObject): JsonObject {
  const own = objectAt(value, 'prices');
  const named = ownPrices(own);
  const listed = Object.entries(snakeMembers(priceTableSchema, listPrices as unknown as JsonObject) as JsonObject).filter(
    ([model]) => priceOf(model, named) === undefined,
  );
  const rest = Object.entries(value).filter(([key]) => key !== 'prices');
  return ownMembers([...rest, ['prices', ownMembers([...Object.entries(own), ...listed])]]);
}

/** The prices do not matter here. */
function ownPrices(own: JsonObject): { readonly [model: string]: { readonly inputPerMillion: number; readonly outputPerMillion: number } } {
  return Object.fromEntries(Object.keys(own).map((model) => [model, { inputPerMillion: 0, outputPerMillion: 0 }]));
}

/** Missing keys of a judge's `price`. */
export function missingPrices({ price }: Draft<WrittenJudge>): readonly string[] {
  return [
    ...(price?.inputPerMillion === undefined ? ['input_per_million'] : []),
    ...(price?.outputPerMillion === undefined ? ['output_per_million'] : []),
  ];
}

/** The sections with options of evaluators: `x-from` in an evaluator's schema names the section of an option. */
export function sharedSections(members: readonly AnyEvaluator[], value: JsonObject): JsonObject {
  const names = new Set(members.flatMap((evaluator) => takenOptions(evaluator).map(({ section }) => section)));
  return ownMembers(Object.entries(value).filter(([key]) => names.has(key)));
}

/** Replaces `defaults`, and fills in options of shared sections. */
export function withSharedOptions(value: JsonObject, members: readonly AnyEvaluator[]): JsonObject {
  const shared = sharedSections(members, value);
  return withMember(
    value,
    'evaluators',
    placedEntries(value, members).map(({ raw }) => withShared(raw, members, shared)),
  );
}

/** Fills in options of shared sections. */
export function withShared(entry: JsonValue, members: readonly AnyEvaluator[], shared: JsonObject): JsonObject {
  const written = entryOf(entry);
  const evaluator = members.find(({ id }) => id === member(written, 'use'));
  const options = objectAt(written, 'options');
  const missing = (evaluator === undefined ? [] : takenOptions(evaluator)).filter(
    ({ option, section }) => !Object.hasOwn(options, option) && member(shared, section) !== undefined,
  );
  if (missing.length === 0) return written;
  const filled = [...Object.entries(options), ...missing.map(({ option, section }) => [option, shared[section] ?? null] as const)];
  return ownMembers([...Object.entries(written).filter(([key]) => key !== 'options'), ['options', ownMembers(filled)]]);
}

function takenOptions({ optionsSchema }: AnyEvaluator): readonly { readonly option: string; readonly section: string }[] {
  return Object.entries(asObject(member(optionsSchema, 'properties'))).flatMap(([option, schema]) => {
    const section = isJsonObject(schema) ? member(schema, 'x-from') : undefined;
    return typeof section === 'string' ? [{ option, section }] : [];
  });
}
