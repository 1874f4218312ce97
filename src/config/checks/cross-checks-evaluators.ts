/** Checks `evaluators` against one another, the judges and the evaluators themselves. */
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { type Finding, objectAt, type Path, pathText, finding } from '../diagnostic.ts';
import {
  askable,
  entryName,
  entryOf,
  evaluatorEntry,
  isRule,
  missingPrices,
  placedEntries,
  type PlacedEntry,
  raiseNames,
} from '../entries/evaluator-entry.ts';
import { expressionFindings } from '../entries/run-rule.ts';
import { clientTlsFindings } from '../files/tls-files.ts';
import { defaultsEntry } from '../sections/evaluators.ts';
import type { Environment } from '../document.ts';
import { didYouMean, meantEvaluator } from '../../model/did-you-mean.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';
import type { ExpressionNames } from '../../pipeline/evaluation/run-expression.ts';
import { slotsMax } from '../../pipeline/jury/jury-panel.ts';

export interface CrossCheck {
  /** Has all defaults; parts may be faulty. */
  readonly value: JsonObject;
  readonly members: readonly AnyEvaluator[];
  readonly env: Environment;
  /** Paths with faults of the schema. */
  readonly refused: readonly Path[];
}

interface Entry {
  readonly path: Path;
  readonly written: JsonObject;
  readonly name: string;
  readonly member: AnyEvaluator | undefined;
}

export function evaluatorFindings({ value, members, refused }: CrossCheck): readonly Finding[] {
  const judges = member(value, 'judges');
  const judgeNames = isJsonObject(judges) ? Object.keys(judges) : [];
  const entries = placedEntries(value, members).map((placed) => checkedEntry(placed, members));
  const names = raiseNames(value, members);
  return [
    ...sameNames(entries),
    ...successFindings(objectAt(value, 'groups'), entries, members),
    ...entries.flatMap((entry) => [
      ...judgeFindings(entry, judgeNames),
      ...budgetFindings(entry, objectAt(value, 'judges')),
      ...tlsFindings(entry),
      ...driftFindings(entry),
      ...(isRefused(entry.path, refused) ? [] : ownFindings(entry, members)),
      ...raiseFindings(entry, names),
      ...learnFindings(entry, names),
    ]),
  ];
}

function checkedEntry({ entry, index }: PlacedEntry, members: readonly AnyEvaluator[]): Entry {
  const written = entryOf(entry);
  const use = member(written, 'use');
  return { path: ['evaluators', index], written, name: entryName(written), member: members.find(({ id }) => id === use) };
}

function sameNames(entries: readonly Entry[]): readonly Finding[] {
  const first = new Map<string, Path>();
  return entries.flatMap(({ name, path, written }): readonly Finding[] => {
    const before = first.get(name);
    if (before === undefined) first.set(name, path);
    if (before === undefined || name === '') return [];
    if (name === defaultsEntry && member(written, 'name') === undefined)
      return [finding(path, 'value', `is there twice; the first is ${pathText(before)}`, 'Keep one.')];
    const key = ['name', 'use'].find((candidate) => Object.hasOwn(written, candidate)) ?? 'use';
    return [
      finding(
        [...path, key],
        'value',
        `is the second entry named ${name}; the first is ${pathText(before)}`,
        'Give one of them its own name.',
      ),
    ];
  });
}

/** A budget in money needs the prices of all its judges. */
function budgetFindings({ path, written }: Entry, judges: JsonObject): readonly Finding[] {
  if (member(objectAt(written, 'budget'), 'usd_per_day') === undefined) return [];
  const missing = [...new Set(askable(written))].flatMap((name) => {
    const asked = member(judges, name);
    return isJsonObject(asked) ? missingPrices(asked).map((key) => `judges.${name}.price.${key}`) : [];
  });
  const keys = missing.join(' and ');
  return missing.length === 0
    ? []
    : [
        finding(
          [...path, 'budget', 'usd_per_day'],
          'key',
          `lacks the price that it counts with: ${keys}`,
          `Add ${keys}; 0 for tokens that cost nothing.`,
        ),
      ];
}

/** An evaluator that asks a judge uses the certificates of the judge. */
function tlsFindings({ path, written, member: evaluator }: Entry): readonly Finding[] {
  if (member(written, 'tls') === undefined || evaluator === undefined) return [];
  if (evaluator.kind !== 'http')
    return [
      finding(
        [...path, 'tls'],
        'key',
        `is not for ${evaluator.id}, which has no endpoint of its own`,
        evaluator.kind === 'judge' ? 'Write it under the judge.' : 'Leave it out.',
      ),
    ];
  return clientTlsFindings(written, path, member(objectAt(written, 'options'), 'url'));
}

/** Drift needs verdicts that pass or fail, and an evaluator whose verdict on a run may change. */
function driftFindings({ path, written, member: evaluator }: Entry): readonly Finding[] {
  if (member(written, 'drift') === undefined || evaluator === undefined) return [];
  const place = { path: [...path, 'drift'], at: 'key' } as const;
  if (evaluator.kind === 'http' || isRule(evaluator, written))
    return [{ ...place, problem: `is not for ${evaluator.id}, which asks no judge`, todo: 'Leave it out.' }];
  const several = ['judges', 'votes', 'escalate'].find((key) => member(written, key) !== undefined);
  if (several !== undefined)
    return [
      {
        ...place,
        problem: `needs a single judge with one vote, and the entry has ${several} too`,
        todo: `Leave one of the two out. Another entry with that judge can have drift and sample: { rate: 0 }.`,
      },
    ];
  const threshold = member(written, 'threshold') ?? (Object.hasOwn(written, 'threshold') ? null : evaluator.defaultThreshold);
  return threshold === null
    ? [
        {
          ...place,
          problem: `needs a threshold: without one ${evaluator.id} neither passes nor fails a run`,
          todo: 'Add threshold, or leave drift out.',
        },
      ]
    : [];
}

function isRefused(path: Path, refused: readonly Path[]): boolean {
  return refused.some((other) => path.every((part, index) => other[index] === part));
}

/** Faults that the evaluator finds in an entry without faults of the schema. */
function ownFindings({ path, written, member: evaluator }: Entry, members: readonly AnyEvaluator[]): readonly Finding[] {
  if (evaluator === undefined) return [];
  const result = configuredEvaluator(evaluatorEntry(written), members);
  return result.kind === 'ready'
    ? []
    : result.faults.map((fault) => finding([...path, ...fault.path], 'key', fault.problem, `See tracejury evaluators ${evaluator.id}.`));
}

/** `groups.success` must name an evaluator with a threshold. */
function successFindings(groups: JsonObject, entries: readonly Entry[], members: readonly AnyEvaluator[]): readonly Finding[] {
  const success = member(groups, 'success');
  if (typeof success !== 'string') return [];
  const place = { path: ['groups', 'success'], at: 'value' } as const;
  const entry = entries.find(({ name }) => name === success);
  if (entry !== undefined)
    return member(entry.written, 'threshold') === null
      ? [
          {
            ...place,
            problem: `${success} has no threshold, so it neither passes nor fails`,
            todo: 'Give it one, or name another evaluator.',
          },
        ]
      : [];
  const known = { on: entries.map(({ name }) => name), all: members.map(({ id }) => id) };
  return [
    {
      ...place,
      problem: `${JSON.stringify(success)} is not an evaluator of this file`,
      todo: meantEvaluator(success, known, 'Add it under evaluators.'),
    },
  ];
}

function raiseFindings({ path, written, member: own }: Entry, names: ExpressionNames): readonly Finding[] {
  const sample = member(written, 'sample');
  const raise = isJsonObject(sample) ? member(sample, 'raise') : undefined;
  if (own?.target === 'session' && isJsonArray(raise) && raise.length > 0)
    return [
      finding(
        [...path, 'sample', 'raise'],
        'key',
        `has no effect for ${own.id}: the sample chooses a session at its first turn, before rules score the others`,
        'Leave it out, and raise rate.',
      ),
    ];
  return (isJsonArray(raise) ? raise : []).flatMap((item, index): readonly Finding[] => {
    const when = isJsonObject(item) ? member(item, 'when') : undefined;
    return typeof when === 'string' ? expressionFindings([...path, 'sample', 'raise', index, 'when'], when, names) : [];
  });
}

/** Runs to learn a process from are known before any judge has answered, as those whose sample rate rises. */
function learnFindings({ path, written }: Entry, names: ExpressionNames): readonly Finding[] {
  const when = member(objectAt(written, 'options'), 'learn_when');
  return typeof when === 'string' ? expressionFindings([...path, 'options', 'learn_when'], when, names) : [];
}

const keys = ['judge', 'judges', 'votes', 'escalate'] as const;

function judgeFindings({ path, written, member: evaluator }: Entry, judges: readonly string[]): readonly Finding[] {
  if (isRule(evaluator, written)) {
    const given = [...keys, 'sample', 'budget'].filter((key) => isGiven(written, key));
    return given.map((key) =>
      finding(
        [...path, key],
        'key',
        `is not for ${evaluator.id}, which is a rule`,
        evaluator.evaluateWithJudge === undefined
          ? 'Leave it out: a rule scores every run and asks no judge.'
          : 'Name a judge, or leave it out: without one it scores every run.',
      ),
    );
  }
  if (evaluator?.kind === 'http')
    return [...keys, 'budget']
      .filter((key) => isGiven(written, key))
      .map((key) => finding([...path, key], 'key', `is not for ${evaluator.id}, which asks its own endpoint`, 'Leave it out.'));
  const named = [...unknownJudges(path, written, judges), ...juryFindings(path, written)];
  if (named.length > 0 || evaluator?.kind !== 'judge' || namesJudge(written)) return named;
  const todo =
    judges.length === 0 ? 'Add a judge under judges and name it here: { use: …, judge: NAME }.' : `Add judge: ${judges[0] ?? ''}.`;
  return [finding(path, 'value', `${evaluator.id} needs a judge`, todo)];
}

function namesJudge(written: JsonObject): boolean {
  return isGiven(written, 'judge') || isGiven(written, 'judges');
}

/** `sample` always has its default here. */
function isGiven(written: JsonObject, key: string): boolean {
  const value = member(written, key);
  if (key !== 'sample') return value !== undefined;
  if (!isJsonObject(value)) return false;
  const raise = member(value, 'raise');
  return member(value, 'rate') !== undefined || !isJsonArray(raise) || raise.length > 0;
}

export function unknownJudges(path: Path, written: JsonObject, judges: readonly string[]): readonly Finding[] {
  const several = member(written, 'judges');
  const named: readonly { readonly at: Path; readonly name: JsonValue | undefined }[] = [
    { at: ['judge'], name: member(written, 'judge') },
    ...(isJsonArray(several) ? several.map((name, index) => ({ at: ['judges', index], name })) : []),
    { at: ['escalate', 'to'], name: member(objectAt(written, 'escalate'), 'to') },
  ];
  return named.flatMap(({ at, name }): readonly Finding[] => {
    if (typeof name !== 'string' || judges.includes(name)) return [];
    const guess = didYouMean(name, judges);
    const known = judges.length === 0 ? 'Add it under judges.' : `Judges: ${judges.join(', ')}.`;
    return [
      finding(
        [...path, ...at],
        'value',
        `${JSON.stringify(name)} is not a judge of this file`,
        guess === undefined ? known : `Did you mean ${guess}?`,
      ),
    ];
  });
}

/** Faults between `judge`, `judges`, `votes` and `escalate`. */
export function juryFindings(path: Path, written: JsonObject): readonly Finding[] {
  const [judge, several, votes, escalate] = keys.map((key) => member(written, key));
  const names = isJsonArray(several) ? several : judge === undefined ? [] : [judge];
  const [each, all] = [typeof votes === 'number' ? votes : 1, names.length * (typeof votes === 'number' ? votes : 1)];
  const to = isJsonObject(escalate) ? member(escalate, 'to') : undefined;
  return [
    ...(judge === undefined || several === undefined
      ? []
      : [finding([...path, 'judges'], 'key', 'stands beside judge', 'Keep judge for one, or judges for several.')]),
    ...names.flatMap((name, index) =>
      names.indexOf(name) < index
        ? [
            finding(
              [...path, 'judges', index],
              'value',
              `${JSON.stringify(name)} is named before`,
              'Name each judge once; votes: 2 asks each of them twice.',
            ),
          ]
        : [],
    ),
    ...(all > slotsMax
      ? [
          finding(
            [...path, isGiven(written, 'votes') ? 'votes' : 'judges'],
            'value',
            `makes ${all} votes of ${names.length === 1 ? 'one judge' : `${names.length} judges`} with ${each} each`,
            `Use at most ${slotsMax}: each vote costs money.`,
          ),
        ]
      : []),
    ...(to !== undefined && names.includes(to)
      ? [finding([...path, 'escalate', 'to'], 'value', `${JSON.stringify(to)} has a vote already`, 'Name a better judge without a vote.')]
      : []),
    ...(isJsonObject(escalate) && !canEscalate(escalate, all)
      ? [
          finding(
            [...path, 'escalate'],
            'key',
            all > 1 ? 'never happens: neither disagreement nor confidence triggers it' : 'never happens: one vote agrees with itself',
            all > 1 ? 'Leave out on_disagreement: false, or add below: 0.7.' : 'Add below: 0.7, or more votes.',
          ),
        ]
      : []),
  ];
}

function canEscalate(escalate: JsonObject, votes: number): boolean {
  const below = member(escalate, 'below');
  return (typeof below === 'number' && below > 0) || (votes > 1 && member(escalate, 'on_disagreement') !== false);
}
