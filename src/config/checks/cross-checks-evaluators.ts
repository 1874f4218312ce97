/** `evaluators` against one another, against the judges and against what each evaluator takes. */
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, member, type JsonObject } from '../../model/json.ts';
import { clientTlsFindings } from '../files/client-tls-files.ts';
import { parseScoreCondition } from '../entries/conditions.ts';
import type { CrossCheck } from './cross-check.ts';
import { isRule, judgeFindings } from './cross-checks-juries.ts';
import { askable, entryName, entryOf, evaluatorEntry, placedEntries, type PlacedEntry } from '../entries/evaluator-entry.ts';
import { pathText, type Finding, type Path } from '../diagnostic.ts';
import { missingPrices } from '../entries/list-prices.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { objectAt } from '../partial-value.ts';
import { defaultsEntry } from '../sections/evaluators.ts';

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
  return [
    ...sameNames(entries),
    ...successFindings(objectAt(value, 'groups'), entries),
    ...entries.flatMap((entry) => [
      ...judgeFindings(entry, judgeNames),
      ...budgetFindings(entry, objectAt(value, 'judges')),
      ...tlsFindings(entry),
      ...driftFindings(entry),
      ...(isRefused(entry.path, refused) ? [] : ownFindings(entry, members)),
      ...raiseFindings(entry, entries),
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
      return [{ path, at: 'value', problem: `is there twice; the first is ${pathText(before)}`, todo: 'Keep one.' }];
    const key = ['name', 'use'].find((candidate) => Object.hasOwn(written, candidate)) ?? 'use';
    return [
      {
        path: [...path, key],
        at: 'value',
        problem: `is the second entry named ${name}; the first is ${pathText(before)}`,
        todo: 'Give one of them a name of its own.',
      },
    ];
  });
}

/** Money is counted with the prices of the judges that are asked, of each of them. */
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
        {
          path: [...path, 'budget', 'usd_per_day'],
          at: 'key',
          problem: `lacks the price that it counts with: ${keys}`,
          todo: `Add ${keys}; 0 for tokens that cost nothing.`,
        },
      ];
}

/** An evaluator that asks a judge uses the certificates of the judge. */
function tlsFindings({ path, written, member: evaluator }: Entry): readonly Finding[] {
  if (member(written, 'tls') === undefined || evaluator === undefined) return [];
  if (evaluator.kind !== 'http')
    return [
      {
        path: [...path, 'tls'],
        at: 'key',
        problem: `is not for ${evaluator.id}, which has no endpoint of its own`,
        todo: evaluator.kind === 'judge' ? 'Write it under the judge.' : 'Leave it out.',
      },
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
        problem: `is for one judge that is asked once, and ${several} is there too`,
        todo: `Leave one of the two out; another entry with that judge and its own name can have drift and sample: { rate: 0 }.`,
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

/** What the evaluator itself says of an entry that the schema has let through. */
function ownFindings({ path, written, member: evaluator }: Entry, members: readonly AnyEvaluator[]): readonly Finding[] {
  if (evaluator === undefined) return [];
  const result = configuredEvaluator(evaluatorEntry(written), members);
  return result.kind === 'ready'
    ? []
    : result.faults.map(
        (fault) =>
          ({
            path: [...path, ...fault.path],
            at: 'key',
            problem: fault.problem,
            todo: `See tracejury evaluators ${evaluator.id}.`,
          }) as const,
      );
}

/** What says whether a run succeeded must be there, and say so. */
function successFindings(groups: JsonObject, entries: readonly Entry[]): readonly Finding[] {
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
  const guess = didYouMean(
    success,
    entries.map(({ name }) => name),
  );
  return [
    {
      ...place,
      problem: `${JSON.stringify(success)} is not an evaluator of this file`,
      todo: guess === undefined ? 'Add it under evaluators.' : `Did you mean ${guess}?`,
    },
  ];
}

function raiseFindings({ path, written, member: own }: Entry, entries: readonly Entry[]): readonly Finding[] {
  const sample = member(written, 'sample');
  const raise = isJsonObject(sample) ? member(sample, 'raise') : undefined;
  if (own?.target === 'session' && isJsonArray(raise) && raise.length > 0)
    return [
      {
        path: [...path, 'sample', 'raise'],
        at: 'key',
        problem: `means nothing for ${own.id}: a session is chosen at its first turn, before rules can have found anything in the others`,
        todo: 'Leave it out, and raise rate.',
      },
    ];
  const rules = entries.filter((entry) => isRule(entry.member, entry.written)).map(({ name }) => name);
  return (isJsonArray(raise) ? raise : []).flatMap((item, index): readonly Finding[] => {
    const when = isJsonObject(item) ? member(item, 'when') : undefined;
    if (typeof when !== 'string') return [];
    const place = { path: [...path, 'sample', 'raise', index, 'when'], at: 'value' } as const;
    const condition = parseScoreCondition(when);
    if (condition === undefined)
      return [
        {
          ...place,
          problem: `${JSON.stringify(when)} is not a condition`,
          todo: 'Write the name of a rule evaluator, one of < <= > >= =, and a score from 0 to 1: tool_error < 1.',
        },
      ];
    if (rules.includes(condition.evaluator)) return [];
    const guess = didYouMean(condition.evaluator, rules);
    return [
      {
        ...place,
        problem: `${condition.evaluator} is not a rule evaluator of this file`,
        todo: guess === undefined ? 'Add it under evaluators.' : `Did you mean ${guess}?`,
      },
    ];
  });
}
