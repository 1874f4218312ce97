/**
 * Sends runs that match the filter of the entry to a program or a chat channel: signed, rate-limited, by default to public addresses only.
 */
import { isIP } from 'node:net';
import { createHmac } from 'node:crypto';
import { chunks } from '../../model/chunks.ts';
import type { Clock } from '../../model/clock.ts';
import { JuryError } from '../../model/errors.ts';
import type { PeopleNotice } from '../../model/issue-notice.ts';
import { parseJson } from '../../model/json.ts';
import { numberOfText, recentNumbers } from '../../model/recent-numbers.ts';
import { type Evaluation, evaluationId } from '../../model/verdict.ts';
import { exportOutcome, refusalNamed, unexpectedFailure } from '../delivery/export-outcome.ts';
import type { Exporter, ExportOutcome, PlannedRequest } from '../exporter.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { httpClient, type Answer } from '../delivery/http-client.ts';
import { isPublicAddress, notPublic, publicLookup } from '../delivery/ssrf-guard.ts';
import type { ExporterDeps, ExporterSettings, WebhookFilter, WebhookSettings } from '../settings.ts';
import { alertMessage } from './alert-message.ts';
import { issueMessage } from './issue-message.ts';
import { messageOf, type Message, type Notice } from './webhook-message.ts';
import type { Context } from '../../telemetry/context.ts';

/** Messages that may go at once after a quiet period. */
const messagesAtOnce = 3;
/** Runs of one message; the next message takes the others. */
const runsPerMessage = 200;
/** Verdicts in memory, to detect a revision that changes nothing. The oldest go first. */
export const reportedMax = 20_000;

export function webhookExporter(settings: ExporterSettings, parts: ExporterDeps): Exporter {
  const { webhook } = settings;
  if (webhook === undefined) throw new JuryError('CONFIG_INVALID', 'The exporter webhook has no endpoint.');
  const { telemetry, clock, sleep } = parts;
  const reported = recentNumbers(reportedMax);
  const { call, stop } = caller(webhook, settings, parts);
  const queue = rateLimitedBatcher<Notice>({
    send: sendMessage,
    perMinute: webhook.perMinute,
    atOnce: messagesAtOnce,
    itemsMax: runsPerMessage,
    clock,
    sleep,
  });

  async function sendMessage(notices: readonly Notice[]): Promise<ExportOutcome> {
    const message = messageOf(notices, webhook as WebhookSettings);
    const answer = await call(message.body, signatureOf(message, webhook as WebhookSettings, clock));
    // Slack answers `ok` as HTML.
    const outcome = refusalNamed(exportOutcome(answer, { takesPages: true }), ['the address or a key in headers']);
    if (outcome.kind !== 'sent') return outcome;
    const count = (kind: string, runs: number): void =>
      telemetry.add('tracejury.webhook.runs', runs, { 'tracejury.exporter': settings.name ?? 'webhook', 'tracejury.outcome': kind });
    count('told', message.listed);
    if (notices.length > message.listed) count('folded', notices.length - message.listed);
    for (const { evaluations } of notices)
      for (const evaluation of evaluations) reported.set(evaluationId(evaluation.key), numberOfText(wordOf(evaluation)));
    return outcome;
  }

  async function notify(notice: PeopleNotice): Promise<ExportOutcome> {
    try {
      const settings = webhook as WebhookSettings;
      const message = 'issues' in notice ? issueMessage(notice, settings) : alertMessage(notice, settings);
      const answer = await call(message.body, signatureOf(message, settings, clock));
      return refusalNamed(exportOutcome(answer, { takesPages: true }), ['the address or a key in headers']);
    } catch (error) {
      return unexpectedFailure(error);
    }
  }

  return {
    id: 'webhook',
    notify,
    itemsAtOnce: runsPerMessage,
    async send({ run, evaluations }) {
      try {
        const wanted = wantedOf({ run, evaluations }, webhook.only).filter(
          (evaluation) => reported.get(evaluationId(evaluation.key)) !== numberOfText(wordOf(evaluation)),
        );
        return wanted.length === 0 ? { kind: 'sent' } : await queue.send({ run, evaluations: wanted });
      } catch (error) {
        return unexpectedFailure(error);
      }
    },
    plan: async (items) => planned(items, webhook, settings, clock),
    async stop() {
      queue.stop();
      stop();
    },
  };
}

/** Lists the messages. The path of the address may be a secret, so the URL leaves it out. */
function planned(
  items: readonly ExportItem[],
  webhook: WebhookSettings,
  settings: ExporterSettings,
  clock: Clock,
): readonly PlannedRequest[] {
  const notices = items
    .map(({ run, evaluations }) => ({ run, evaluations: wantedOf({ run, evaluations }, webhook.only) }))
    .filter(({ evaluations }) => evaluations.length > 0);
  return chunks(notices, runsPerMessage).map((some) => {
    const { id, body } = messageOf(some, webhook);
    return {
      method: 'POST',
      url: `${new URL(webhook.url).origin}/***`,
      headers: headersOf(settings, signatureOf({ id, body }, webhook, clock)),
      body: parseJson(body) ?? body,
    };
  });
}

function signatureOf({ id, body }: Pick<Message, 'id' | 'body'>, { secret }: WebhookSettings, clock: Clock): Record<string, string> {
  return signatureHeaders({ id, atSeconds: Math.floor(clock.nowMs() / 1_000), body }, secret);
}

function headersOf(settings: ExporterSettings, signature: { readonly [name: string]: string }): { readonly [name: string]: string } {
  return { ...settings.headers, 'content-type': 'application/json', 'user-agent': 'tracejury', ...signature };
}

function caller(
  webhook: WebhookSettings,
  settings: ExporterSettings,
  { lookup }: ExporterDeps,
): { readonly call: (body: string, headers: { readonly [name: string]: string }) => Promise<Answer>; stop(): void } {
  const { url, privateAddresses } = webhook;
  const { tls, timeoutMs } = settings;
  const client = httpClient({ tls, timeoutMs, lookup: privateAddresses ? undefined : publicLookup(lookup) });
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  // The resolver does not see an IP address, so it is checked here.
  const isRefused = !privateAddresses && isIP(host) !== 0 && !isPublicAddress(host);
  return {
    call: async (body, headers) =>
      isRefused ? { kind: 'unanswered', fault: notPublic } : client.send({ url, headers: headersOf(settings, headers) }, Buffer.from(body)),
    stop: client.stop,
  };
}

function wantedOf(
  { run, evaluations }: Pick<ExportItem, 'run' | 'evaluations'>,
  { verdicts, labels, evaluators, agents }: WebhookFilter,
): readonly Evaluation[] {
  if (agents.length > 0 && !agents.includes(run.trace.agent ?? '')) return [];
  return evaluations.filter(({ key, guard, verdict }) => {
    if (evaluators.length > 0 && !evaluators.includes(key.name)) return false;
    if (verdict.kind === 'failed') return verdicts.includes('error');
    // Otherwise an attacker could pass a guard by making the run too large for it.
    if (verdict.kind === 'skipped')
      return guard === true && verdict.reason === 'too_large' && (verdicts.includes('fail') || verdicts.includes('error'));
    return labels.includes(verdict.label) || (verdict.passed !== null && verdicts.includes(verdict.passed ? 'pass' : 'fail'));
  });
}

/** The part of a verdict whose change is news. */
function wordOf({ verdict }: Evaluation): string {
  return verdict.kind === 'scored' ? `${verdict.label} ${String(verdict.passed)}` : verdict.kind;
}

const secretPrefix = 'whsec_';

/** Signs as Standard Webhooks 1.0 specifies (decision 13). */
export interface SignedMessage {
  readonly id: string;
  /** Seconds since 1970. */
  readonly atSeconds: number;
  readonly body: string;
}

/** The key of a secret: base64 after `whsec_`, any other text as UTF-8. */
export function secretBytes(secret: string): Buffer {
  return secret.startsWith(secretPrefix) ? Buffer.from(secret.slice(secretPrefix.length), 'base64') : Buffer.from(secret);
}

/** Without a secret: only the id and the time. */
export function signatureHeaders({ id, atSeconds, body }: SignedMessage, secret: string | undefined): Record<string, string> {
  const unsigned = { 'webhook-id': id, 'webhook-timestamp': String(atSeconds) };
  if (secret === undefined) return unsigned;
  return {
    ...unsigned,
    'webhook-signature': `v1,${createHmac('sha256', secretBytes(secret)).update(`${id}.${atSeconds}.${body}`).digest('base64')}`,
  };
}

export interface RateLimitedBatcherOptions<Item> extends Pick<Context, 'clock' | 'sleep'> {
  /** Resolves, never rejects. */
  readonly send: (items: readonly Item[]) => Promise<ExportOutcome>;
  readonly perMinute: number;
  /** Messages that may go at once after a quiet period. */
  readonly atOnce: number;
  readonly itemsMax: number;
}

export interface RateLimitedBatcher<Item> {
  /** The caller bounds the number of waiting items. */
  send(item: Item): Promise<ExportOutcome>;
  /** Fails the waiting items as retryable. */
  stop(): void;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly done: (outcome: ExportOutcome) => void;
}

export function rateLimitedBatcher<Item>({
  send,
  perMinute,
  atOnce,
  itemsMax,
  clock,
  sleep,
}: RateLimitedBatcherOptions<Item>): RateLimitedBatcher<Item> {
  const waiting: Waiting<Item>[] = [];
  const over = new AbortController();
  const restMs = 60_000 / perMinute;
  let turns = atOnce;
  let updatedMs = clock.nowMs();
  let isRunning = false;

  async function turn(): Promise<void> {
    for (;;) {
      const nowMs = clock.nowMs();
      turns = Math.min(atOnce, turns + Math.max(0, nowMs - updatedMs) / restMs);
      updatedMs = nowMs;
      if (turns >= 1 || over.signal.aborted) break;
      await sleep((1 - turns) * restMs, over.signal);
    }
    turns--;
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      await turn();
      // Lets all callers of this turn add their items.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = waiting.splice(0, itemsMax);
      const outcome: ExportOutcome = over.signal.aborted
        ? { kind: 'failed', retryable: true, error: 'stopped' }
        : await send(batch.map(({ item }) => item));
      for (const { done } of batch) done(outcome);
    }
    isRunning = false;
  }

  return {
    send: (item) =>
      new Promise((done) => {
        waiting.push({ item, done });
        if (!isRunning) void run();
      }),
    stop: () => over.abort(),
  };
}
