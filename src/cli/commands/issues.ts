/** `tracejury issues`: classes of failed verdicts, what people decide on them, and a gate after a release. */
import { issueStates } from '../../model/store/issue-store.ts';
import { type Action, commandOfActions } from '../actions.ts';
import type { CommandProgram } from '../command.ts';
import { configOption, formatOption } from '../common-options.ts';
import { failWords, ignore, issuesListedMax, list, merge, open, resolve, show } from '../issues/actions.ts';
import { serviceOptions } from '../service-api.ts';

const shared = ['format', 'tenant', 'url', 'config'] as const;
const decision = ['note', 'by', ...shared] as const;

const actions: readonly Action[] = [
  {
    name: 'list',
    usage: '[--since-version V [--fail-on new,regressed]] [options]',
    summary:
      'Lists issues, those with the most impact first. With --fail-on it is a gate: it exits with 1 when the version has such an issue, and when no run of the version was seen.',
    options: ['agent', 'evaluator', 'tool', 'state', 'since', 'since-version', 'fail-on', 'limit', ...shared],
    examples: [
      { does: 'Lists the open issues of an agent:', line: 'tracejury issues list --agent support --state open' },
      {
        does: 'Fails when a release has introduced an issue or brought one back:',
        line: 'tracejury issues --agent support --since-version 1.3 --fail-on new,regressed --url http://127.0.0.1:4380',
      },
    ],
    argumentsMax: 0,
    run: (input) => list(input),
  },
  {
    name: 'show',
    usage: 'ID [--markdown] [options]',
    summary: 'Shows an issue with its figures by version and its newest runs.',
    options: ['markdown', ...shared],
    examples: [{ does: 'Writes a ticket:', line: 'tracejury issues show 25d139890769 --markdown' }],
    argumentsMax: 1,
    run: (input, [id]) => show(input, id),
  },
  {
    name: 'resolve',
    usage: 'ID [--in VERSION|--next] [options]',
    summary:
      'Marks an issue as fixed: in a version, in the next version, or for all later runs. A run that should not have it regresses it.',
    options: ['in', 'next', ...decision],
    examples: [{ does: 'Marks it as fixed in a version:', line: "tracejury issues resolve 25d139890769 --in 1.4 --note 'schema fixed'" }],
    argumentsMax: 1,
    run: (input, [id]) => resolve(input, id),
  },
  {
    name: 'ignore',
    usage: 'ID [--until TIME] [--runs N] [options]',
    summary: 'Keeps an issue quiet, for good or until a time or a number of runs.',
    options: ['until', 'runs', ...decision],
    examples: [{ does: 'Keeps it quiet for a week:', line: 'tracejury issues ignore 25d139890769 --until 7d' }],
    argumentsMax: 1,
    run: (input, [id]) => ignore(input, id),
  },
  {
    name: 'open',
    usage: 'ID [options]',
    summary: 'Reverses a decision.',
    options: decision,
    examples: [{ does: 'Opens it again:', line: 'tracejury issues open 25d139890769' }],
    argumentsMax: 1,
    run: (input, [id]) => open(input, id),
  },
  {
    name: 'merge',
    usage: 'ID --into ID [options]',
    summary: 'Gives the runs of an issue, and later ones, to another issue of the same agent and evaluator.',
    options: ['into', ...decision],
    examples: [{ does: 'Merges two issues:', line: 'tracejury issues merge 25d139890769 --into 0c3e8f21aa97' }],
    argumentsMax: 1,
    run: (input, [id]) => merge(input, id),
  },
];

export const issues: CommandProgram = {
  ...commandOfActions(actions, 'list'),
  examples: [
    { does: 'Lists the issues of a running service:', line: 'tracejury issues --url http://127.0.0.1:4380' },
    { does: 'Shows one of them:', line: 'tracejury issues show 25d139890769' },
  ],
  options: {
    agent: { type: 'string', value: 'A', summary: 'lists only issues of this agent' },
    evaluator: { type: 'string', value: 'NAME', summary: 'lists only issues of this evaluator' },
    tool: { type: 'string', value: 'NAME', summary: 'lists only issues of this tool' },
    state: {
      type: 'string',
      value: 'STATE',
      summary: `lists only issues in this state: ${issueStates.join(', ')} (default: all but merged)`,
    },
    since: { type: 'string', value: 'TIME', summary: 'lists only issues with a run that began since this time, such as 24h or 2026-01-31' },
    'since-version': {
      type: 'string',
      value: 'V',
      summary: 'lists only issues that began with this version or a later one, and those that have regressed since it was seen first',
    },
    'fail-on': {
      type: 'string',
      value: failWords.join(','),
      summary:
        'exits with 1 when one of these issues is listed, or no run of --since-version was seen; ignored and resolved ones do not count',
    },
    limit: { type: 'string', value: 'N', summary: `lists at most this number (default: 20, at most ${issuesListedMax})` },
    markdown: { type: 'boolean', summary: 'writes Markdown, for a ticket; with --url it links to the console' },
    in: { type: 'string', value: 'VERSION', summary: 'names the version in which it is fixed' },
    next: { type: 'boolean', summary: 'marks it as fixed in the first version that is seen from now on' },
    until: { type: 'string', value: 'TIME', summary: 'opens it again at this time, as 7d or 2026-01-31' },
    runs: { type: 'string', value: 'N', summary: 'opens it again when it has more runs than this' },
    into: { type: 'string', value: 'ID', summary: 'names the issue that takes the runs' },
    note: { type: 'string', value: 'TEXT', summary: 'notes the reason' },
    by: { type: 'string', value: 'NAME', summary: 'names the person (default: the user of the system; with a token, its name)' },
    format: formatOption('writes text (default) or JSON of the API', 'text|json'),
    ...serviceOptions('the runs'),
    config: configOption('uses the store of this configuration (default: sqlite:./tracejury-data/tracejury.db)'),
  },
};
