/**
 * Agreement of evaluators with people on the same runs, by evaluator, version and model of the judge; and agreement among people. Failures count as
 * positive, as a judge is there to find them. Rates and kappa hold for all traffic: they come from labelled runs that a queue drew at random,
 * weighted by one over the probability. Labels of chosen runs are counted, but are not a sample.
 */
import type { AnnotatedRun } from '../model/store/annotation-store.ts';
import { type Kappa, raterAgreement, type RaterAgreement } from '../statistics/cohen-kappa.ts';
import { drawnAgreement } from '../statistics/drawn-agreement.ts';
import { confusion, type Confusion, type ConfusionRates, type LabelledVerdict } from '../statistics/proportion.ts';
import { cappedWeights } from '../statistics/weighted-rate.ts';
import { notEstimable, type NotEstimable } from '../statistics/estimate.ts';
import { splitValuesMax } from '../model/store/verdict-rows.ts';
import { capping, type LabelledRun, labelledRuns } from './corrected-rate.ts';

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
  /** Counts of these. Positive is a failure. */
  readonly confusion: Confusion;
  /** Number of those that a queue drew at random. */
  readonly drawn: number;
  /** Counts of the others, which a person or a rule chose. */
  readonly chosen: Confusion;
  /** Rates of all traffic, from the drawn runs. */
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
    drawn: 0,
    chosen: confusion([]),
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
  const probabilityOf = capping(
    cappedWeights(runs.map(({ probability, verdict }) => (probability === undefined ? 0 : (verdict?.upstream ?? 1)))).weightMax,
  );
  const [drawn, chosen] = [
    runs.filter(({ probability }) => probability !== undefined),
    runs.filter(({ probability }) => probability === undefined),
  ];
  const items = drawn.map((run) => ({
    ...failureOf(run),
    probability: (run.probability ?? 0) * (run.verdict === undefined ? 0 : probabilityOf(run.verdict)),
    ...(run.session === undefined ? {} : { session: run.session }),
  }));
  return [
    {
      name,
      about,
      evaluator,
      kind,
      version,
      model,
      runs: runs.length,
      confusion: confusion(runs.map(failureOf)),
      drawn: drawn.length,
      chosen: confusion(chosen.map(failureOf)),
      ...drawnAgreement(items),
    },
  ];
}

function failureOf({ passed, verdict }: LabelledRun): LabelledVerdict {
  return { label: passed === false, verdict: verdict?.word === 'fail' };
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
