/** Who is asked by an entry of `evaluators`: `judge`, or `judges`, with `votes` and `escalate`. */
import type { AnyEvaluator, RuleEvaluator } from '../../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { slotsMax } from '../../pipeline/jury/jury-panel.ts';
import type { Finding, Path } from '../diagnostic.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { objectAt } from '../partial-value.ts';

interface AskingEntry {
  readonly path: Path;
  readonly written: JsonObject;
  readonly member: AnyEvaluator | undefined;
}

const keys = ['judge', 'judges', 'votes', 'escalate'] as const;

export function judgeFindings({ path, written, member: evaluator }: AskingEntry, judges: readonly string[]): readonly Finding[] {
  if (isRule(evaluator, written)) {
    const given = [...keys, 'sample', 'budget'].filter((key) => isGiven(written, key));
    return given.map(
      (key) =>
        ({
          path: [...path, key],
          at: 'key',
          problem: `is not for ${evaluator.id}, which is a rule`,
          todo:
            evaluator.evaluateWithJudge === undefined
              ? 'Leave it out: a rule looks at every run and asks no judge.'
              : 'Name a judge, or leave it out: without one it looks at every run.',
        }) as const,
    );
  }
  if (evaluator?.kind === 'http')
    return [...keys, 'budget']
      .filter((key) => isGiven(written, key))
      .map(
        (key) =>
          ({
            path: [...path, key],
            at: 'key',
            problem: `is not for ${evaluator.id}, which asks its own endpoint`,
            todo: 'Leave it out.',
          }) as const,
      );
  const named = [...unknownJudges(path, written, judges), ...juryFindings(path, written)];
  if (named.length > 0 || evaluator?.kind !== 'judge' || namesJudge(written)) return named;
  const todo =
    judges.length === 0 ? 'Add a judge under judges and name it here: { use: …, judge: NAME }.' : `Add judge: ${judges[0] ?? ''}.`;
  return [{ path, at: 'value', problem: `${evaluator.id} asks a judge, and none is named`, todo }];
}

/** A rule that can ask a judge is one until its entry names a judge. */
export function isRule(evaluator: AnyEvaluator | undefined, written: JsonObject): evaluator is RuleEvaluator<unknown> {
  return evaluator?.kind === 'rule' && (evaluator.evaluateWithJudge === undefined || !namesJudge(written));
}

function namesJudge(written: JsonObject): boolean {
  return isGiven(written, 'judge') || isGiven(written, 'judges');
}

/** The default of `sample` is filled in before this is asked. */
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
      {
        path: [...path, ...at],
        at: 'value',
        problem: `${JSON.stringify(name)} is not a judge of this file`,
        todo: guess === undefined ? known : `Did you mean ${guess}?`,
      },
    ];
  });
}

/** What the keys must be to one another. */
export function juryFindings(path: Path, written: JsonObject): readonly Finding[] {
  const [judge, several, votes, escalate] = keys.map((key) => member(written, key));
  const names = isJsonArray(several) ? several : judge === undefined ? [] : [judge];
  const [each, all] = [typeof votes === 'number' ? votes : 1, names.length * (typeof votes === 'number' ? votes : 1)];
  const to = isJsonObject(escalate) ? member(escalate, 'to') : undefined;
  return [
    ...(judge === undefined || several === undefined
      ? []
      : [
          {
            path: [...path, 'judges'],
            at: 'key',
            problem: 'stands beside judge',
            todo: 'Keep judge for one, or judges for several.',
          } as const,
        ]),
    ...names.flatMap((name, index) =>
      names.indexOf(name) < index
        ? [
            {
              path: [...path, 'judges', index],
              at: 'value',
              problem: `${JSON.stringify(name)} is named before`,
              todo: 'Name each judge once; votes: 2 asks each of them twice.',
            } as const,
          ]
        : [],
    ),
    ...(all > slotsMax
      ? [
          {
            path: [...path, isGiven(written, 'votes') ? 'votes' : 'judges'],
            at: 'value',
            problem: `makes ${all} votes of ${names.length === 1 ? 'one judge' : `${names.length} judges`} with ${each} each`,
            todo: `Have ${slotsMax} at most: each is paid for.`,
          } as const,
        ]
      : []),
    ...(to !== undefined && names.includes(to)
      ? [
          {
            path: [...path, 'escalate', 'to'],
            at: 'value',
            problem: `${JSON.stringify(to)} has a vote already`,
            todo: 'Name a judge that has none, a better one.',
          } as const,
        ]
      : []),
    ...(isJsonObject(escalate) && !canEscalate(escalate, all)
      ? [
          {
            path: [...path, 'escalate'],
            at: 'key',
            problem:
              all > 1 ? 'never happens: neither disagreement nor confidence leads to it' : 'never happens: one vote agrees with itself',
            todo: all > 1 ? 'Leave out on_disagreement: false, or add below: 0.7.' : 'Add below: 0.7, or more votes.',
          } as const,
        ]
      : []),
  ];
}

function canEscalate(escalate: JsonObject, votes: number): boolean {
  const below = member(escalate, 'below');
  return (typeof below === 'number' && below > 0) || (votes > 1 && member(escalate, 'on_disagreement') !== false);
}
