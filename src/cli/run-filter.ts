/** Filters of stored runs on a command line: `--where 'agent=support evaluator=tool_error verdict=fail'`, and times for --since and --until. */
import { type CommandInput, textOption, UsageError } from './command.ts';
import { environmentOf, type Run } from '../model/agent-trace.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import { jsonText } from '../model/json.ts';
import { quantityExamples, quantityOf } from '../model/quantities.ts';
import { matchesTerms, searchTerms, wordsOf } from '../model/search-words.ts';
import { isIssueId } from '../model/store/issue-store.ts';
import { parseCondition, type RunConditionName, runConditionNames, type RunConditions, runConditions } from '../model/store/run-filter.ts';
import type { RunFilter, StoredVerdict } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';
import { promptOf } from '../pipeline/reporting/run-figures.ts';

/** Characters of one filter. */
const filterCharsMax = 4_000;

/** A key, and a value with or without quotes. A value in quotes may contain blanks, and `\"` and `\\`. */
const CONDITION = /\s*([A-Za-z_.-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+))(?=\s|$)/;

/** Several filters apply together. Throws a UsageError that names the faulty condition. */
export function parseRunFilter(texts: readonly string[], option = 'where'): RunConditions {
  const found: RunConditions = {};
  const given = new Set<RunConditionName>();
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

function conditionsOf(text: string, option: string): readonly { readonly key: RunConditionName; readonly value: string }[] {
  const all: { readonly key: RunConditionName; readonly value: string }[] = [];
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

function keyOf(name: string, option: string): RunConditionName {
  if (Object.hasOwn(runConditions, name)) return name as RunConditionName;
  const guess = didYouMean(name, runConditionNames);
  throw new UsageError(
    `--${option}: ${name} is not a key.${guess === undefined ? '' : ` Did you mean ${guess}?`} Keys are ${runConditionNames.join(', ')}.`,
  );
}

function conditionOf(name: RunConditionName, value: string, option: string): RunConditions {
  const found = parseCondition(name, value);
  if (found !== undefined) return found;
  const { takes, schema } = runConditions[name];
  const guess = schema !== undefined && 'enum' in schema ? didYouMean(value, schema.enum) : undefined;
  throw new UsageError(
    `--${option}: ${name}=${JSON.stringify(value.slice(0, shownChars))} is wrong: ${name} takes ${takes}.${guess === undefined ? '' : ` Did you mean ${guess}?`}`,
  );
}

function answerText({ trace: { finalResponse } }: Run): string {
  return typeof finalResponse === 'string' ? finalResponse : finalResponse === undefined ? '' : jsonText(finalResponse);
}

/** True when a run with these verdicts matches, where no store filters. It has no annotations and no issues, and its cost is unknown. */
export function matchesRun(run: Run, verdicts: readonly Pick<StoredVerdict, 'name' | 'verdict'>[], filter: RunFilter): boolean {
  const { trace } = run;
  const { evaluator, verdict, from = -Infinity, to = Infinity, minDuration = -Infinity, maxDuration = Infinity } = filter;
  const { text, tool } = filter;
  const own = {
    tenant: run.tenant,
    agent: trace.agent,
    service: run.service,
    version: run.serviceVersion,
    model: trace.model,
    prompt: filter.prompt === undefined ? undefined : promptOf(trace),
    sessionId: trace.sessionId,
    userId: trace.userId,
    environment: environmentOf(run),
    traceId: run.traceId,
    status: trace.status,
    annotated: false,
    task: undefined,
    label: undefined,
    issue: undefined,
    minCost: undefined,
    maxCost: undefined,
  } as const satisfies { readonly [Member in keyof RunFilter]: unknown };
  const [startedAt, endedAt] = [Number(run.startUnixNano / 1_000n), Number(run.endUnixNano / 1_000n)];
  return (
    (Object.keys(own) as readonly (keyof typeof own)[]).every((member) => filter[member] === undefined || filter[member] === own[member]) &&
    (text === undefined || matchesTerms(wordsOf(`${trace.input ?? ''}\n${answerText(run)}`), searchTerms(text))) &&
    (tool === undefined || trace.toolCalls.some(({ name }) => name === tool)) &&
    endedAt - startedAt >= minDuration &&
    endedAt - startedAt <= maxDuration &&
    startedAt >= from &&
    startedAt < to &&
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
export function issueFilter(issue: string | undefined, filter: RunConditions): RunConditions {
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
