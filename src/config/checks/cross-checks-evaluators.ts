/** Checks `evaluators` against one another, the judges and the evaluators themselves. */
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { type Finding, type Path, pathText, finding } from '../diagnostic.ts';
import { askable, evaluatorEntry, isRule, missingPrices, type PlacedEntry, raiseNames } from '../entries/evaluator-entry.ts';
import { expressionFindings } from '../entries/run-rule.ts';
import type { Draft } from '../field.ts';
import { clientTlsFindings } from '../files/tls-files.ts';
import { defaultsEntry, type WrittenEvaluator } from '../sections/evaluators.ts';
import type { WrittenDraft } from '../sections/index.ts';
import type { Environment } from '../document.ts';
import { didYouMean, meantEvaluator } from '../../model/did-you-mean.ts';
import { type JsonObject, member } from '../../model/json.ts';
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

/** The entry with its path. */
type Entry = PlacedEntry & { readonly path: Path };

export function evaluatorFindings(
  placed: readonly PlacedEntry[],
  { judges = {}, groups }: WrittenDraft,
  { members, refused }: CrossCheck,
): readonly Finding[] {
  const entries = placed.map((entry): Entry => ({ ...entry, path: ['evaluators', entry.index] }));
  const names = raiseNames(placed);
  return [
    ...sameNames(entries),
    ...successFindings(groups?.success, entries, members),
    ...entries.flatMap((entry) => [
      ...judgeFindings(entry, Object.keys(judges)),
      ...budgetFindings(entry, judges),
      ...tlsFindings(entry),
      ...driftFindings(entry),
      ...(isRefused(entry.path, refused) ? [] : ownFindings(entry, members)),
      ...raiseFindings(entry, names),
      ...learnFindings(entry, names),
    ]),
  ];
}

function sameNames(entries: readonly Entry[]): readonly Finding[] {
  const first = new Map<string, Path>();
  return entries.flatMap(({ name, path, raw }): readonly Finding[] => {
    const before = first.get(name);
    if (before === undefined) first.set(name, path);
    if (before === undefined || name === '') return [];
    if (name === defaultsEntry && member(raw, 'name') === undefined)
      return [finding(path, 'value', `is there twice; the first is ${pathText(before)}`, 'Keep one.')];
    const key = ['name', 'use'].find((candidate) => Object.hasOwn(raw, candidate)) ?? 'use';
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
function budgetFindings({ path, written }: Entry, judges: NonNullable<WrittenDraft['judges']>): readonly Finding[] {
  if (written.budget?.usdPerDay === undefined) return [];
  const missing = [...new Set(askable(written))].flatMap((name) => {
    const asked = judges[name];
    return asked === undefined ? [] : missingPrices(asked).map((key) => `judges.${name}.price.${key}`);
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
function tlsFindings({ path, written, evaluator }: Entry): readonly Finding[] {
  if (written.tls === undefined || evaluator === undefined) return [];
  if (evaluator.kind !== 'http')
    return [
      finding(
        [...path, 'tls'],
        'key',
        `is not for ${evaluator.id}, which has no endpoint`,
        evaluator.kind === 'judge' ? 'Write it under the judge.' : 'Leave it out.',
      ),
    ];
  const url = written.options?.['url'];
  return clientTlsFindings(written.tls, path, typeof url === 'string' ? url : undefined);
}

/** Drift needs verdicts that pass or fail, and an evaluator whose verdict on a run may change. */
function driftFindings({ path, raw, written, evaluator }: Entry): readonly Finding[] {
  if (written.drift === undefined || evaluator === undefined) return [];
  const place = { path: [...path, 'drift'], at: 'key' } as const;
  if (evaluator.kind === 'http' || isRule(evaluator, written))
    return [{ ...place, problem: `is not for ${evaluator.id}, which asks no judge`, todo: 'Leave it out.' }];
  const several = (['judges', 'votes', 'escalate'] as const).find((key) => member(raw, key) !== undefined);
  if (several !== undefined)
    return [
      {
        ...place,
        problem: `needs a single judge with one vote, and the entry has ${several} too`,
        todo: `Leave one of the two out. Another entry with that judge can have drift and sample: { rate: 0 }.`,
      },
    ];
  return (written.threshold === undefined ? evaluator.defaultThreshold : written.threshold) === null
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
function ownFindings({ path, raw, evaluator }: Entry, members: readonly AnyEvaluator[]): readonly Finding[] {
  if (evaluator === undefined) return [];
  const result = configuredEvaluator(evaluatorEntry(raw), members);
  return result.kind === 'ready'
    ? []
    : result.faults.map((fault) => finding([...path, ...fault.path], 'key', fault.problem, `See tracejury evaluators ${evaluator.id}.`));
}

/** `groups.success` must name an evaluator with a threshold. */
function successFindings(success: string | undefined, entries: readonly Entry[], members: readonly AnyEvaluator[]): readonly Finding[] {
  if (success === undefined) return [];
  const place = { path: ['groups', 'success'], at: 'value' } as const;
  const entry = entries.find(({ name }) => name === success);
  if (entry !== undefined)
    return entry.written.threshold === null
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

function raiseFindings({ path, written, evaluator: own }: Entry, names: ExpressionNames): readonly Finding[] {
  const raise = written.sample?.raise ?? [];
  if (own?.target === 'session' && raise.length > 0)
    return [
      finding(
        [...path, 'sample', 'raise'],
        'key',
        `has no effect for ${own.id}: the sample chooses a session at its first turn, before rules score the others`,
        'Leave it out, and raise rate.',
      ),
    ];
  return raise.flatMap(({ when }, index) =>
    when === undefined ? [] : expressionFindings([...path, 'sample', 'raise', index, 'when'], when, names),
  );
}

/** Runs to learn a process from are known before any judge has answered, as those whose sample rate rises. */
function learnFindings({ path, written }: Entry, names: ExpressionNames): readonly Finding[] {
  const when = written.options?.['learn_when'];
  return typeof when === 'string' ? expressionFindings([...path, 'options', 'learn_when'], when, names) : [];
}

const keys = ['judge', 'judges', 'votes', 'escalate'] as const;

function judgeFindings({ path, raw, written, evaluator }: Entry, judges: readonly string[]): readonly Finding[] {
  const isGiven = (key: string): boolean => member(raw, key) !== undefined;
  if (isRule(evaluator, written)) {
    // `sample` always has its default here.
    const samples = written.sample?.rate !== undefined || written.sample?.raise?.length !== 0;
    const given = [...keys, 'sample', 'budget'].filter((key) => isGiven(key) && (key !== 'sample' || samples));
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
      .filter(isGiven)
      .map((key) => finding([...path, key], 'key', `is not for ${evaluator.id}, which asks its own endpoint`, 'Leave it out.'));
  const named = [...unknownJudges(path, written, judges), ...juryFindings(path, written)];
  if (named.length > 0 || evaluator?.kind !== 'judge' || isGiven('judge') || isGiven('judges')) return named;
  const todo =
    judges.length === 0 ? 'Add a judge under judges and name it here: { use: …, judge: NAME }.' : `Add judge: ${judges[0] ?? ''}.`;
  return [finding(path, 'value', `${evaluator.id} needs a judge`, todo)];
}

type WhoIsAsked = Pick<Draft<WrittenEvaluator>, (typeof keys)[number]>;

export function unknownJudges(
  path: Path,
  { judge, judges: several = [], escalate }: WhoIsAsked,
  judges: readonly string[],
): readonly Finding[] {
  const named: readonly { readonly at: Path; readonly name: string | undefined }[] = [
    { at: ['judge'], name: judge },
    ...several.map((name, index) => ({ at: ['judges', index], name })),
    { at: ['escalate', 'to'], name: escalate?.to },
  ];
  return named.flatMap(({ at, name }): readonly Finding[] => {
    if (name === undefined || judges.includes(name)) return [];
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
export function juryFindings(path: Path, { judge, judges: several, votes, escalate }: WhoIsAsked): readonly Finding[] {
  const names = several ?? (judge === undefined ? [] : [judge]);
  const [each, all] = [votes ?? 1, names.length * (votes ?? 1)];
  return [
    ...(judge === undefined || several === undefined
      ? []
      : [finding([...path, 'judges'], 'key', 'is given together with judge', 'Keep judge for one, or judges for several.')]),
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
            [...path, votes === undefined ? 'judges' : 'votes'],
            'value',
            `makes ${all} votes of ${names.length === 1 ? 'one judge' : `${names.length} judges`} with ${each} each`,
            `Use at most ${slotsMax}: each vote costs money.`,
          ),
        ]
      : []),
    ...(escalate?.to !== undefined && names.includes(escalate.to)
      ? [
          finding(
            [...path, 'escalate', 'to'],
            'value',
            `${JSON.stringify(escalate.to)} has a vote already`,
            'Name a better judge without a vote.',
          ),
        ]
      : []),
    ...(escalate !== undefined && !canEscalate(escalate, all)
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

function canEscalate({ below = 0, onDisagreement }: NonNullable<WhoIsAsked['escalate']>, votes: number): boolean {
  return below > 0 || (votes > 1 && onDisagreement !== false);
}
