/**
 * Evaluates the conditions of alerts, and notifies people when an alert fires and when it is over. It asks the store for sums, so a look costs the
 * same for any number of runs. States, silences, acknowledgements and undelivered messages are in the store, and go on after a
 * restart.
 */
import { alertedRuns, unitOf } from '../analytics/alerts/alerted-runs.ts';
import { type AlertRule, findingOf, questionsOf } from '../analytics/alerts/finding.ts';
import { type AlertState, alertStateText, nextAlertState, parsedAlertState, type Untold } from '../analytics/alerts/state.ts';
import type { ExportOutcome } from '../exporters/exporter.ts';
import type { Acknowledgement, AlertNotes, AlertNotice, AlertRow, AlertSilence, AlertWanted } from '../model/alert.ts';
import type { AlertMark } from '../model/store/version-store.ts';
import { alertMarks } from './alert-marks.ts';
import { wire } from '../model/attributes.ts';
import type { Store } from '../model/store/store.ts';
import type { VersionFigure, VersionQuery } from '../model/store/version-store.ts';
import type { Redaction } from '../redaction/redaction.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { MetricRegistry } from '../telemetry/registry.ts';
import type { TaskContext } from '../telemetry/context.ts';
import { present } from '../model/present.ts';

interface AlertWatchOptions extends Omit<TaskContext, 'telemetry'> {
  readonly store: Pick<Store, 'versions'>;
  /** The rules in force. */
  readonly rules: () => readonly AlertRule[];
  readonly redaction: () => Pick<Redaction, 'text'> | undefined;
  /** Brings the sums up to date. */
  readonly refresh: () => Promise<boolean>;
  /** Resolves with `undefined` when no exporter of this name notifies people. */
  readonly notify: (exporter: string, notice: AlertNotice) => Promise<ExportOutcome | undefined>;
  /**
   * `undefined` while another process on the same store looks and notifies people; this process then shows what the other one has found. A number that
   * differs from that of the previous look means that another process may have looked in between. Default: only this process looks.
   */
  readonly tenure?: () => number | undefined;
  readonly telemetry: Pick<MetricRegistry, 'replace' | 'add'>;
  readonly logger: {
    info(fields: { readonly [field: string]: unknown }, message: string): void;
    warn(fields: { readonly [field: string]: unknown }, message: string): void;
  };
}

export interface AlertReport {
  readonly rule: AlertRule;
  /** `undefined`: the rule looks at each agent and has found none, or has not looked yet. */
  readonly agent: string | undefined;
  readonly state: AlertState | undefined;
  /** When the rule was looked at last. */
  readonly lookedAtMs: number | undefined;
  readonly silence: AlertSilence | undefined;
  readonly acknowledged: Acknowledgement | undefined;
}

export interface AlertWatch {
  start(): PeriodicTask;
  /** By rule in the order of the configuration, then by agent. */
  reports(): readonly AlertReport[];
  readonly notes: AlertNotes;
}

export const alertsEveryMs = 30_000;
/** Agents that one rule looks at: those that fire, those with the most runs of each tenant in turn, and those that have a state. */
export const alertAgentsMax = 100;
/** Messages to one exporter in one look. The others wait for the next one: a fault of all agents at once must not flood a channel. */
const messagesPerLook = 10;
/** A message that no attempt could deliver within it is given up. */
const giveUpMs = 24 * 3_600_000;

interface MessageRoom {
  /** False when this exporter gets no other message in this look. */
  take(exporter: string): boolean;
  /** It did not take a message, so the others wait as well. */
  close(exporter: string): void;
  /** Resolves when the service stops: it does not wait for a receiver, and sends the message again after its next start. */
  readonly stopped: Promise<ExportOutcome>;
}

function messageRoom(shutdown: AbortSignal): MessageRoom {
  const taken = new Map<string, number>();
  const stopped = new Promise<ExportOutcome>((resolve) => {
    const end = (): void => resolve({ kind: 'failed', retryable: true, error: 'stopped' });
    if (shutdown.aborted) end();
    else shutdown.addEventListener('abort', end, { once: true });
  });
  return {
    stopped,
    take(exporter) {
      const before = taken.get(exporter) ?? 0;
      taken.set(exporter, before + 1);
      return before < messagesPerLook;
    },
    close: (exporter) => void taken.set(exporter, messagesPerLook),
  };
}

interface Entry {
  readonly alert: string;
  readonly agent: string;
  readonly state: AlertState;
}

export function alertWatch(options: AlertWatchOptions): AlertWatch {
  const { store, rules, redaction, refresh, notify, tenure = () => 0, telemetry, logger, clock, sleep, onFault } = options;
  const marks = alertMarks({ store, redaction, clock, logger });
  let entries: readonly Entry[] | undefined;
  let written: string | undefined;
  let lookedIn: number | undefined;
  let lookedAtMs: number | undefined;

  async function opened(): Promise<readonly Entry[]> {
    return (await store.versions.alertStates()).flatMap(({ alert, agent, state: text }) => {
      const state = parsedAlertState(text);
      return state === undefined ? [] : [{ alert, agent, state }];
    });
  }

  /** Rules mostly ask the same questions. */
  function asking(): (query: VersionQuery) => Promise<readonly VersionFigure[]> {
    const asked = new Map<string, Promise<readonly VersionFigure[]>>();
    return (query) => {
      const key = JSON.stringify(query);
      const answer = asked.get(key) ?? store.versions.figures(query);
      asked.set(key, answer);
      return answer;
    };
  }

  async function looked(
    rule: AlertRule,
    before: readonly Entry[],
    ask: (query: VersionQuery) => Promise<readonly VersionFigure[]>,
  ): Promise<readonly Entry[]> {
    const nowMs = clock.nowMs();
    const answers: (readonly VersionFigure[])[] = [];
    for (const question of questionsOf(rule, nowMs)) answers.push(await ask({ ...question, topAgents: alertAgentsMax }));
    const own = before.filter(({ alert }) => alert === rule.name);
    return agentsOf(rule, answers, own).map((agent): Entry => {
      const finding = findingOf(
        rule,
        answers.map((figures) => figures.filter((one) => one.agent === agent)),
      );
      const state = own.find((one) => one.agent === agent)?.state;
      const { forMs, clearMs, repeatMs, to } = rule;
      const isSilenced = marks.silence(rule.name, agent) !== undefined;
      const isAcknowledged = state?.firingMs !== undefined && marks.acknowledged(rule.name, agent, state.firingMs) !== undefined;
      const step = present<Parameters<typeof nextAlertState>[2]>({ nowMs, clearMs, to, isSilenced, isAcknowledged, forMs, repeatMs });
      const next = nextAlertState(state, finding, step);
      log(rule, agent, state, next);
      return { alert: rule.name, agent, state: next };
    });
  }

  function log({ name, when }: AlertRule, agent: string, before: AlertState | undefined, { firingMs, state, finding }: AlertState): void {
    const fields = { alert: name, agent, when, explanation: finding.explanation };
    if (firingMs !== undefined && before?.firingMs === undefined) logger.warn(fields, 'an alert fires');
    if (firingMs === undefined && before?.firingMs !== undefined && state === 'ok') logger.info(fields, 'an alert is over');
  }

  /** The states that another process has found; they go on here when it dies. */
  async function follow(): Promise<void> {
    entries = await opened();
    [written, lookedAtMs] = [undefined, clock.nowMs()];
    publish([]);
  }

  async function look(shutdown: AbortSignal): Promise<void> {
    await marks.read();
    const own = tenure();
    if (own === undefined) return await follow();
    // Another process may have notified people meanwhile.
    const before = written === undefined || entries === undefined || lookedIn !== own ? await opened() : entries;
    if (lookedIn !== own) written = undefined;
    lookedIn = own;
    entries = before;
    const inForce = rules();
    if (inForce.length === 0 && before.length === 0) return;
    if (inForce.length > 0) await refresh();
    const ask = asking();
    const next: Entry[] = [];
    for (const rule of inForce) next.push(...(await looked(rule, before, ask)));
    lookedAtMs = clock.nowMs();
    // Writes before it notifies: a lost message is sent again, an unwritten one would be forgotten.
    await kept(next);
    publish(next);
    const room = messageRoom(shutdown);
    for (const rule of inForce)
      for (const entry of next.filter(({ alert }) => alert === rule.name))
        if (!shutdown.aborted && entry.state.untold.length > 0 && marks.silence(rule.name, entry.agent) === undefined)
          await tell(rule, entry, room);
    await kept(entries);
    await marks.prune((mark) => inForce.some(({ name }) => name === mark.alert) && isInEffect(mark, entries ?? []));
  }

  /** Writes the state that a restart needs. The first look finds mere figures again. */
  async function kept(next: readonly Entry[]): Promise<void> {
    entries = next;
    const lasting = JSON.stringify(next.map(({ alert, agent, state: { finding: _finding, ...state } }) => ({ alert, agent, state })));
    if (lasting === written) return;
    await store.versions.keepAlertStates(next.map(({ alert, agent, state }) => ({ alert, agent, state: alertStateText(state) })));
    written = lasting;
  }

  function publish(all: readonly Entry[]): void {
    telemetry.replace(
      'tracejury.alert.firing',
      all
        .filter(({ state }) => state.state !== 'no_data')
        .map(({ alert, agent, state }) => ({
          labels: { 'tracejury.alert': alert, [wire.agentName]: agent },
          value: state.state === 'firing' ? 1 : 0,
        })),
    );
  }

  async function tell(rule: AlertRule, { alert, agent, state }: Entry, room: MessageRoom): Promise<void> {
    const left: Untold[] = [];
    for (const message of state.untold) {
      // A later message waits for the earlier one: people read them in order.
      const waits = left.flatMap((one) => one.to);
      const to = await undelivered(rule, agent, message, (exporter) => !waits.includes(exporter) && room.take(exporter), room);
      if (to.length > 0) left.push({ ...message, to });
    }
    const own = { alert, agent, state: { ...state, untold: left } };
    entries = (entries ?? []).map((one) => (one.alert === alert && one.agent === agent ? own : one));
  }

  /** The exporters that have not taken the message. */
  async function undelivered(
    rule: AlertRule,
    agent: string,
    message: Untold,
    mayGo: (exporter: string) => boolean,
    room: MessageRoom,
  ): Promise<readonly string[]> {
    const left: string[] = [];
    for (const to of message.to) {
      if (!mayGo(to)) {
        left.push(to);
        continue;
      }
      const outcome = await Promise.race([notify(to, noticeOf(rule, agent, message)), room.stopped]);
      const isOver = clock.nowMs() - Math.max(message.atMs, marks.silencedUntilMs(rule.name, agent)) > giveUpMs;
      const isSent = outcome?.kind === 'sent';
      const isLeft = outcome?.kind === 'failed' && outcome.retryable && !isOver;
      if (isLeft) {
        left.push(to);
        room.close(to);
      }
      telemetry.add('tracejury.alert.messages', 1, {
        'tracejury.exporter': to,
        'tracejury.outcome': isSent ? 'sent' : isLeft ? 'retried' : 'dropped',
      });
      if (!isSent && !isLeft)
        logger.warn(
          { alert: rule.name, agent, exporter: to, error: outcome?.kind === 'failed' ? outcome.error : 'no webhook of this name' },
          'a message about an alert was given up',
        );
    }
    return left;
  }

  const ofRule = (rule: AlertRule): readonly Entry[] => (entries ?? []).filter(({ alert }) => alert === rule.name);

  /** The rule, where the caller sees it and it looks at the agent. */
  function ruleOf({ alert, agent, only }: AlertWanted): AlertRule | undefined {
    const rule = rules().find(({ name, tenant }) => name === alert && (only === undefined || tenant === only));
    if (rule === undefined || agent === undefined || rule.agent === agent) return rule;
    return ofRule(rule).some((entry) => entry.agent === agent) ? rule : undefined;
  }

  const notes: AlertNotes = {
    async silence(wanted, given) {
      const rule = ruleOf(wanted);
      const { alert, agent } = wanted;
      return rule === undefined ? 'unknown' : await marks.addSilence({ alert, agent, tenant: rule.tenant ?? '' }, given);
    },
    async acknowledge(wanted, given) {
      const rule = ruleOf(wanted);
      if (rule === undefined) return 'unknown';
      const firing = ofRule(rule).flatMap(({ agent, state: { firingMs } }) =>
        firingMs === undefined || (wanted.agent !== undefined && wanted.agent !== agent)
          ? []
          : [{ alert: rule.name, agent, tenant: rule.tenant ?? '', firingMs }],
      );
      if (firing.length > 0) await marks.acknowledge(firing, given);
      return firing.length;
    },
    async lift(wanted, kind) {
      const rule = ruleOf(wanted);
      const { alert, agent } = wanted;
      return rule !== undefined && (await marks.remove(kind, { alert, agent, tenant: rule.tenant ?? '' }));
    },
  };

  return {
    start: () => periodicTask({ everyMs: alertsEveryMs, sleep, work: look, onFault }),
    reports: () =>
      rules().flatMap((rule): readonly AlertReport[] => {
        const own = ofRule(rule);
        const noted = (agent: string, state?: AlertState): Pick<AlertReport, 'silence' | 'acknowledged'> => ({
          silence: marks.silence(rule.name, agent),
          acknowledged: state?.firingMs === undefined ? undefined : marks.acknowledged(rule.name, agent, state.firingMs),
        });
        if (own.length === 0) return [{ rule, agent: rule.agent, state: undefined, lookedAtMs, ...noted(rule.agent ?? '') }];
        return own.map(({ agent, state }) => ({ rule, agent, state, lookedAtMs, ...noted(agent, state) }));
      }),
    notes,
  };
}

/** An acknowledgement ends with its alert. */
function isInEffect({ kind, alert, agent, firingMs }: AlertMark, entries: readonly Entry[]): boolean {
  if (kind === 'silence') return true;
  return entries.some((entry) => entry.alert === alert && entry.agent === agent && entry.state.firingMs === firingMs);
}

/** Agents with figures in the order of these, and as many more that fire or have had a state: agents that fired long ago keep no place from others. */
function agentsOf(rule: AlertRule, answers: readonly (readonly VersionFigure[])[], own: readonly Entry[]): readonly string[] {
  if (rule.agent !== undefined) return [rule.agent];
  const looked = [...new Set(answers.flat().map(({ agent }) => agent))].slice(0, alertAgentsMax);
  const firing = own.filter(({ state }) => state.firingMs !== undefined);
  return [...new Set([...looked, ...[...firing, ...own].map(({ agent }) => agent)])].slice(0, 2 * alertAgentsMax).sort();
}

function noticeOf(rule: AlertRule, agent: string, { kind, sinceMs, atMs, finding, isRepeated }: Untold): AlertNotice {
  const { name, when } = rule;
  const { threshold, explanation } = finding;
  return {
    alert: name,
    when,
    agent: agent === '' ? undefined : agent,
    kind,
    sinceMs,
    atMs,
    figure: finding.kind === 'no_data' ? undefined : finding.figure,
    threshold,
    explanation,
    runsPath: alertedRuns(rule, agent, finding, sinceMs),
    ...(isRepeated === true ? { isRepeated } : {}),
    ...(finding.kind !== 'no_data' && finding.version !== undefined ? { version: finding.version } : {}),
    ...(finding.kind !== 'no_data' && finding.against !== undefined ? { against: finding.against } : {}),
  };
}

/** The row of the API. */
export function alertRow({ rule, agent, state, lookedAtMs, silence, acknowledged }: AlertReport): AlertRow {
  const { name, when, to, tenant, condition } = rule;
  const { finding } = state ?? {};
  const figured = finding === undefined || finding.kind === 'no_data' ? undefined : finding;
  return {
    name,
    tenant,
    when,
    agent: agent === '' ? undefined : agent,
    state: state?.state ?? 'no_data',
    sinceMs: state?.sinceMs,
    lookedAtMs,
    firingMs: state?.firingMs,
    figure: figured?.figure,
    threshold: finding?.threshold,
    unit: unitOf(condition),
    runsPath: alertedRuns(rule, agent ?? '', finding, state?.firingMs ?? lookedAtMs ?? 0),
    runs: finding?.runs ?? 0,
    explanation: finding?.explanation ?? 'No agent has runs that the condition is about.',
    version: figured?.version,
    against: figured?.against,
    to,
    untold: state?.untold.length ?? 0,
    silence,
    acknowledged,
  };
}
