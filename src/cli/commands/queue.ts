/** `tracejury queue`: runs that people are to answer questions about. */
import { type Command, type CommandInput, type ExitCode, type Subcommand, UsageError } from '../command.ts';
import { add, answer, list, next, show } from '../queue/actions.ts';
import { queueRunsAtOnceMax } from '../../model/store/queue-store.ts';
import { runFilterKeys } from '../run-filter.ts';

interface Action extends Subcommand {
  /** Most names behind the action. */
  readonly names: number;
  readonly run: (input: CommandInput, name: string | undefined) => Promise<ExitCode>;
}

const shared = ['format', 'tenant', 'url', 'config'] as const;

const actions: readonly Action[] = [
  {
    name: 'list',
    usage: '[options]',
    summary: 'Lists the queues with their numbers of items.',
    options: shared,
    examples: [{ does: 'Lists the queues of a running service:', line: 'tracejury queue list --url http://127.0.0.1:4380' }],
    names: 0,
    run: (input) => list(input),
  },
  {
    name: 'show',
    usage: 'NAME [--state STATE] [options]',
    summary: 'Shows what a queue asks, how far people agree, and its items.',
    options: ['state', 'limit', 'person', ...shared],
    examples: [{ does: 'Shows the open items:', line: 'tracejury queue show refunds --state open' }],
    names: 1,
    run: show,
  },
  {
    name: 'next',
    usage: 'NAME [--person NAME] [options]',
    summary: 'Leases the next item and shows its run. Exits with 1 when no item is free for the person.',
    options: ['person', ...shared],
    examples: [{ does: 'Opens the next run:', line: 'tracejury queue next refunds --person ann' }],
    names: 1,
    run: next,
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
    names: 1,
    run: answer,
  },
  {
    name: 'add',
    usage: 'NAME --run TRACE_ID[/SPAN_ID]…|--where FILTER [options]',
    summary: 'Puts stored runs into a queue. Exits with 1 when it leaves out a run.',
    options: ['run', 'where', 'since', 'limit', 'note', 'person', ...shared],
    examples: [
      { does: 'Adds one run:', line: 'tracejury queue add refunds --run 4bf92f3577b34da6a3ce929d0e0e4736' },
      {
        does: 'Adds up to 20 runs that failed:',
        line: "tracejury queue add refunds --where 'evaluator=tool_error verdict=fail' --limit 20",
      },
    ],
    names: 1,
    run: add,
  },
];

const actionNames = actions.map(({ name }) => name);

export const queue: Command = {
  name: 'queue',
  usage: `${actionNames.join('|')} …`,
  summary: 'Shows and answers annotation queues, of a store file or of a running service.',
  subcommands: actions,
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
    run: {
      type: 'string',
      multiple: true,
      value: 'TRACE_ID[/SPAN_ID]',
      summary: 'adds this run, or the outermost run of a trace; may be repeated',
    },
    where: {
      type: 'string',
      value: 'FILTER',
      summary: `adds the newest runs that match KEY=VALUE conditions; keys are ${runFilterKeys.join(', ')}`,
    },
    since: { type: 'string', value: 'TIME', summary: 'adds only runs that began since this time, as 24h or 2026-01-31' },
    note: { type: 'string', value: 'TEXT', summary: 'notes why the runs are added' },
    state: { type: 'string', value: 'STATE', summary: 'shows items that are open, done, skipped or expired' },
    limit: {
      type: 'string',
      value: 'N',
      summary: `adds (default: 50) or shows (default: 20) at most this number, at most ${queueRunsAtOnceMax}`,
    },
    person: { type: 'string', value: 'NAME', summary: 'names the person (default: the user of the system; with a token, its name)' },
    format: { type: 'string', value: 'text|json', summary: 'writes text (default) or JSON of the API' },
    tenant: { type: 'string', value: 'NAME', summary: 'names the tenant of the runs' },
    url: { type: 'string', value: 'URL', summary: 'asks the console of a running service, with the token in TRACEJURY_TOKEN' },
    config: {
      type: 'string',
      short: 'c',
      value: 'FILE',
      summary: 'uses the queues and the store of this configuration',
    },
  },
  positionalsMax: 2,
  async run(input) {
    const [name = '', ...names] = input.positionals;
    const action = actions.find((one) => one.name === name);
    if (action === undefined)
      throw new UsageError(
        name === '' ? `Name the action: ${actionNames.join(', ')}.` : `${JSON.stringify(name)} is not one of ${actionNames.join(', ')}.`,
      );
    if (names.length > action.names) throw new UsageError(`There are too many arguments, from ${JSON.stringify(names[action.names])} on.`);
    return await action.run(input, names[0]);
  },
};
