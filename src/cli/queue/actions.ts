/** The actions of `tracejury queue`. */
import { isJsonObject, type JsonObject, jsonText, type JsonValue, member, plainText, objectsAt } from '../../model/json.ts';
import { parseSpanId, parseTraceId, tenant } from '../../model/ids.ts';
import { isDatasetName } from '../../model/store/dataset-store.ts';
import { queueItemStates, queueRunsAtOnceMax } from '../../model/store/queue-store.ts';
import { type CommandInput, type ExitCode, reportFormat, textOption, textOptions, UsageError } from '../command.ts';
import { addedRunsFault } from '../common-options.ts';
import { issueFilter, issueOption, parseRunFilter, parseTime } from '../run-filter.ts';
import { oneLine } from '../../model/one-line.ts';
import { personOf, refusedCode, type ServiceAnswer, tenantQuery, withServiceApi } from '../service-api.ts';
import { itemLine, itemText, queueLine, queueText } from './queue-text.ts';

const addLimitDefault = 50;
const itemsShownDefault = 20;

export async function list(input: CommandInput): Promise<ExitCode> {
  const format = reportFormat(input);
  return await withServiceApi(input, async (api) => {
    const answer = await api.send({ method: 'get', path: ['queues'], query: tenantQuery(input) });
    if (answer.kind === 'refused') return refusedCode(input, answer);
    const all = objectsAt(answer.body, 'queues');
    for (const one of all) input.say(format === 'json' ? jsonText(one) : queueLine(one));
    if (all.length === 0) input.complain('There is no queue. Add one under queues in the configuration.');
    return 0;
  });
}

export async function show(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const [name, format] = [queueName(named), reportFormat(input)];
  const state = textOption(input, 'state');
  if (state !== undefined && !queueItemStates.some((one) => one === state))
    throw new UsageError(`--state takes one of ${queueItemStates.join(', ')}.`);
  const limit = limitOf(input, itemsShownDefault);
  return await withServiceApi(input, async (api) => {
    const figures = await api.send({ method: 'get', path: ['queues', name], query: tenantQuery(input) });
    if (figures.kind === 'refused') return refusedCode(input, figures);
    const query = { ...tenantQuery(input), limit: String(limit), ...(state === undefined ? {} : { state }), ...personIn(input) };
    const page = await api.send({ method: 'get', path: ['queues', name, 'items'], query });
    if (page.kind === 'refused') return refusedCode(input, page);
    const items = objectsAt(page.body, 'items');
    if (format === 'json') input.say(jsonText({ ...figures.body, items }));
    else for (const line of [...queueText(figures.body), '', ...items.map(itemLine)]) input.say(line);
    if (member(page.body, 'next') !== null) input.complain(`There are more than ${limit} items; --limit shows more.`);
    return 0;
  });
}

export async function next(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const [name, format] = [queueName(named), reportFormat(input)];
  return await withServiceApi(input, async (api) => {
    const answer = await api.send({ method: 'post', path: ['queues', name, 'next'], query: tenantQuery(input), body: personIn(input) });
    if (answer.kind === 'refused') return refusedCode(input, answer);
    const item = member(answer.body, 'item') ?? null;
    if (format === 'json') input.say(jsonText(answer.body));
    else if (isJsonObject(item)) for (const line of itemText(answer.body, item, input)) input.say(line);
    if (isJsonObject(item)) return 0;
    input.complain(`No item of ${name} is free for this person (${plainText(member(answer.body, 'leased') ?? 0)} are held by others).`);
    return 1;
  });
}

export async function answer(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const [name, format] = [queueName(named), reportFormat(input)];
  const [item, lease] = [wholeOption(input, 'item'), wholeOption(input, 'lease')];
  const [given, reason, comment] = [textOptions(input, 'answer'), textOption(input, 'skip'), textOption(input, 'comment')];
  if ((given.length === 0) === (reason === undefined))
    throw new UsageError('Answer the questions with --answer NAME=VALUE, or skip the item with --skip REASON.');
  const shared = { item, lease, ...personIn(input) };
  return await withServiceApi(input, async (api) => {
    const questions = reason === undefined ? await api.send({ method: 'get', path: ['queues', name] }) : undefined;
    if (questions?.kind === 'refused') return refusedCode(input, questions);
    const result: ServiceAnswer =
      questions === undefined
        ? await api.send({ method: 'post', path: ['queues', name, 'skip'], body: { ...shared, reason: reason ?? '' } })
        : await api.send({
            method: 'post',
            path: ['queues', name, 'answers'],
            body: { ...shared, answers: answersOf(given, objectsAt(questions.body, 'ask')), ...(comment === undefined ? {} : { comment }) },
          });
    if (result.kind === 'refused') return refusedCode(input, result);
    input.say(format === 'json' ? jsonText(result.body) : itemLine(result.body));
    return 0;
  });
}

export async function add(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const [name, format] = [queueName(named), reportFormat(input)];
  const [runs, where, note] = [textOptions(input, 'run').map(runNamed), textOption(input, 'where'), textOption(input, 'note')];
  const issue = issueOption(input);
  if ((runs.length === 0) === (where === undefined && issue === undefined)) throw new UsageError(addedRunsFault);
  if (runs.length > queueRunsAtOnceMax) throw new UsageError(`--run may be repeated ${queueRunsAtOnceMax} times at most.`);
  const since = textOption(input, 'since');
  const of = textOption(input, 'tenant') ?? '';
  const filter =
    runs.length > 0 ? undefined : { tenant: tenant(of), ...issueFilter(issue, where === undefined ? {} : parseRunFilter([where])) };
  const limit = limitOf(input, addLimitDefault);
  return await withServiceApi(input, async (api) => {
    const from = since === undefined ? {} : { from: parseTime(since, 'since', Date.now()) };
    const found = filter === undefined ? runs : (await api.runs({ ...filter, ...from }, limit)).map(runOf);
    if (found.length === 0) {
      input.complain('No stored run matches.');
      return 1;
    }
    const body = { runs: found, ...(note === undefined ? {} : { note }), ...personIn(input) };
    const result = await api.send({ method: 'post', path: ['queues', name, 'items'], query: { tenant: filter?.tenant ?? of }, body });
    if (result.kind === 'refused') return refusedCode(input, result);
    const items = objectsAt(result.body, 'items');
    if (format === 'json') input.say(jsonText(result.body));
    else input.say(`${name}: ${outcomesText(items)}`);
    return items.some((one) => member(one, 'outcome') === 'full' || member(one, 'outcome') === 'not_stored') ? 1 : 0;
  });
}

const outcomeTexts: { readonly [outcome: string]: string } = {
  added: 'added',
  reopened: 'opened again',
  known: 'there before',
  full: 'left out, as the queue has its most open items',
  not_stored: 'not stored',
};

function outcomesText(items: readonly JsonObject[]): string {
  return [...Map.groupBy(items, (one) => plainText(member(one, 'outcome') ?? ''))]
    .map(([outcome, own]) => `${own.length} ${outcomeTexts[outcome] ?? outcome}`)
    .join(', ');
}

function runNamed(text: string): JsonObject {
  const [trace = '', span, ...more] = text.split('/');
  const [traceId, spanId] = [parseTraceId(trace), span === undefined ? null : parseSpanId(span)];
  if (traceId === undefined || spanId === undefined || more.length > 0)
    throw new UsageError('--run takes a trace id of 32 hexadecimal digits, or TRACE_ID/SPAN_ID with a span id of 16.');
  return { trace_id: traceId, span_id: spanId };
}

function runOf(row: JsonObject): JsonObject {
  return { trace_id: member(row, 'trace_id') ?? null, span_id: member(row, 'span_id') ?? null };
}

function queueName(named: string | undefined): string {
  if (named === undefined) throw new UsageError('Name the queue.');
  if (!isDatasetName(named))
    throw new UsageError(`${JSON.stringify(named)} names no queue. A name has 1 to 100 letters, digits, dots, underscores and hyphens.`);
  return named;
}

function limitOf(input: CommandInput, preset: number): number {
  const limit = textOption(input, 'limit') ?? String(preset);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > queueRunsAtOnceMax)
    throw new UsageError(`--limit takes a number from 1 to ${queueRunsAtOnceMax}.`);
  return Number(limit);
}

function wholeOption(input: CommandInput, name: string): number {
  const given = textOption(input, name) ?? '';
  if (!/^\d{1,15}$/.test(given) || Number(given) < 1) throw new UsageError(`--${name} takes the number that tracejury queue next shows.`);
  return Number(given);
}

/** Names the person, unless the service knows them by a token. */
function personIn(input: CommandInput): { readonly person?: string } {
  const person = personOf(input, 'person');
  return person === undefined ? {} : { person };
}

/** Reads NAME=VALUE, a number where the question asks for a score. */
function answersOf(given: readonly string[], questions: readonly JsonObject[]): readonly JsonValue[] {
  return given.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError(`--answer takes NAME=VALUE, and ${JSON.stringify(oneLine(text, 60))} has no =.`);
    const [name, value] = [text.slice(0, at), text.slice(at + 1)];
    const kind = questions.map((one) => (member(one, 'name') === name ? member(one, 'kind') : undefined)).find((one) => one !== undefined);
    return { name, value: kind === 'score' && /^-?\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value };
  });
}
