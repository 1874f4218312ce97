/** An issue of the API as Markdown, for a ticket. */
import { isJsonObject, type JsonObject, type JsonValue, member, plainText, objectsAt } from '../model/json.ts';
import { issueDays } from '../model/issue-days.ts';
import { cell, markdownTable } from './markdown.ts';
import { percent, runsText } from './text.ts';

const titleChars = 300;
const textChars = 1_000;
const rowsShown = 20;
const usersShown = 5;

/** To the minute, in UTC. */
export function timeCell(value: JsonValue | undefined): string {
  return plainText(value ?? '')
    .slice(0, 16)
    .replace('T', ' ');
}

const textAt = (of: JsonObject, key: string): string => plainText(member(of, key) ?? '');

/** The facts of an issue by their names. The texts are foreign. */
export function issueFacts(issue: JsonObject): readonly (readonly [string, string])[] {
  const seen = (at: string, version: string): string =>
    `${timeCell(member(issue, at))}${textAt(issue, version) === '' ? '' : `, version ${textAt(issue, version)}`}`;
  const facts = [
    ['issue', textAt(issue, 'id')],
    ['state', stateText(issue)],
    ['agent', textAt(issue, 'agent')],
    ['evaluator', textAt(issue, 'evaluator')],
    ['tool', textAt(issue, 'tool')],
    ['runs', `${runsText(Number(member(issue, 'runs') ?? 0))}${shareText(member(issue, 'share') ?? null)}`],
    ['sessions', Number(member(issue, 'sessions') ?? 0) === 0 ? '' : `${textAt(issue, 'sessions')} in ${issueDays} days`],
    ['first seen', seen('first_seen', 'first_version')],
    ['last seen', seen('last_seen', 'last_version')],
    ['note', textAt(issue, 'note')],
  ] as const;
  return facts.filter(([, text]) => text !== '');
}

/** The fact about the users of the issue's runs; none when no run names a user. */
export function userFacts(answer: JsonObject): readonly (readonly [string, string])[] {
  const [users, most] = [Number(member(answer, 'users') ?? 0), objectsAt(answer, 'users_most').slice(0, usersShown)];
  if (users === 0) return [];
  const named = most.map((one) => `${textAt(one, 'user')} (${textAt(one, 'runs')})`).join(', ');
  return [['users', `${users}: ${named}${users > most.length ? ' and more' : ''}`]];
}

/** Properties that the runs of the issue have more often or less often than others. */
export function issueDifferenceCells(answer: JsonObject): readonly (readonly string[])[] {
  const part = (of: JsonObject, key: string): string => percent(Number(member(of, key) ?? 0));
  return objectsAt(answer, 'differences')
    .filter((one) => member(one, 'differs') === true)
    .map((one) => [
      `${textAt(one, 'property').replaceAll('_', ' ')} ${textAt(one, 'value')}`,
      `${part(one, 'share')} of ${textAt(one, 'of')}`,
      `${part(one, 'other_share')} of ${textAt(one, 'other_of')}`,
    ]);
}

export const differenceHeads = ['associated with', 'runs of the issue', 'other runs'] as const;

function stateText(issue: JsonObject): string {
  const [fixedIn, until, runs] = [textAt(issue, 'fixed_in'), textAt(issue, 'ignored_until'), textAt(issue, 'ignored_until_runs')];
  const fix = fixedIn === '' || fixedIn === 'now' ? '' : fixedIn === 'next' ? ' in the next version' : ` in version ${fixedIn}`;
  const ends = [until === '' ? [] : [timeCell(until)], runs === '' ? [] : [`it has more than ${runs} runs`]].flat();
  const into = textAt(issue, 'merged_into');
  const by = textAt(issue, 'changed_by');
  return [
    textAt(issue, 'state'),
    textAt(issue, 'state') === 'regressed' && fix !== '' ? `, fixed${fix}` : fix,
    ends.length === 0 ? '' : ` until ${ends.join(' or ')}`,
    into === '' ? '' : ` into ${into}`,
    by === '' ? '' : `, by ${by} at ${timeCell(member(issue, 'changed_at'))}`,
  ].join('');
}

function shareText(value: JsonValue): string {
  if (!isJsonObject(value)) return '';
  const [point, low, high] = ['point', 'low', 'high'].map((key) => member(value, key));
  return typeof point === 'number' && typeof low === 'number' && typeof high === 'number'
    ? `; ${percent(point)} of the judged runs (${percent(low)} to ${percent(high)})`
    : '';
}

/** `answer`: of GET /api/v1/issues/{id}, with the `differences` and users of that path when they are known. `address`: that of the console, for links. */
export function issueMarkdown(answer: JsonObject, address?: string): string {
  const value = member(answer, 'issue') ?? null;
  const issue = isJsonObject(value) ? value : {};
  const base = address?.replace(/\/+$/, '');
  const tenant = textAt(issue, 'tenant');
  const query = tenant === '' ? '' : `?tenant=${encodeURIComponent(tenant)}`;
  const [versions, differences] = [objectsAt(answer, 'versions'), issueDifferenceCells(answer)];
  const examples = objectsAt(answer, 'runs').filter((run) => member(run, 'explanation') !== null);
  const runLine = (run: JsonObject): string => {
    const path = `${textAt(run, 'trace_id')}/${textAt(run, 'span_id')}`;
    const name = base === undefined ? `\`${path}\`` : `[${path}](${base}/runs/${path}${query})`;
    const texts = ['input', 'explanation'].flatMap((key) =>
      textAt(run, key) === '' ? [] : [`  - ${key}: ${cell(textAt(run, key), textChars)}`],
    );
    return [`- ${name}, ${timeCell(member(run, 'started_at'))}`, ...texts].join('\n');
  };
  return [
    `## ${cell(textAt(issue, 'title'), titleChars)}`,
    [...issueFacts(issue), ...userFacts(answer)].map(([name, text]) => `- ${name}: ${cell(text, textChars)}`).join('\n'),
    ...(versions.length === 0
      ? []
      : markdownTable({
          heads: ['version', 'runs'],
          rows: versions,
          write: (one) => [textAt(one, 'version') || '(none)', textAt(one, 'runs')],
          numbers: (column) => column === 1,
          most: rowsShown,
        })),
    ...(differences.length === 0
      ? []
      : markdownTable({ heads: differenceHeads, rows: differences, write: (cells) => cells, most: rowsShown })),
    ...(examples.length === 0 ? [] : ['### Examples', examples.map(runLine).join('\n')]),
    ...(base === undefined ? [] : [`[The issue](${base}/issues/${textAt(issue, 'id')}${query})`]),
  ].join('\n\n');
}
