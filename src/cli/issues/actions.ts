/** The actions of `tracejury issues`. */
import { type JsonObject, jsonText, member, objectsAt, plainText } from '../../model/json.ts';
import { issueStates } from '../../model/store/issue-store.ts';
import { timeOf } from '../../model/resource.ts';
import { oneLine } from '../../model/one-line.ts';
import { issueMarkdown, timeCell } from '../../report/issue-markdown.ts';
import { runsText } from '../../report/text.ts';
import { clock } from '../../service/node-runtime.ts';
import { type CommandInput, type ExitCode, reportFormat, textOption, UsageError } from '../command.ts';
import { checkedIssue, parseTime } from '../run-filter.ts';
import { personOf, refusedCode, type ServiceAnswer, type ServiceApi, tenantQuery, withServiceApi } from '../service-api.ts';
import { issueLine, issueText } from './issue-text.ts';

const limitDefault = 20;
/** More are read over the API. */
export const issuesListedMax = 2_000;
/** Entries of a page of the API. */
const pageMax = 200;

/** Issues that fail a gate. */
export const failWords = ['new', 'regressed'] as const;
type FailWord = (typeof failWords)[number];

export async function list(input: CommandInput): Promise<ExitCode> {
  const [format, limit, failOn] = [reportFormat(input), limitOf(input), failOnIn(input)];
  const query = filterOf(input);
  return await withServiceApi(input, async (api) => {
    const version = textOption(input, 'since-version');
    const found = await pagesOf(api, query, limit);
    if (found.kind === 'refused') return refusedCode(input, found);
    const { issues, first, isMore } = found;
    for (const one of issues) input.say(format === 'json' ? jsonText(one) : issueLine(one));
    if (isMore) input.complain(`There are more than ${limit} issues; --limit shows more.`);
    const since = (member(first, 'since_version') ?? null) as JsonObject | null;
    if (version !== undefined && since?.['runs'] === 0) {
      const agent = textOption(input, 'agent');
      input.complain(
        `The service has seen no run of version ${version}${agent === undefined ? '' : ` of ${agent}`}, so nothing is known about its issues.`,
      );
      return failOn.length > 0 ? 1 : 0;
    }
    if (version !== undefined && since !== null && format === 'text') input.say(versionLine(version, since));
    if (issues.length === 0) input.complain('There is no such issue.');
    return failOn.length > 0 ? gate(input, failOn, since ?? {}) : 0;
  });
}

function versionLine(version: string, since: JsonObject): string {
  const counts = failWords.map((word) => `${plainText(member(since, word) ?? 0)} ${word}`);
  return `Version ${oneLine(version, 100)}, ${runsText(Number(member(since, 'runs') ?? 0))} since ${timeCell(member(since, 'first_seen'))}: ${counts.join(', ')}.`;
}

/** The service counts the issues on all pages. People have decided on those that are neither open nor regressed. */
function gate(input: CommandInput, failOn: readonly FailWord[], since: JsonObject): ExitCode {
  const failing = failOn.filter((word) => member(since, word) !== 0);
  if (failing.length === 0) return 0;
  const counts = failing.map((word) => `${plainText(member(since, word) ?? 'an unknown number of')} ${word}`);
  input.complain(`The gate does not hold: ${counts.join(', ')}.`);
  return 1;
}

interface Pages {
  readonly kind: 'ok';
  readonly issues: readonly JsonObject[];
  /** The answer with the first page. */
  readonly first: JsonObject;
  readonly isMore: boolean;
}

async function pagesOf(
  api: ServiceApi,
  query: { readonly [name: string]: string },
  most: number,
): Promise<Pages | Extract<ServiceAnswer, { readonly kind: 'refused' }>> {
  const issues: JsonObject[] = [];
  let first: JsonObject | undefined;
  let cursor: string | undefined;
  do {
    const limit = String(Math.min(pageMax, most - issues.length));
    const page = await api.send({
      method: 'get',
      path: ['issues'],
      query: { ...query, limit, ...(cursor === undefined ? {} : { cursor }) },
    });
    if (page.kind === 'refused') return page;
    first ??= page.body;
    issues.push(...objectsAt(page.body, 'issues'));
    const next = member(page.body, 'next');
    cursor = typeof next === 'string' ? next : undefined;
  } while (cursor !== undefined && issues.length < most);
  return { kind: 'ok', issues, first, isMore: cursor !== undefined };
}

function filterOf(input: CommandInput): { readonly [name: string]: string } {
  const state = textOption(input, 'state');
  if (state !== undefined && !issueStates.some((one) => one === state))
    throw new UsageError(`--state takes one of ${issueStates.join(', ')}.`);
  const since = textOption(input, 'since');
  const texts = { agent: 'agent', evaluator: 'evaluator', tool: 'tool', state: 'state', since_version: 'since-version' };
  return {
    ...tenantQuery(input),
    ...Object.fromEntries(
      Object.entries(texts).flatMap(([key, option]) => {
        const value = textOption(input, option);
        return value === undefined ? [] : [[key, value]];
      }),
    ),
    ...(since === undefined ? {} : { since: timeOf(parseTime(since, 'since', clock.nowMs())) }),
  };
}

function failOnIn(input: CommandInput): readonly FailWord[] {
  const given = textOption(input, 'fail-on');
  if (given === undefined) return [];
  const words = given.split(',').map((word) => failWords.find((one) => one === word.trim()));
  if (!words.every((word) => word !== undefined)) throw new UsageError(`--fail-on takes ${failWords.join(', ')}, or both with a comma.`);
  if (textOption(input, 'since-version') === undefined) throw new UsageError('--fail-on needs --since-version, the version to look at.');
  if (textOption(input, 'state') !== undefined) throw new UsageError('--fail-on looks at open and regressed issues. Leave --state out.');
  return words;
}

function limitOf(input: CommandInput): number {
  const limit = textOption(input, 'limit') ?? String(limitDefault);
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > issuesListedMax)
    throw new UsageError(`--limit takes a number from 1 to ${issuesListedMax}.`);
  return Number(limit);
}

export async function show(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const [id, format] = [issueNamed(named), reportFormat(input)];
  const isMarkdown = input.options['markdown'] === true;
  if (isMarkdown && format === 'json') throw new UsageError('--markdown and --format json exclude each other.');
  return await withServiceApi(input, async (api) => {
    const answer = await api.send({ method: 'get', path: ['issues', id], query: tenantQuery(input) });
    if (answer.kind === 'refused') return refusedCode(input, answer);
    const compared = await api.send({ method: 'get', path: ['issues', id, 'differences'], query: tenantQuery(input) });
    const { differences = [], users = 0, users_most: most = [] } = compared.kind === 'ok' ? compared.body : {};
    const shown = { ...answer.body, differences, users, users_most: most };
    if (format === 'json') input.say(jsonText(shown));
    else input.say(isMarkdown ? issueMarkdown(shown, textOption(input, 'url')) : issueText(shown).join('\n'));
    return 0;
  });
}

export async function resolve(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const version = textOption(input, 'in');
  const isNext = input.options['next'] === true;
  if (version !== undefined && isNext) throw new UsageError('--in and --next exclude each other.');
  return await decided(input, named, {
    state: 'resolved',
    ...(version === undefined ? {} : { version }),
    ...(isNext ? { next_version: true } : {}),
  });
}

export async function ignore(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const [until, runs] = [textOption(input, 'until'), textOption(input, 'runs')];
  if (runs !== undefined && (!/^\d{1,15}$/.test(runs) || Number(runs) < 1)) throw new UsageError('--runs takes a number from 1.');
  return await decided(input, named, {
    state: 'ignored',
    ...(until === undefined ? {} : { until: timeOf(endOf(until)) }),
    ...(runs === undefined ? {} : { until_runs: Number(runs) }),
  });
}

/** A duration is from now on. */
function endOf(text: string): number {
  const nowMs = clock.nowMs();
  const at = parseTime(text, 'until', nowMs);
  const isDuration = !/^\d{4}-/.test(text);
  const end = isDuration ? 2 * nowMs * 1_000 - at : at;
  if (end <= nowMs * 1_000) throw new UsageError(`--until: ${JSON.stringify(text)} is not in the future.`);
  return end;
}

export async function open(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  return await decided(input, named, { state: 'open' });
}

export async function merge(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const into = textOption(input, 'into');
  if (into === undefined) throw new UsageError('--into names the issue that takes the runs.');
  return await decided(input, named, { state: 'merged', into: checkedIssue(into, '--into') });
}

async function decided(input: CommandInput, named: string | undefined, decision: JsonObject): Promise<ExitCode> {
  const [id, format, note, by] = [issueNamed(named), reportFormat(input), textOption(input, 'note'), personOf(input, 'by')];
  return await withServiceApi(input, async (api) => {
    const body = { ...decision, ...(note === undefined ? {} : { note }), ...(by === undefined ? {} : { by }) };
    const answer = await api.send({ method: 'patch', path: ['issues', id], query: tenantQuery(input), body });
    if (answer.kind === 'refused') return refusedCode(input, answer);
    input.say(format === 'json' ? jsonText(answer.body) : issueLine((member(answer.body, 'issue') ?? {}) as JsonObject));
    return 0;
  });
}

function issueNamed(named: string | undefined): string {
  if (named === undefined) throw new UsageError('Name the issue by its id, as tracejury issues shows it.');
  return checkedIssue(named, 'issue');
}
