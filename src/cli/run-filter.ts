/** Filters of stored runs on a command line: `--where 'agent=support evaluator=tool_error verdict=fail'`, and times for --since and --until. */
import { type CommandInput, textOption, UsageError } from './command.ts';
import { environmentOf, type Run, runStatuses } from '../model/agent-trace.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import { parseTraceId, tenant } from '../model/ids.ts';
import { jsonText } from '../model/json.ts';
import { quantityExamples, quantityOf } from '../model/quantities.ts';
import { matchesTerms, searchTerms, wordsOf } from '../model/search-words.ts';
import { isIssueId } from '../model/store/issue-store.ts';
import type { RunFilter, StoredVerdict } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';
import { verdictWords } from '../model/verdict.ts';

/** Characters of one filter. */
const filterCharsMax = 4_000;

type Conditions = Omit<RunFilter, 'from' | 'to'>;

/** Values of each key, for messages. */
const keys = {
  agent: 'the name of an agent',
  service: 'the name of a service',
  version: 'the version of a service',
  session: 'the id of a session',
  user: 'the id of a user',
  environment: 'the name of an environment',
  tenant: 'the name of a tenant',
  trace: 'a trace id of 32 hexadecimal digits',
  evaluator: 'the name of an evaluator',
  status: `one of ${runStatuses.join(', ')}`,
  verdict: `one of ${verdictWords.join(', ')}`,
  annotated: 'yes or no',
  tool: 'the name of a tool',
  text: 'words of the input or the final answer',
  label: 'the label of an annotation, or NAME=LABEL',
  issue: 'the id of an issue, 12 hexadecimal digits',
  min_duration: 'a number of seconds, or a duration such as 30s',
  max_duration: 'a number of seconds, or a duration such as 30s',
  min_cost: 'a number of US dollars',
  max_cost: 'a number of US dollars',
} as const;

type Key = keyof typeof keys;

const plainKeys = {
  agent: 'agent',
  service: 'service',
  version: 'version',
  session: 'sessionId',
  user: 'userId',
  environment: 'environment',
  evaluator: 'evaluator',
  tool: 'tool',
  label: 'label',
} as const;
const durationKeys = { min_duration: 'minDuration', max_duration: 'maxDuration' } as const;
const costKeys = { min_cost: 'minCost', max_cost: 'maxCost' } as const;

/** Keys for help texts and guides. */
export const runFilterKeys: readonly string[] = Object.keys(keys);

/** A key, and a value with or without quotes. A value in quotes may contain blanks, and `\"` and `\\`. */
const CONDITION = /\s*([A-Za-z_.-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+))(?=\s|$)/;

/** Several filters apply together. Throws a UsageError that names the faulty condition. */
export function parseRunFilter(texts: readonly string[], option = 'where'): Conditions {
  const found: { -readonly [Member in keyof Conditions]: Conditions[Member] } = {};
  const given = new Set<Key>();
  for (const text of texts) {
    if (text.length > filterCharsMax) throw new UsageError(`--${option} takes at most ${filterCharsMax} characters.`);
    for (const { key, value } of conditionsOf(text, option)) {
      if (given.has(key)) throw new UsageError(`--${option}: ${key} is given twice; one filter names each key once.`);
      given.add(key);
      Object.assign(found, conditionOf(key, value, option));
    }
  }
  return found;
}

function conditionsOf(text: string, option: string): readonly { readonly key: Key; readonly value: string }[] {
  const all: { readonly key: Key; readonly value: string }[] = [];
  const condition = new RegExp(CONDITION, 'y');
  while (text.slice(condition.lastIndex).trim() !== '') {
    const at = condition.lastIndex;
    const match = condition.exec(text);
    if (match === null) throw new UsageError(unreadableText(text.slice(at).trim(), option));
    const [, name = '', double, single, bare] = match;
    all.push({ key: keyOf(name, option), value: double?.replace(/\\(.)/g, '$1') ?? single ?? bare ?? '' });
  }
  return all;
}

/** Characters of a condition in a message. */
const shownChars = 60;

function unreadableText(rest: string, option: string): string {
  const shown = JSON.stringify(rest.slice(0, shownChars));
  const key = /^[A-Za-z_.-]+/.exec(rest)?.[0];
  if (key !== undefined && /^[A-Za-z_.-]+\s*(?:!=|<|>|~|:)/.test(rest))
    return `--${option}: ${shown} compares with a sign other than =. Conditions are KEY=VALUE, as in agent=support verdict=fail.`;
  return `--${option}: ${shown} is not a condition. Conditions are KEY=VALUE, as in agent=support verdict=fail; quote a value with blanks.`;
}

function keyOf(name: string, option: string): Key {
  if (Object.hasOwn(keys, name)) return name as Key;
  const guess = didYouMean(name, runFilterKeys);
  throw new UsageError(
    `--${option}: ${name} is not a key.${guess === undefined ? '' : ` Did you mean ${guess}?`} Keys are ${runFilterKeys.join(', ')}.`,
  );
}

const DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/;

function conditionOf(key: Key, value: string, option: string): Conditions {
  if (value === '' && key !== 'tenant') throw fault(key, value, option);
  switch (key) {
    case 'tenant':
      return { tenant: tenant(value) };
    case 'trace': {
      const traceId = parseTraceId(value);
      if (traceId === undefined) throw fault(key, value, option);
      return { traceId };
    }
    case 'issue':
      if (!isIssueId(value)) throw fault(key, value, option);
      return { issue: value };
    case 'verdict': {
      const verdict = verdictWords.find((word) => word === value);
      if (verdict === undefined) throw fault(key, value, option, didYouMean(value, verdictWords));
      return { verdict };
    }
    case 'status': {
      const status = runStatuses.find((word) => word === value);
      if (status === undefined) throw fault(key, value, option, didYouMean(value, runStatuses));
      return { status };
    }
    case 'annotated':
      if (value !== 'yes' && value !== 'no') throw fault(key, value, option);
      return { annotated: value === 'yes' };
    case 'text': {
      const { words, prefix } = searchTerms(value);
      if (words.length === 0 && prefix === undefined) throw fault(key, value, option);
      return { text: value };
    }
    case 'min_duration':
    case 'max_duration': {
      const micros = DECIMAL.test(value) ? Number(value) * 1_000_000 : (quantityOf('duration', value) ?? Number.NaN) * 1_000;
      if (!Number.isFinite(micros)) throw fault(key, value, option);
      return { [durationKeys[key]]: micros };
    }
    case 'min_cost':
    case 'max_cost':
      if (!DECIMAL.test(value)) throw fault(key, value, option);
      return { [costKeys[key]]: Number(value) };
    default:
      return { [plainKeys[key]]: value };
  }
}

function fault(key: Key, value: string, option: string, guess?: string): UsageError {
  return new UsageError(
    `--${option}: ${key}=${JSON.stringify(value.slice(0, shownChars))} is wrong: ${key} takes ${keys[key]}.${guess === undefined ? '' : ` Did you mean ${guess}?`}`,
  );
}

function answerText({ trace: { finalResponse } }: Run): string {
  return typeof finalResponse === 'string' ? finalResponse : finalResponse === undefined ? '' : jsonText(finalResponse);
}

/** True when a run with these verdicts matches, where no store filters. It has no annotations and no issues, and its cost is unknown. */
export function matchesRun(run: Run, verdicts: readonly Pick<StoredVerdict, 'name' | 'verdict'>[], filter: RunFilter): boolean {
  const {
    tenant: wanted,
    agent,
    service,
    version,
    sessionId,
    userId,
    environment,
    traceId,
    evaluator,
    verdict,
    annotated,
    from,
    to,
  } = filter;
  const { status, tool, text, label, issue, minDuration = -Infinity, maxDuration = Infinity, minCost, maxCost } = filter;
  const [startedAt, endedAt] = [Number(run.startUnixNano / 1_000n), Number(run.endUnixNano / 1_000n)];
  return (
    (wanted === undefined || run.tenant === wanted) &&
    (agent === undefined || run.trace.agent === agent) &&
    (service === undefined || run.service === service) &&
    (version === undefined || run.serviceVersion === version) &&
    (sessionId === undefined || run.trace.sessionId === sessionId) &&
    (userId === undefined || run.trace.userId === userId) &&
    (environment === undefined || environmentOf(run) === environment) &&
    (traceId === undefined || run.traceId === traceId) &&
    (status === undefined || run.trace.status === status) &&
    annotated !== true &&
    label === undefined &&
    issue === undefined &&
    (text === undefined || matchesTerms(wordsOf(`${run.trace.input ?? ''}\n${answerText(run)}`), searchTerms(text))) &&
    (tool === undefined || run.trace.toolCalls.some(({ name }) => name === tool)) &&
    endedAt - startedAt >= minDuration &&
    endedAt - startedAt <= maxDuration &&
    minCost === undefined &&
    maxCost === undefined &&
    (from === undefined || startedAt >= from) &&
    (to === undefined || startedAt < to) &&
    ((evaluator === undefined && verdict === undefined) ||
      verdicts.some((one) => (evaluator ?? one.name) === one.name && (verdict ?? one.verdict) === one.verdict))
  );
}

/** The option `--issue`. */
export function issueOption(input: Pick<CommandInput, 'options'>): string | undefined {
  const issue = textOption(input, 'issue');
  if (issue !== undefined) checkedIssue(issue, '--issue');
  return issue;
}

/** The id of an issue. Throws a UsageError. */
export function checkedIssue(text: string, where: string): string {
  if (isIssueId(text)) return text;
  throw new UsageError(
    `${where}: ${JSON.stringify(text.slice(0, shownChars))} is not the id of an issue. It has 12 hexadecimal digits, as tracejury issues shows it.`,
  );
}

/** A filter of runs, of this issue only. */
export function issueFilter(issue: string | undefined, filter: Conditions): Conditions {
  if (issue === undefined) return filter;
  if (filter.issue !== undefined) throw new UsageError('--issue and --where both name an issue. Use one of them.');
  return { ...filter, issue };
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** A time: `24h` ago, a date, or RFC 3339. A date or a time without an offset is in UTC. Throws a UsageError. */
export function parseTime(text: string, option: string, nowMs: number): Micros {
  const ago = quantityOf('duration', text);
  if (ago !== undefined) return Math.floor((nowMs - ago) * 1_000);
  const plain = DATE.test(text) ? text.replace(' ', 'T') : undefined;
  const ms = plain === undefined ? Number.NaN : Date.parse(/T/.test(plain) && !/(?:Z|[+-]\d{2}:\d{2})$/.test(plain) ? `${plain}Z` : plain);
  if (Number.isNaN(ms))
    throw new UsageError(
      `--${option}: ${JSON.stringify(text.slice(0, shownChars))} is not a time. Give how long ago, as ${quantityExamples.duration}, or a date such as 2026-01-31 or 2026-01-31T08:00:00Z.`,
    );
  return ms * 1_000;
}
