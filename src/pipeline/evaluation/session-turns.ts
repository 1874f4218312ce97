/**
 * Runs as turns of sessions that are judged as a whole. A hash of the session's id decides whether it is judged, once, when its first turn closes: a
 * later turn, at another pace of the budget, must not change the probability with which it was chosen. Decision 21.
 */
import type { AgentTrace, Run } from '../../model/agent-trace.ts';
import type { Clock } from '../../model/clock.ts';
import { derivedTraceId } from '../../model/ids.ts';
import { plainText } from '../../model/json.ts';
import type { NewTurn, SessionChoice } from '../../model/judge-work.ts';
import { isOfSession, whoIsAsked, type Pace, type PlannedEvaluator } from './evaluate.ts';
import { unpaced, sampleDecision, type SampleDecision } from './sampling.ts';

export interface TurnsWith {
  readonly clock: Clock;
  readonly pace?: Pace;
  /** In which line its sessions wait. */
  readonly queueKeyOf: (planned: PlannedEvaluator) => string;
  /** Why a session that begins now may not wait, although it was chosen; undefined: it may. */
  readonly refused: () => string | undefined;
}

/**
 * `whole` is the unredacted run, `leaving` the redacted one: conditions look at the first, everything that is kept comes from the second. `undefined`
 * when no evaluator judges the turn.
 */
export function turnOf(whole: Run, leaving: Run, plan: readonly PlannedEvaluator[], options: TurnsWith): NewTurn | undefined {
  const { sessionId } = leaving.trace;
  // The work of a sub-agent is part of its agent's turn. Sessions with redacted ids cannot be distinguished.
  if (
    sessionId === undefined ||
    sessionId === '' ||
    sessionId !== whole.trace.sessionId ||
    whole.parent !== undefined ||
    whole.partOf !== undefined
  )
    return undefined;
  const choices = plan
    .filter(({ configured }) => isOfSession(configured))
    .flatMap((planned) => choiceOf(whole, { tenant: leaving.tenant, sessionId }, planned, options));
  return choices.length === 0 ? undefined : { sessionId, at: Math.floor(options.clock.nowMs() * 1_000), choices };
}

interface Session {
  readonly tenant: string;
  readonly sessionId: string;
}

function choiceOf(
  run: Run,
  session: Session,
  planned: PlannedEvaluator,
  { pace, queueKeyOf, refused }: TurnsWith,
): readonly SessionChoice[] {
  const { configured, sampleRate, when } = planned;
  if (configured.kind === 'rule' || whoIsAsked(planned) === undefined) return [];
  const { left, by } = pace?.(planned) ?? unpaced;
  const { sampled, probability } = sessionSample(session, sampleRate * left);
  const end = (): SessionChoice['end'] => {
    if (when !== undefined && !when(run)) return { decision: 'filtered', reason: 'when' };
    if (!sampled) return left === 0 && sampleRate > 0 ? { decision: 'over_budget', reason: by } : { decision: 'sampled_out' };
    const reason = refused();
    return reason === undefined ? undefined : { decision: 'overload', reason };
  };
  return [
    {
      name: configured.name,
      evaluator: configured.evaluator.id,
      evaluatorKind: configured.kind,
      queueKey: queueKeyOf(planned),
      optionsHash: configured.optionsHash,
      probability,
      end: end(),
      mayBeChosen: sessionSample(session, sampleRate).sampled,
    },
  ];
}

/** All turns of a session come to the same, on every replica, and a higher rate keeps what a lower one keeps. */
export function sessionSample({ tenant, sessionId }: Session, rate: number): SampleDecision {
  const traceId = derivedTraceId(JSON.stringify([tenant, sessionId]));
  return sampleDecision({ traceId, traceState: '', rate });
}

/** The session as one run, for its evaluators: its turns one after the other. Any other run is returned unchanged. */
export function asConversation(run: Run): Run {
  const { session, trace } = run;
  return session?.earlier === undefined ? run : { ...run, revision: session.revision, trace: conversation([...session.earlier, trace]) };
}

/** The reported verdict on a session omits the earlier turns. */
export function withoutEarlier(run: Run): Run {
  if (run.session === undefined) return run;
  const { earlier: _earlier, ...session } = run.session;
  return { ...run, session };
}

function conversation(turns: readonly AgentTrace[]): AgentTrace {
  const last = turns.at(-1);
  if (last === undefined) throw new Error('a session without a turn');
  const { messages: _messages, startUnixNano: _start, tokens: _tokens, ...trace } = last;
  const input = turns.find((turn) => turn.input !== undefined)?.input;
  const definitions = new Map(turns.flatMap(({ toolDefinitions }) => toolDefinitions).map((definition) => [definition.name, definition]));
  const truncated = [...new Set(turns.flatMap((turn) => turn.truncated ?? []))];
  return {
    ...trace,
    ...(input === undefined ? {} : { input }),
    ...(truncated.length === 0 ? {} : { truncated }),
    toolDefinitions: [...definitions.values()],
    toolCalls: turns.flatMap(({ toolCalls }) => toolCalls),
    modelCalls: turns.flatMap(({ modelCalls }) => modelCalls),
    documents: turns.flatMap(({ documents }) => documents),
    reasoningSteps: turns.flatMap(({ reasoningSteps }) => reasoningSteps),
    subAgents: turns.flatMap(({ subAgents }) => subAgents),
    messages: messagesOf(turns),
    toolCallsCarried: turns.some(({ toolCallsCarried }) => toolCallsCarried),
  };
}

/** Places of calls count on through the turns. */
function messagesOf(turns: readonly AgentTrace[]): NonNullable<AgentTrace['messages']> {
  let before = 0;
  return turns.flatMap((turn) => {
    const offset = before;
    before += turn.toolCalls.length;
    return ownMessages(turn).map((message) => ({ ...message, calls: message.calls.map((call) => call + offset) }));
  });
}

/** Many applications repeat the earlier messages with each turn: the turn before has reported them. */
function ownMessages(turn: AgentTrace): NonNullable<AgentTrace['messages']> {
  const { input, finalResponse, toolCalls, messages = [] } = turn;
  const asked = input === undefined ? [] : [{ role: 'user', text: input, calls: [] }];
  const response = finalResponse === undefined || finalResponse === null ? undefined : plainText(finalResponse);
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const calls = since.flatMap((message) => message.calls);
  const tellsAll = new Set(calls).size === toolCalls.length && calls.length === toolCalls.length;
  const worked = tellsAll ? since : toolCalls.map((_, at) => ({ role: 'assistant', calls: [at] }));
  const isSaid = worked.some(({ role, ...said }) => role === 'assistant' && 'text' in said && said.text?.trim() === response?.trim());
  return [
    ...asked,
    ...worked,
    ...(response === undefined || response.trim() === '' || isSaid ? [] : [{ role: 'assistant', text: response, calls: [] }]),
  ];
}

/** When sessions are judged as a whole. */
export interface SessionSettings {
  /** Without a turn, before a session is judged. */
  readonly quietMs: number;
  /** One that never is quiet for so long is judged every so often all the same. */
  readonly latestMs: number;
  /** Without a turn, before a session is forgotten. */
  readonly keepMs: number;
  /** Sessions that are chosen and remembered. */
  readonly rows: number;
}
