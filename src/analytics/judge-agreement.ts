/**
 * Agreement of evaluators with people on the same runs, by evaluator, version and model of the judge; and agreement among people. Failures
 * count as positive, as a judge is there to find them.
 */
import type { AnnotatedRun } from '../model/store/annotation-store.ts';
import { cohenKappa, type Kappa, raterAgreement, type RaterAgreement } from '../statistics/cohen-kappa.ts';
import { confusion, confusionRates, type Confusion, type ConfusionRates } from '../statistics/proportion.ts';
import { notEstimable, type NotEstimable } from '../statistics/estimate.ts';
import { splitValuesMax } from '../model/store/verdict-rows.ts';
import { type LabelledRun, labelledRuns } from './corrected-rate.ts';

/** The unit of comparison: runs or tool calls. */
export type About = 'run' | 'tool_call';

export interface JudgeAgreement {
  readonly name: string;
  readonly about: About;
  readonly evaluator: string;
  readonly kind: string;
  readonly version: number;
  readonly model: string | undefined;
  /** Version of the agent, where agreement is split by it; absent: all versions. The empty text: runs without one. */
  readonly agentVersion?: string;
  /** Number of runs or calls on which both people and the evaluator decide. */
  readonly runs: number;
  /** Positive is a failure. */
  readonly confusion: Confusion;
  readonly rates: ConfusionRates;
  readonly kappa: Kappa | NotEstimable;
}

export interface PeopleAgreement {
  readonly name: string;
  readonly about: About;
  readonly people: number;
  readonly runs: number;
  /** Runs on which people tie; they are not compared. */
  readonly disputed: number;
  /** Annotations with a label that no verdict of the evaluator has. */
  readonly unreadable: number;
  readonly agreement: RaterAgreement;
}

export interface Agreement {
  readonly judges: readonly JudgeAgreement[];
  readonly people: readonly PeopleAgreement[];
}

const abouts: readonly About[] = ['run', 'tool_call'];

/** `byVersion`: also by version of the agent, for the versions with the most labelled runs. */
export function agreementOf(rows: readonly AnnotatedRun[], { byVersion = false }: { readonly byVersion?: boolean } = {}): Agreement {
  const names = [...Map.groupBy(rows, ({ annotation }) => annotation.name)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, own]) =>
      abouts.flatMap((about) => {
        const some = own.filter(({ annotation }) => (annotation.toolCall === undefined) === (about === 'run'));
        return some.length === 0 ? [] : [{ name, about, ...labelledRuns(some) }];
      }),
    );
  return {
    judges: names.flatMap(({ name, about, runs }) =>
      [...Map.groupBy(runs.filter(isCompared), versionText)]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .flatMap(([, own]) => [...judgeOf(name, about, own), ...(byVersion ? judgesByVersion(name, about, own) : [])]),
    ),
    people: names.map((one) => peopleOf(one)),
  };
}

/** A configured judge evaluator. */
export type JudgeInForce = Pick<JudgeAgreement, 'name' | 'evaluator' | 'version' | 'model'>;

/** The entry of an evaluator without labels, for which nothing can be estimated. */
export function withoutLabels(judge: JudgeInForce): JudgeAgreement {
  const none = notEstimable('no_labels');
  return {
    ...judge,
    kind: 'judge',
    about: 'run',
    runs: 0,
    confusion: confusion([]),
    rates: { precision: none, recall: none, specificity: none, accuracy: none },
    kappa: none,
  };
}

function isCompared({ passed, verdict }: LabelledRun): boolean {
  return passed !== undefined && (verdict?.word === 'pass' || verdict?.word === 'fail');
}

function versionText({ verdict }: LabelledRun): string {
  return JSON.stringify([verdict?.evaluator, String(verdict?.version).padStart(9, '0'), verdict?.model ?? '']);
}

function judgesByVersion(name: string, about: About, runs: readonly LabelledRun[]): readonly JudgeAgreement[] {
  return [...Map.groupBy(runs, ({ agentVersion = '' }) => agentVersion)]
    .sort(([one, ones], [other, others]) => others.length - ones.length || (one < other ? -1 : 1))
    .slice(0, splitValuesMax)
    .flatMap(([agentVersion, own]) => judgeOf(name, about, own).map((judge) => ({ ...judge, agentVersion })));
}

function judgeOf(name: string, about: About, runs: readonly LabelledRun[]): readonly JudgeAgreement[] {
  const [first] = runs;
  if (first?.verdict === undefined) return [];
  const { evaluator, kind, version, model } = first.verdict;
  const items = runs.map(({ passed, verdict }) => ({ label: passed === false, verdict: verdict?.word === 'fail' }));
  const counts = confusion(items);
  const kappa = cohenKappa(items.map((item) => ({ one: String(item.label), other: String(item.verdict) })));
  return [{ name, about, evaluator, kind, version, model, runs: runs.length, confusion: counts, rates: confusionRates(counts), kappa }];
}

function peopleOf({
  name,
  about,
  runs,
  unreadable,
}: {
  readonly name: string;
  readonly about: About;
  readonly runs: readonly LabelledRun[];
  readonly unreadable: number;
}): PeopleAgreement {
  const labels = runs.flatMap(({ key, words }) => [...words].map(([person, passed]) => ({ person, item: key, label: String(passed) })));
  return {
    name,
    about,
    people: new Set(labels.map(({ person }) => person)).size,
    runs: runs.filter(({ words }) => words.size > 0).length,
    disputed: runs.filter(({ passed, words }) => passed === undefined && words.size > 0).length,
    unreadable,
    agreement: raterAgreement(labels),
  };
}
