/** Issues in words: their state, where they are fixed, and the text for a ticket. */
import type { GetAnswer, Schemas } from '../../api/client.ts';
import { pageAddress, type Query } from '../../parts/address.ts';
import { countText, lineText, percentText, timeText } from '../../parts/format.ts';
import type { Filter } from '../../parts/filter.ts';

export type Issue = Schemas['Issue'];
export type IssueRun = Schemas['IssueRun'];
export type Difference = Schemas['IssueDifference'];
export type IssueAnswer = GetAnswer<'/issues/{id}'>;

export const stateWords: { readonly [state in Issue['state']]: string } = {
  open: 'open',
  resolved: 'resolved',
  regressed: 'regressed',
  ignored: 'ignored',
  merged: 'merged',
};

export const issueFilters: readonly Filter[] = [
  { name: 'agent', title: 'Agent', kind: 'text' },
  { name: 'evaluator', title: 'Evaluator', kind: 'text' },
  { name: 'tool', title: 'Tool', kind: 'text' },
  {
    name: 'state',
    title: 'State',
    kind: 'choice',
    noChoice: 'all but merged',
    options: Object.entries(stateWords).map(([value, title]) => ({ value, title })),
  },
  { name: 'since_version', title: 'New since version', kind: 'text' },
];

/** The filters of the address as a query of the API. */
export function issuesQuery(query: Query) {
  const { agent, evaluator, tool, since_version: version, new_since: since } = query;
  const state = issueStates.find((one) => one === query['state']);
  return { agent, evaluator, tool, state, since_version: version, new_since: since };
}

const issueStates = Object.keys(stateWords) as readonly Issue['state'][];

export function issueAddress({ id }: Pick<Issue, 'id'>): string {
  return `/issues/${id}`;
}

/** Versions of the first and the last run; empty without any. */
export function versionsText({ first_version: first, last_version: last }: Pick<Issue, 'first_version' | 'last_version'>): string {
  const [from, to] = [first ?? last ?? '', last ?? first ?? ''];
  return from === to ? from : `${from} to ${to}`;
}

/** The decision in a sentence; empty for an open issue. */
export function decisionText(issue: Omit<Issue, 'days' | 'share'>): string {
  const { state, fixed_in: fixed, ignored_until: until, ignored_until_runs: runs, changed_by: by, changed_at: at } = issue;
  const who = `${by === null ? '' : ` by ${by}`} at ${timeText(at)}`;
  const where =
    fixed === null
      ? ''
      : fixed === 'now'
        ? ' for runs that begin later'
        : fixed === 'next'
          ? ' in the next version'
          : ` in version ${fixed}`;
  switch (state) {
    case 'open':
      return '';
    case 'resolved':
      return `Resolved${where}${who}.`;
    case 'regressed':
      return `It was resolved${where}, and a run has it again since ${timeText(at)}.`;
    case 'ignored':
      return `Ignored${until === null ? '' : ` until ${timeText(until)}`}${runs === null ? '' : ` until it has more than ${countText(runs)} runs`}${who}.`;
    case 'merged':
      return `Merged${who}.`;
  }
}

/** The runs and where they come from. */
export function seenText({
  runs,
  agent,
  evaluator,
  share,
  ...issue
}: Pick<Issue, 'runs' | 'agent' | 'evaluator' | 'share' | 'first_version' | 'last_version'>): string {
  const versions = versionsText(issue);
  const point = share?.point ?? null;
  return [
    `${evaluator} fails in ${countText(runs)} ${runs === 1 ? 'run' : 'runs'} of ${agent ?? 'agents without a name'}`,
    versions === '' ? '' : `, version ${versions}`,
    point === null ? '' : `: ${percentText(point)} of the runs that it judged in the last 14 days`,
    '.',
  ].join('');
}

const propertyTitles: { readonly [property in Difference['property']]: string } = {
  version: 'Version',
  model: 'Model',
  tool: 'Calls tool',
  prompt: 'System prompt',
  service: 'Service',
  environment: 'Environment',
  user: 'User',
  input_tokens: 'Input tokens',
  session_length: 'Turn of the session',
  hour: 'Time of day',
};

const promptChars = 12;

export function differenceName({ property, value }: Pick<Difference, 'property' | 'value'>): {
  readonly title: string;
  readonly value: string;
} {
  return { title: propertyTitles[property], value: property === 'prompt' ? value.slice(0, promptChars) : value };
}

/** Runs that the ticket links to. */
const linkedRunsMax = 3;
const differencesMax = 5;

export interface TicketParts {
  readonly issue: Issue;
  readonly runs: readonly IssueRun[];
  readonly differences: readonly Difference[];
  /** Base URL of the console. */
  readonly origin: string;
}

/** Markdown for a ticket. Words of runs cannot make links, lists or headings in it. */
export function issueMarkdown({ issue, runs, differences, origin }: TicketParts): string {
  const clear = differences.filter(({ differs }) => differs).slice(0, differencesMax);
  const link = (run: IssueRun): string => `${origin}${pageAddress(`/runs/${run.trace_id}/${run.span_id}`, { tenant: run.tenant })}`;
  return [
    `## ${escaped(issue.title)}`,
    '',
    escaped(seenText(issue)),
    '',
    `- First seen: ${timeText(issue.first_seen)}`,
    `- Last seen: ${timeText(issue.last_seen)}`,
    `- State: ${stateWords[issue.state]}`,
    `- Issue: ${origin}${issueAddress(issue)}`,
    ...(runs.length === 0 ? [] : ['', 'Examples:', '', ...runs.slice(0, linkedRunsMax).map((run) => `- ${link(run)}`)]),
    ...(clear.length === 0
      ? []
      : [
          '',
          'More frequent or rarer than in other runs, which need not be the cause:',
          '',
          ...clear.map((one) => {
            const { title, value } = differenceName(one);
            return `- ${title} ${escaped(value)}: ${percentText(one.share)} here, ${percentText(one.other_share)} in other runs`;
          }),
        ]),
    '',
  ].join('\n');
}

/** On one line, without the characters that Markdown and HTML read. */
function escaped(text: string): string {
  return lineText(text).replaceAll(/[\\`*_{}[\]<>#!|~&@]/g, String.raw`\$&`);
}
