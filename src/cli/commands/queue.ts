/** `tracejury queue`: runs that people are to answer questions about. */
import type { CommandProgram } from '../command.ts';
import { type Action, commandOfActions } from '../actions.ts';
import { addedRunOptions, configOption, formatOption } from '../common-options.ts';
import { add, answer, list, next, show } from '../queue/actions.ts';
import { serviceOptions } from '../service-api.ts';
import { queueRunsAtOnceMax } from '../../model/store/queue-store.ts';

const shared = ['format', 'tenant', 'url', 'config'] as const;

const actions: readonly Action[] = [
  {
    name: 'list',
    usage: '[options]',
    summary: 'Lists the queues with their numbers of items.',
    options: shared,
    examples: [{ does: 'Lists the queues of a running service:', line: 'tracejury queue list --url http://127.0.0.1:4380' }],
    argumentsMax: 0,
    run: (input) => list(input),
  },
  {
    name: 'show',
    usage: 'NAME [--state STATE] [options]',
    summary: 'Shows what a queue asks, how far people agree, and its items.',
    options: ['state', 'limit', 'person', ...shared],
    examples: [{ does: 'Shows the open items:', line: 'tracejury queue show refunds --state open' }],
    argumentsMax: 1,
    run: (input, [name]) => show(input, name),
  },
  {
    name: 'next',
    usage: 'NAME [--person NAME] [options]',
    summary: 'Leases the next item and shows its run. Exits with 1 when no item is free for the person.',
    options: ['person', ...shared],
    examples: [{ does: 'Opens the next run:', line: 'tracejury queue next refunds --person ann' }],
    argumentsMax: 1,
    run: (input, [name]) => next(input, name),
  },
  {
    name: 'answer',
    usage: 'NAME --item ID --lease N --answer NAME=VALUE…|--skip REASON',
    summary: 'Answers or skips an item. Exits with 1 when the item is closed or another person holds it.',
    options: ['item', 'lease', 'answer', 'comment', 'skip', 'person', ...shared],
    examples: [
      {
        does: 'Answers two questions:',
        line: 'tracejury queue answer refunds --item 12 --lease 1 --answer goal_reached=fail --answer tone=good',
      },
      { does: 'Skips the item:', line: "tracejury queue answer refunds --item 12 --lease 1 --skip 'not in English'" },
    ],
    argumentsMax: 1,
    run: (input, [name]) => answer(input, name),
  },
  {
    name: 'add',
    usage: 'NAME --run TRACE_ID[/SPAN_ID]…|--where FILTER|--issue ID [options]',
    summary: 'Puts stored runs into a queue. Exits with 1 when it leaves out a run.',
    options: ['run', 'where', 'issue', 'since', 'limit', 'note', 'person', ...shared],
    examples: [
      { does: 'Adds one run:', line: 'tracejury queue add refunds --run 4bf92f3577b34da6a3ce929d0e0e4736' },
      {
        does: 'Adds up to 20 runs that failed:',
        line: "tracejury queue add refunds --where 'evaluator=tool_error verdict=fail' --limit 20",
      },
    ],
    argumentsMax: 1,
    run: (input, [name]) => add(input, name),
  },
];

export const queue: CommandProgram = {
  ...commandOfActions(actions),
  examples: [
    { does: 'Opens the next run of a queue:', line: 'tracejury queue next refunds' },
    { does: 'Shows how far people agree:', line: 'tracejury queue show refunds --url http://127.0.0.1:4380' },
  ],
  options: {
    item: { type: 'string', value: 'ID', summary: 'names the item, as next shows it' },
    lease: { type: 'string', value: 'N', summary: 'names the lease, as next shows it' },
    answer: { type: 'string', multiple: true, value: 'NAME=VALUE', summary: 'answers the question NAME; may be repeated' },
    comment: { type: 'string', value: 'TEXT', summary: 'explains the answers' },
    skip: { type: 'string', value: 'REASON', summary: 'skips the item: the person does not get it again' },
    ...addedRunOptions,
    note: { type: 'string', value: 'TEXT', summary: 'notes why the runs are added' },
    state: { type: 'string', value: 'STATE', summary: 'shows items that are open, done, skipped or expired' },
    limit: {
      type: 'string',
      value: 'N',
      summary: `adds (default: 50) or shows (default: 20) at most this number, at most ${queueRunsAtOnceMax}`,
    },
    person: { type: 'string', value: 'NAME', summary: 'names the person (default: the user of the system; with a token, its name)' },
    format: formatOption('writes text (default) or JSON of the API', 'text|json'),
    ...serviceOptions('the runs'),
    config: configOption('uses the queues and the store of this configuration'),
  },
};
