/** Builds the message of a webhook: JSON for programs, or text for a channel. The same runs give the same message. */
import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import { inTurns } from '../../model/shares.ts';
import { timeText } from '../../model/timestamp.ts';
import { evaluationKeyText, type Evaluation, type Verdict, errorType } from '../../model/verdict.ts';
import { cutText } from '../delivery/export-outcome.ts';
import { itemRevision, type ExportedRun } from '../../model/scored-run.ts';
import type { MessageSettings } from '../settings.ts';

/** A run with at least one evaluation. */
export interface Notice {
  readonly run: ExportedRun;
  readonly evaluations: readonly Evaluation[];
}

export interface Message {
  /** The same for the same runs, revisions and evaluators. */
  readonly id: string;
  readonly body: string;
  /** Runs that the message lists; it counts the others. */
  readonly listed: number;
}

/** Readers skip longer lists. */
export const runsListedMax = 10;
const verdictsListedMax = 10;
/** Evaluations of a run in a text; the text counts the others. */
const verdictsInTextMax = 3;
/** Slack refuses 40,000 characters. */
const textCharsMax = 30_000;
const explanationCharsMax = 2_000;
const lineCharsMax = 300;
const nameCharsMax = 500;

export const messageType = 'tracejury.verdicts';

/** Takes at least one run. Lists those that ended first, one of each tenant in turn. */
export function messageOf(notices: readonly Notice[], settings: MessageSettings): Message {
  const sorted = inTurns(
    notices.toSorted((a, b) => (a.run.endUnixNano < b.run.endUnixNano ? -1 : 1)),
    ({ run }) => run.tenant,
  );
  const [listed, folded] = [sorted.slice(0, runsListedMax), sorted.slice(runsListedMax)];
  const body = settings.body === 'slack' ? slackBody(listed, folded, settings) : jsonBody(listed, folded, settings);
  return { id: messageId(notices), body: JSON.stringify(body), listed: listed.length };
}

function messageId(notices: readonly Notice[]): string {
  const keys = notices.map(({ run, evaluations }) =>
    JSON.stringify([itemRevision({ run }), ...evaluations.map(({ key }) => evaluationKeyText(key)).sort()]),
  );
  return `msg_${hash('sha256', JSON.stringify(keys.sort()), 'hex').slice(0, 32)}`;
}

function jsonBody(listed: readonly Notice[], folded: readonly Notice[], settings: MessageSettings): JsonObject {
  const last = [...listed, ...folded].reduce((newest, { run }) => (run.endUnixNano > newest ? run.endUnixNano : newest), 0n);
  return {
    type: messageType,
    timestamp: timeText(last),
    data: {
      runs: listed.map((notice) => runJson(notice, settings)),
      ...(folded.length === 0 ? {} : { folded: { runs: folded.length, verdicts: Object.fromEntries(countsOf(folded)) } }),
    },
  };
}

function runJson({ run, evaluations }: Notice, settings: MessageSettings): JsonObject {
  const link = linkOf(run, settings);
  const { traceId, spanTraceId = traceId, spanId, tenant, trace, service, serviceVersion, startUnixNano, endUnixNano, completeness } = run;
  return {
    trace_id: spanTraceId,
    span_id: spanId,
    tenant,
    agent: nameOf(trace.agent),
    service: nameOf(service),
    version: nameOf(serviceVersion),
    session_id: nameOf(trace.sessionId),
    started_at: timeText(startUnixNano),
    ended_at: timeText(endUnixNano),
    completeness,
    status: trace.status ?? null,
    revision: itemRevision({ run }),
    ...(link === undefined ? {} : { link }),
    verdicts: evaluations.slice(0, verdictsListedMax).map(verdictJson),
  };
}

function nameOf(text: string | undefined): string | null {
  return text === undefined ? null : cutText(text, nameCharsMax);
}

function verdictJson({ key, evaluator, evaluatorVersion, verdict }: Evaluation): JsonObject {
  const head = {
    name: key.name,
    ...(key.targetKind === 'run' ? {} : { about: key.targetKind }),
    evaluator,
    version: evaluatorVersion,
    status: verdict.kind,
  };
  const explanation = cutText(verdict.explanation, explanationCharsMax);
  if (verdict.kind !== 'scored')
    return { ...head, ...(verdict.kind === 'failed' ? { error: errorType(verdict.error) } : { reason: verdict.reason }), explanation };
  return { ...head, score: verdict.score, label: verdict.label, passed: verdict.passed, explanation };
}

/** `text` is the field that Slack, Mattermost and Rocket.Chat read. No name in it becomes a mention, and no address a preview. */
function slackBody(listed: readonly Notice[], folded: readonly Notice[], settings: MessageSettings): { readonly [key: string]: JsonValue } {
  const lines = listed.flatMap((notice) => slackLines(notice, settings));
  const rest =
    folded.length === 0
      ? []
      : [
          `and ${folded.length} more ${folded.length === 1 ? 'run' : 'runs'}: ${countsOf(folded)
            .slice(0, verdictsListedMax)
            .map(([name, count]) => `${plain(name)} ${count}`)
            .join(', ')}`,
        ];
  return { text: cutText([...lines, ...rest].join('\n'), textCharsMax), unfurl_links: false, unfurl_media: false };
}

function slackLines({ run, evaluations }: Notice, settings: MessageSettings): readonly string[] {
  const { traceId, spanTraceId = traceId, trace } = run;
  const link = linkOf(run, settings);
  const place = link === undefined ? `trace ${spanTraceId}` : `<${link}|trace ${spanTraceId}>`;
  const verdicts = evaluations
    .slice(0, verdictsInTextMax)
    .map(
      ({ key, verdict }) =>
        `• ${plain(key.name)}${key.targetKind === 'session' ? ' of the session' : ''} ${outcomeWords(verdict)}${verdict.explanation === '' ? '' : `: ${plain(verdict.explanation)}`}`,
    );
  const more = evaluations.length - verdicts.length;
  return [`*${plain(trace.agent ?? 'an agent')}* ${place}`, ...verdicts, ...(more === 0 ? [] : [`• and ${more} more`])];
}

function outcomeWords(verdict: Verdict): string {
  if (verdict.kind === 'scored') return [plain(verdict.label), twoDigits(verdict.score)].filter((word) => word !== '').join(' ');
  return verdict.kind === 'failed' ? `error ${errorType(verdict.error)}` : `skipped ${verdict.reason}`;
}

/** Rounds down, so that a score below its threshold never reads as one that reaches it. */
function twoDigits(score: number): string {
  return (Math.floor(score * 100 + 1e-9) / 100).toFixed(2);
}

/** One line without markup: escapes Slack's three control characters and breaks its formatting marks. */
export function plain(text: string): string {
  return cutText(text, lineCharsMax)
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[*_~`]/g, (mark) => `\u200b${mark}`);
}

/** The page that the entry names, else the run in the console. */
function linkOf({ traceId, spanTraceId = traceId, spanId, tenant }: ExportedRun, { link, console }: MessageSettings): string | undefined {
  if (link !== undefined) return link.replaceAll('{trace_id}', spanTraceId).replaceAll('{span_id}', spanId);
  if (console === undefined) return undefined;
  return `${console}/runs/${spanTraceId}/${spanId}${tenant === '' ? '' : `?tenant=${encodeURIComponent(tenant)}`}`;
}

/** By evaluator, the most frequent first. */
function countsOf(notices: readonly Notice[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { evaluations } of notices) for (const { key } of evaluations) counts.set(key.name, (counts.get(key.name) ?? 0) + 1);
  return [...counts].sort(([a, most], [b, least]) => least - most || (a < b ? -1 : 1));
}
