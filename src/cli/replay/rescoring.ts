/** Scores one stored run under another configuration, beside the verdicts that are stored. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { isTurn, type JoinedSession, type SessionOfRun } from './joined-session.ts';
import { type ReplayJudges } from './judge-modes.ts';
import type { SessionReader } from './session-reader.ts';
import type { Config, EvaluatorConfig } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import type { Run } from '../../model/agent-trace.ts';
import { isJsonObject, jsonText, member } from '../../model/json.ts';
import type { RunDecision, ScoredRun } from '../../model/scored-run.ts';
import type { ReplayedVerdict } from '../../model/store/replay-store.ts';
import type { Evaluation } from '../../model/verdict.ts';
import {
  decisionOf,
  evaluateRun,
  evaluationOf,
  expectedOf,
  isOfSession,
  whoIsAsked,
  type ToJudge,
} from '../../pipeline/evaluation/evaluate.ts';
import { redactedRun, type RedactedRun } from '../../pipeline/evaluation/redacted-run.ts';
import { asConversation, turnOf, type TurnsWith } from '../../pipeline/evaluation/session-turns.ts';
import { ofSession } from '../../pipeline/judging.ts';
import { panelModel } from '../../pipeline/jury/jury-panel.ts';
import { clock } from '../../service/node-runtime.ts';
import { storedVerdict } from '../../stores/row-mapping.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

/** The result of one evaluator for a run under the configuration. */
export type After =
  | {
      readonly kind: 'verdict';
      readonly verdict: ReplayedVerdict;
      /** Probability with which both this verdict and its run were chosen. */
      readonly probability: number;
      /** True when the stored verdict holds, because its evaluator is the same. */
      readonly isStored: boolean;
    }
  /** The configuration does not score this run. */
  | { readonly kind: 'none'; readonly reason: string }
  /** No judge was asked, so nothing is known. */
  | { readonly kind: 'not_asked'; readonly reason: string };

/** Results by the name of the evaluator. */
export type AfterByName = ReadonlyMap<string, After>;

export interface Rescored {
  readonly after: AfterByName;
  /** Redacted, with every verdict of a rule and each new verdict of a judge as a separate item, in the form that exporters get. Verdicts on sessions are not among them. */
  readonly items: readonly ScoredRun[];
}

export interface Rescoring {
  /** Names of evaluators of whole sessions. */
  readonly ofSessions: readonly string[];
  /** A run as it leaves for judges. */
  leaving(run: Run): Run;
  /** `sessions`: where the other turns of its session come from. */
  score(run: Run, stored: readonly ReplayedVerdict[], sessions?: SessionReader): Promise<Rescored>;
}

export interface RescoringOptions {
  readonly config: Config;
  readonly judges: Pick<ReplayJudges, 'ask'>;
  /** True when evaluators that did not change score again too. */
  readonly isAnew: boolean;
}

export function rescoring({ config, judges, isAnew }: RescoringOptions): Rescoring {
  const plan = config.evaluators;
  const context = evaluationContext();
  const redaction = configuredRedaction(config.redact, noTelemetry);
  const sessionPlan = plan.filter(({ configured }) => isOfSession(configured));
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
    const evaluation = evaluationOf(redacted.run, work.configured, end.verdict, work);
    const item = redacted.item({
      evaluations: [evaluation],
      decisions: [decisionOf(work.configured, end.verdict)],
      ...(end.calls === undefined ? {} : { calls: end.calls }),
    });
    const [own = evaluation] = item.evaluations;
    return { kind: 'verdict', verdict: replayedVerdict(own), isStored: false, probability: work.probability, item };
  }

  async function judgedSession(
    planned: EvaluatorConfig,
    { run: last, first }: JoinedSession,
    own: ReplayedVerdict | undefined,
  ): Promise<After> {
    const { configured } = planned;
    const asked = whoIsAsked(planned);
    const [choice] = turnOf(first, redactedRun(first, redaction).run, [planned], choosing)?.choices ?? [];
    if (choice === undefined || asked === undefined || configured.kind === 'rule') return { kind: 'none', reason: 'no_judge' };
    if (choice.end !== undefined) return { kind: 'none', reason: choice.end.reason ?? choice.end.decision };
    if (turnsOf(own) > (last.session?.turns ?? 0)) return { kind: 'not_asked', reason: 'turns_deleted' };
    const { run, work, item } = redactedRun(last, redaction);
    const { probability } = choice;
    const end = await judges.ask(asConversation(run), work({ configured, ...asked, expected: expectedOf(run), probability }));
    if (end.kind !== 'judged') return { kind: 'not_asked', reason: end.reason };
    const evaluation = evaluationOf(run, configured, ofSession(run, end.verdict), { probability });
    const [said = evaluation] = item({ evaluations: [evaluation], decisions: [] }).evaluations;
    return { kind: 'verdict', verdict: replayedVerdict(said), isStored: false, probability };
  }

  /** The last turn represents the session. Other runs have no entry, because they have no verdict of these evaluators. */
  async function sessionVerdicts(
    run: Run,
    before: ReadonlyMap<string, ReplayedVerdict>,
    sessions: SessionReader,
  ): Promise<readonly (readonly [string, After])[]> {
    const found: (readonly [string, After])[] = [];
    const open: EvaluatorConfig[] = [];
    for (const planned of sessionPlan) {
      const own = before.get(planned.configured.name);
      if (!holds(own, planned)) open.push(planned);
      else found.push([planned.configured.name, { kind: 'verdict', verdict: own, isStored: true, probability: own.sampleProbability }]);
    }
    if (open.length === 0 || !isTurn(run) || (run.trace.sessionId ?? '') === '') return found;
    const named = async (session: SessionOfRun, planned: EvaluatorConfig): Promise<readonly (readonly [string, After])[]> => {
      const { name } = planned.configured;
      const own = before.get(name);
      if (session.kind === 'session') return [[name, await judgedSession(planned, session, own)]];
      if (session.kind === 'not_joined') return [[name, { kind: 'not_asked', reason: session.reason }]];
      return own === undefined ? [] : [[name, { kind: 'not_asked', reason: 'session_goes_on' }]];
    };
    const answered = await sessions.withSession(run, async (session) => await Promise.all(open.map((planned) => named(session, planned))));
    return [...found, ...answered.flat()];
  }

  return {
    ofSessions: sessionPlan.map(({ configured }) => configured.name),
    leaving: (run) => redactedRun(run, redaction).run,
    async score(run, stored, sessions) {
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
      if (sessions !== undefined && sessionPlan.length > 0)
        for (const [name, one] of await sessionVerdicts(run, before, sessions)) after.set(name, one);
      return { after, items };
    },
  };
}

/** A session is chosen as when the budgets of its judges are free, and it is judged at once. */
const choosing: TurnsWith = { clock: { nowMs: () => 0 }, queueKeyOf: () => '', refused: () => undefined };

/** Turns that a stored verdict is about. */
function turnsOf(stored: ReplayedVerdict | undefined): number {
  const session = stored?.details['session'] ?? null;
  const turns = isJsonObject(session) ? member(session, 'turns') : undefined;
  return typeof turns === 'number' ? turns : 0;
}

function modelOf({ judge, panel }: EvaluatorConfig, { judges }: Config): string | undefined {
  const named = (name: string): string | undefined => judges.find((one) => one.name === name)?.model;
  if (panel !== undefined) return panelModel(panel, named);
  return judge === undefined ? undefined : named(judge);
}

function replayedVerdict(evaluation: Evaluation): ReplayedVerdict {
  return { ...storedVerdict(evaluation), kind: evaluation.evaluatorKind, optionsHash: evaluation.optionsHash };
}

/** The content of a verdict, without the name of its evaluator. */
export function contentText({ verdict, score, label, explanation, reason, evidence, details }: ReplayedVerdict): string {
  return jsonText([verdict, score ?? null, label, explanation, reason ?? null, evidence, details], { sortKeys: true });
}

/** The content, and what identifies the evaluator. */
function identifiedText(said: ReplayedVerdict): string {
  return jsonText([said.evaluator, said.kind, said.version, said.optionsHash, contentText(said)]);
}

/** The rules' item and the items of judges with only the changed verdicts; `undefined` when nothing changed. */
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
  const faults = items.flatMap((item) => (item.faults ?? []).filter(({ name }) => names.has(name)));
  const [first] = items;
  if (first === undefined || evaluations.length === 0) return undefined;
  return { run: first.run, evaluations, decisions, ...(faults.length === 0 ? {} : { faults }) };
}
