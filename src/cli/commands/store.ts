/** `tracejury store`: the tables behind `store.url`. */
import { clock } from '../../service/node-runtime.ts';
import type { ComparedTable, TableRows } from '../../stores/copy/copy.ts';
import type { CopySide } from '../../stores/copy/side.ts';
import { mayBeThere, storeAddress, type StoreAddress, storeName } from '../../stores/index.ts';
import { type Action, commandOfActions } from '../actions.ts';
import { type CommandInput, type CommandProgram, type ExitCode, textOption, UsageError } from '../command.ts';
import { columns } from '../../report/text.ts';
import { progressBar } from '../terminal.ts';

const actions: readonly Action[] = [
  {
    name: 'copy',
    usage: '--from URL --to URL [--dry-run]',
    summary:
      'Copies a store from SQLite to PostgreSQL, or back, while no service uses it. Continues where it stopped when it is started again. Reads both stores again at the end, and exits with 1 when they differ.',
    options: ['from', 'to', 'dry-run'],
    examples: [
      {
        does: 'Moves the store of one machine into a database:',
        line: 'tracejury store copy --from sqlite:tracejury-data/tracejury.db --to postgres://tracejury@db:5432/tracejury',
      },
    ],
    argumentsMax: 0,
    run: copy,
  },
];

export const store: CommandProgram = {
  ...commandOfActions(actions),
  examples: [
    {
      does: 'Counts the rows that would be copied:',
      line: 'tracejury store copy --from sqlite:tracejury-data/tracejury.db --to postgres://tracejury@db:5432/tracejury --dry-run',
    },
  ],
  options: {
    from: { type: 'string', value: 'URL', summary: 'reads this store, written as in store.url; the password may be in PGPASSWORD' },
    to: { type: 'string', value: 'URL', summary: 'writes to this one, which has no rows yet' },
    'dry-run': { type: 'boolean', summary: 'counts the rows and copies none' },
  },
};

async function copy(input: CommandInput): Promise<ExitCode> {
  const [from, to] = [addressOf(input, 'from'), addressOf(input, 'to')];
  if (from.scheme === to.scheme)
    throw new UsageError(
      'Name one store in SQLite and one in PostgreSQL. pg_dump copies databases of PostgreSQL, and a file of SQLite may be copied while no service has it open.',
    );
  if (!mayBeThere(from)) throw new UsageError(`--from: there is no store at ${storeName(from)}.`);
  const { copied, rowsToCopy } = await import('../../stores/copy/copy.ts');
  const now = Math.floor(clock.nowMs() * 1_000);
  return await using(from, async (source) => {
    if (input.options['dry-run'] === true) {
      input.say(`${rowsText(await rowsToCopy(source, now))}\nNothing was copied.`);
      return 0;
    }
    return await using(to, async (target) => {
      let bar: ReturnType<typeof progressBar> | undefined;
      const compared = await copied({
        from: source,
        to: target,
        now,
        onStart(rows) {
          const total = rows.reduce((sum, one) => sum + one.rows, 0);
          input.complain(`Copying ${total} rows from ${source.name} to ${target.name}, then reading them again.`);
          bar = progressBar(process.stderr, 2 * total, { nowMs: clock.nowMs, before: 0 });
        },
        onRows: (done) => bar?.show(done),
      }).finally(() => bar?.end());
      return said(input, compared, target);
    });
  });
}

function said(input: CommandInput, compared: readonly ComparedTable[], target: CopySide): ExitCode {
  const differing = compared.filter(({ hash }) => hash === undefined).map(({ table }) => table);
  input.say(rowsText(compared));
  if (differing.length === 0) {
    input.say('Both stores have the same rows.');
    return 0;
  }
  input.complain(
    `tracejury store: ${target.name} differs from its source in ${differing.join(', ')}: the source changed while it was copied. Empty the target, and copy again while nothing writes to the source.`,
  );
  return 1;
}

function rowsText(tables: readonly (TableRows & Partial<ComparedTable>)[]): string {
  const filled = tables.filter(({ rows, hash }) => rows > 0 || hash === undefined);
  return columns(filled.map(({ table, rows, hash }) => [table, [`${rows}`.padStart(10), hash ?? ''].join('  ')] as const)).join('\n');
}

function addressOf(input: CommandInput, option: 'from' | 'to'): StoreAddress {
  const url = textOption(input, option);
  if (url === undefined) throw new UsageError(`Name the store with --${option}.`);
  const address = storeAddress(url);
  if (address === undefined || address.scheme === 'memory')
    throw new UsageError(`--${option} takes sqlite:PATH or postgres://USER@HOST:PORT/DATABASE.`);
  return address;
}

async function using<Result>(address: StoreAddress, use: (side: CopySide) => Promise<Result>): Promise<Result> {
  const { openCopySide } = await import('../../stores/copy/open.ts');
  const side = await openCopySide(address);
  try {
    return await use(side);
  } finally {
    await side.close();
  }
}
