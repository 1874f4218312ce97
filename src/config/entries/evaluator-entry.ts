/** An entry of `evaluators` in its long form. */
import type { EvaluatorEntry } from '../../../evaluators/configuration/configured.ts';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';
import { judgesOf, type Escalation } from '../../pipeline/jury/jury-panel.ts';
import { listAt } from '../partial-value.ts';
import { ownMembers } from '../schema.ts';
import { defaultsEntry } from '../sections/evaluators.ts';

/** An entry, and its index in the list of the file: faults and certificates are found by it. */
export interface PlacedEntry {
  readonly entry: JsonValue;
  readonly index: number;
}

/** The entries of `evaluators`; `defaults` gives way to the evaluators it stands for, except those that another entry names. */
export function placedEntries(value: JsonObject, members: readonly AnyEvaluator[]): readonly PlacedEntry[] {
  const list = listAt(value, 'evaluators');
  const named = new Set(list.map((entry) => entryName(entryOf(entry))));
  const standing = members.filter(({ id, onByDefault }) => onByDefault && !named.has(id)).map(({ id }) => id);
  const first = list.indexOf(defaultsEntry);
  return list.flatMap((entry, index) =>
    entry === defaultsEntry && index === first ? standing.map((id) => ({ entry: id, index })) : [{ entry, index }],
  );
}

/** The name that its scores carry. */
export function entryName(written: JsonObject): string {
  const name = member(written, 'name') ?? member(written, 'use');
  return typeof name === 'string' ? name : '';
}

/** Names of all entries, each as its scores carry it. */
export function evaluatorNames(value: JsonObject, members: readonly AnyEvaluator[]): readonly string[] {
  return placedEntries(value, members).flatMap(({ entry }) => {
    const name = entryName(entryOf(entry));
    return name === '' ? [] : [name];
  });
}

/** An entry in its long form; `sample: 0.05` is short for `sample: { rate: 0.05 }`. */
export function entryOf(entry: JsonValue): JsonObject {
  if (typeof entry === 'string') return { use: entry };
  if (!isJsonObject(entry)) return {};
  const rate = member(entry, 'sample');
  return typeof rate === 'number'
    ? ownMembers(Object.entries(entry).map(([key, value]) => [key, key === 'sample' ? { rate } : value]))
    : entry;
}

/** What concerns the evaluator itself. */
export function evaluatorEntry(written: JsonObject): EvaluatorEntry {
  const [use, name] = [member(written, 'use'), member(written, 'name')];
  const rest = (['options', 'expect', 'threshold', 'on_empty', 'include_explanation', 'turns'] as const).flatMap((key) => {
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

/** Who is asked: nothing, a judge, or several votes. */
export function askedBy(written: JsonObject): Pick<PlannedEvaluator, 'judge' | 'panel'> {
  const [judge, several, votes] = [member(written, 'judge'), listAt(written, 'judges'), member(written, 'votes') ?? 1];
  const judges = (several.length === 0 && judge !== undefined ? [judge] : several).filter((name) => typeof name === 'string');
  const escalate = escalation(member(written, 'escalate'));
  const [only] = judges;
  if (only === undefined) return {};
  if (judges.length === 1 && votes === 1 && escalate === undefined) return { judge: only };
  return { panel: { judges, votes: Number(votes), ...(escalate === undefined ? {} : { escalate }) } };
}

/** Names of all judges that may be asked. */
export function askable(written: JsonObject): readonly string[] {
  const { judge, panel } = askedBy(written);
  if (panel !== undefined) return judgesOf(panel);
  return judge === undefined ? [] : [judge];
}

function escalation(written: JsonValue | undefined): Escalation | undefined {
  if (!isJsonObject(written)) return undefined;
  const [to, below] = [member(written, 'to'), member(written, 'below')];
  return { to: String(to), onDisagreement: member(written, 'on_disagreement') !== false, ...(typeof below === 'number' ? { below } : {}) };
}
