/** Scores one stored run under another configuration, beside the verdicts that are stored. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { type ReplayJudges } from './judge-modes.ts';
import type { Config, EvaluatorConfig } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import type { Run } from '../../model/agent-trace.ts';
import { jsonText } from '../../model/json.ts';
import type { RunDecision, ScoredRun } from '../../model/scored-run.ts';
import type { ReplayedVerdict } from '../../model/store/replay-store.ts';
import type { Evaluation } from '../../model/verdict.ts';
import { decisionOf, evaluateRun, evaluationOf, isOfSession, type ToJudge } from '../../pipeline/evaluation/evaluate.ts';
import { redactedRun, type RedactedRun } from '../../pipeline/evaluation/redacted-run.ts';
import { panelModel } from '../../pipeline/jury/jury-panel.ts';
import { clock } from '../../service/node-runtime.ts';
import { storedVerdict } from '../../stores/row-mapping.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

/** What one evaluator says of a run under the configuration. */
export type After =
  | {
      readonly kind: 'verdict';
      readonly verdict: ReplayedVerdict;
      /** Probability with which both this verdict and its run were chosen. */
      readonly probability: number;
      /** True: the stored verdict holds, as its evaluator is the same. */
      readonly isStored: boolean;
    }
  /** The configuration does not score this run. */
  | { readonly kind: 'none'; readonly reason: string }
  /** Nobody was asked, so nothing is known. */
  | { readonly kind: 'not_asked'; readonly reason: string };

/** By the name of the evaluator. */
export type AfterByName = ReadonlyMap<string, After>;

export interface Rescored {
  readonly after: AfterByName;
  /** Redacted, with every verdict of a rule and each new verdict of a judge as an item of its own, as exporters get them. */
  readonly items: readonly ScoredRun[];
}

export interface Rescoring {
  /** Names of evaluators of whole sessions, which a replay leaves out. */
  readonly ofSessions: readonly string[];
  score(run: Run, stored: readonly ReplayedVerdict[]): Promise<Rescored>;
}

export interface RescoringOptions {
  readonly config: Config;
  readonly judges: Pick<ReplayJudges, 'ask'>;
  /** True: evaluators that did not change score again too. */
  readonly isAnew: boolean;
}

export function rescoring({ config, judges, isAnew }: RescoringOptions): Rescoring {
  const plan = config.evaluators;
  const context = evaluationContext();
  const redaction = configuredRedaction(config.redact, noTelemetry);
  const models = new Map(plan.map((planned) => [planned.configured.name, modelOf(planned, config)]));

  function holds(stored: ReplayedVerdict | undefined, { configured }: Pick<EvaluatorConfig, 'configured'>): stored is ReplayedVerdict {
    if (stored === undefined || isAnew) return false;
    const { evaluator, version, optionsHash, verdict, details } = stored;
    const isSame =
      evaluator === configured.evaluator.id && version === configured.evaluator.version && optionsHash === configured.optionsHash;
    if (!isSame || configured.kind === 'rule') return isSame;
    const [model, wanted] = [details['model'], models.get(configured.name)];
    // A judge that failed has said nothing about the run.
    return verdict !== 'error' && (model === undefined || wanted === undefined || model === wanted);
  }

  async function judged(
    work: ToJudge,
    redacted: RedactedRun,
    stored: ReplayedVerdict | undefined,
  ): Promise<After & { readonly item?: ScoredRun }> {
    if (holds(stored, work))
      return { kind: 'verdict', verdict: stored, isStored: true, probability: Math.min(work.probability, stored.sampleProbability) };
    const end = await judges.ask(redacted.run, redacted.work(work));
    if (end.kind !== 'judged') return { kind: 'not_asked', reason: end.reason };
    const evaluation = evaluationOf(redacted.run, work.configured, end.verdict, work.probability);
    const item = redacted.item({
      evaluations: [evaluation],
      decisions: [decisionOf(work.configured, end.verdict)],
      ...(end.calls === undefined ? {} : { calls: end.calls }),
    });
    const [own = evaluation] = item.evaluations;
    return { kind: 'verdict', verdict: replayedVerdict(own), isStored: false, probability: work.probability, item };
  }

  return {
    ofSessions: plan.filter(({ configured }) => isOfSession(configured)).map(({ configured }) => configured.name),
    async score(run, stored) {
      const before = new Map(stored.map((one) => [one.name, one]));
      const { upstreamProbability: upstreamMin } = config.limits;
      const { evaluations, decisions, toJudge } = evaluateRun(run, plan, { context, clock, telemetry: noTelemetry, upstreamMin });
      const redacted = redactedRun(run, redaction);
      const rules = redacted.item({ evaluations, decisions });
      const after = new Map<string, After>();
      for (const { name, decision, reason = decision } of rules.decisions) after.set(name, { kind: 'none', reason });
      for (const evaluation of rules.evaluations) {
        const own = before.get(evaluation.key.name);
        const planned = plan.find(({ configured }) => configured.name === evaluation.key.name);
        const isStored = planned !== undefined && holds(own, planned);
        const verdict = isStored && own !== undefined ? own : replayedVerdict(evaluation);
        after.set(evaluation.key.name, { kind: 'verdict', verdict, isStored, probability: 1 });
      }
      const items: ScoredRun[] = [rules];
      const answered = await Promise.all(
        toJudge.map(async (work) => [work.configured.name, await judged(work, redacted, before.get(work.configured.name))] as const),
      );
      for (const [name, { item, ...one }] of answered) {
        after.set(name, one);
        if (item !== undefined) items.push(item);
      }
      return { after, items };
    },
  };
}

function modelOf({ judge, panel }: EvaluatorConfig, { judges }: Config): string | undefined {
  const named = (name: string): string | undefined => judges.find((one) => one.name === name)?.model;
  if (panel !== undefined) return panelModel(panel, named);
  return judge === undefined ? undefined : named(judge);
}

function replayedVerdict(evaluation: Evaluation): ReplayedVerdict {
  return { ...storedVerdict(evaluation), kind: evaluation.evaluatorKind, optionsHash: evaluation.optionsHash };
}

/** What a verdict says of its run, whichever evaluator says it. */
export function contentText({ verdict, score, label, explanation, reason, evidence, details }: ReplayedVerdict): string {
  return jsonText([verdict, score ?? null, label, explanation, reason ?? null, evidence, details], { sortKeys: true });
}

/** The content, and what identifies the evaluator. */
function identifiedText(said: ReplayedVerdict): string {
  return jsonText([said.evaluator, said.kind, said.version, said.optionsHash, contentText(said)]);
}

/** The rules' item and the items of judges with the changed verdicts alone; `undefined` when nothing changed. */
export function changedItem({ after, items }: Rescored, before: readonly ReplayedVerdict[]): ScoredRun | undefined {
  const stored = new Map(before.map((one) => [one.name, one]));
  const isChanged = (name: string): boolean => {
    const [own, one] = [stored.get(name), after.get(name)];
    if (one?.kind !== 'verdict' || one.isStored) return false;
    // A judge that failed replaces no verdict.
    if (one.verdict.kind !== 'rule' && one.verdict.verdict === 'error' && own !== undefined) return false;
    return own === undefined || identifiedText(own) !== identifiedText(one.verdict);
  };
  const evaluations = items.flatMap((item) => item.evaluations.filter(({ key }) => isChanged(key.name)));
  const names = new Set(evaluations.map(({ key }) => key.name));
  const decisions: readonly RunDecision[] = items.flatMap((item) => item.decisions.filter(({ name }) => names.has(name)));
  const [first] = items;
  return first === undefined || evaluations.length === 0 ? undefined : { run: first.run, evaluations, decisions };
}
