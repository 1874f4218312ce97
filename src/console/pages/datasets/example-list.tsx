/** The examples of one version: filters, the table, and changes of many at once. */
import { useMemo, useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { useApi, useList } from '../../api/use-api.ts';
import { useSend } from '../../api/use-send.ts';
import { pageAddress } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { tagsOf } from '../../parts/dataset-additions.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { type Filter, FilterBar } from '../../parts/filter-bar.tsx';
import { lineText, unknownText } from '../../parts/format.ts';
import { Loading } from '../../parts/page-frame.tsx';
import { useMay, useOwnName } from '../../parts/session.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAddress } from '../../parts/use-address.ts';
import type { DatasetKey } from './dataset-key.ts';
import { expectationText, hasInexactNumber, inputText } from './example-members.ts';
import { OriginText, ReviewChip } from './example-origin.tsx';

type Example = Schemas['StoredExample'];

export interface ExampleListProps {
  readonly datasetKey: DatasetKey;
  readonly version: number;
  readonly isNewest: boolean;
  readonly onChange: () => void;
}

const filters: readonly Filter[] = [
  { name: 'split', title: 'Split', kind: 'text' },
  { name: 'tag', title: 'Tag', kind: 'text' },
  {
    name: 'review',
    title: 'Review',
    kind: 'choice',
    options: [
      { value: 'draft', title: 'draft, to be edited' },
      { value: 'reviewed', title: 'reviewed' },
    ],
  },
];

export function ExampleList({ datasetKey: { name, tenant }, version, isNewest, onChange }: ExampleListProps) {
  const mayChange = useMay('annotate') && isNewest;
  const { query } = useAddress();
  const { split, tag } = query;
  const review = query['review'] === 'draft' || query['review'] === 'reviewed' ? query['review'] : undefined;
  const list = useList('/datasets/{name}/examples', 'examples', {
    path: { name },
    query: { tenant, version, split, tag, review, limit: 100 },
  });
  const { rows, isLoading, error, more, reload } = list;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const address = (example: Example): string =>
    pageAddress(`/datasets/${name}`, {
      tenant,
      version: isNewest ? undefined : String(version),
      split,
      tag,
      review,
      example: String(example.id),
    });
  const columns = useMemo(
    (): readonly Column<Example>[] => exampleColumns(address, tenant),
    [name, tenant, version, isNewest, split, tag, review],
  );
  const isFiltered = [split, tag, review].some((one) => one !== undefined && one !== '');
  return (
    <>
      <FilterBar filters={filters} label="Filters of examples" />
      {mayChange && selected.size > 0 ? (
        <ManyExamples
          key={version}
          datasetKey={{ name, tenant }}
          version={version}
          examples={rows.filter(({ id }) => selected.has(String(id)))}
          onDone={() => {
            setSelected(new Set());
            onChange();
          }}
        />
      ) : null}
      {error === undefined ? null : <ErrorBox error={error} onRetry={reload} />}
      {rows.length > 0 ? (
        <DataTable
          name="examples"
          caption="Examples in the order in which they came"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => String(id)}
          href={address}
          onEnd={more}
          isLong
          {...(mayChange
            ? {
                selection: {
                  keys: selected,
                  toggle: (id) => setSelected((before) => toggled(before, [id])),
                  toggleAll: () =>
                    setSelected((before) =>
                      toggled(
                        before,
                        rows.map(({ id }) => String(id)),
                      ),
                    ),
                },
              }
            : {})}
        />
      ) : isLoading ? (
        <Loading what="the examples" />
      ) : error === undefined ? (
        <EmptyState title={isFiltered ? 'No example matches' : 'The dataset has no examples'}>
          <p>{isFiltered ? 'Clear a filter.' : 'Add one with the button above, import a file, or add runs from the Runs page.'}</p>
        </EmptyState>
      ) : null}
    </>
  );
}

/** Clears the selection of these ids when all are selected; selects all of them otherwise. */
function toggled(before: ReadonlySet<string>, ids: readonly string[]): ReadonlySet<string> {
  const isIn = ids.every((id) => before.has(id));
  const rest = [...before].filter((id) => !ids.includes(id));
  return new Set(isIn ? rest : [...rest, ...ids]);
}

function exampleColumns(address: (example: Example) => string, tenant: string): readonly Column<Example>[] {
  return [
    {
      key: 'input',
      title: 'Input',
      isText: true,
      cell: (example) => <a href={address(example)}>{lineText(inputText(example.input), 80) || '(no input)'}</a>,
    },
    {
      key: 'expect',
      title: 'Expects',
      cell: (example) => {
        const text = expectationText(example);
        return text === '' ? <span class="dim">nothing yet</span> : lineText(text, 70);
      },
    },
    { key: 'review', title: 'Review', cell: ({ review }) => <ReviewChip review={review} /> },
    { key: 'split', title: 'Split', cell: ({ split }) => split ?? unknownText },
    { key: 'tags', title: 'Tags', cell: ({ tags = [] }) => (tags.length === 0 ? unknownText : lineText(tags.join(', '), 60)) },
    { key: 'origin', title: 'From', cell: ({ origin }) => <OriginText origin={origin} tenant={tenant} /> },
    { key: 'since', title: 'Since version', from: 'wide', isNumber: true, cell: ({ since }) => since },
    { key: 'id', title: 'Id', from: 'wide', cell: ({ id }) => <span class="mono">{lineText(String(id), 24)}</span> },
  ];
}

interface ManyExamplesProps {
  readonly datasetKey: DatasetKey;
  readonly version: number;
  readonly examples: readonly Example[];
  readonly onDone: () => void;
}

/** One request, and so one version, on the version that the page shows: a change by another person in between is a conflict. */
function ManyExamples({ datasetKey: { name, tenant }, version, examples, onDone }: ManyExamplesProps) {
  const api = useApi();
  const by = useOwnName();
  const toast = useToast();
  const { error, send } = useSend();
  const [text, setText] = useState('');
  const inexact = examples.filter(hasInexactNumber).length;

  async function change(note: string, of: (example: Example) => object): Promise<void> {
    await send(async () => {
      const changed = examples.map((example) => {
        const { since: _since, ...own } = { ...example, ...of(example) } as Example;
        return own;
      });
      const answer = await api.send('POST /datasets/{name}/examples', {
        path: { name },
        query: { tenant },
        body: { examples: changed, expected_version: version, note, by },
      });
      toast(`Version ${answer.version}: ${answer.changed} of ${examples.length} examples are changed.`);
      onDone();
    });
  }

  const value = text.trim();
  return (
    <div class="stack">
      <div class="row" role="group" aria-label={`Change ${examples.length} selected examples`}>
        <strong>{examples.length} selected</strong>
        <button type="button" disabled={inexact > 0} onClick={() => void change('reviewed', () => ({ review: 'reviewed' }))}>
          Mark as reviewed
        </button>
        <input
          aria-label="Split or tags"
          placeholder="split or tags"
          value={text}
          maxLength={200}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button
          type="button"
          disabled={value === '' || inexact > 0}
          onClick={() => void change(`split ${value}`, () => ({ split: value }))}
        >
          Set as split
        </button>
        <button
          type="button"
          disabled={value === '' || inexact > 0}
          onClick={() => void change(`tags ${value}`, ({ tags = [] }) => ({ tags: [...new Set([...tags, ...tagsOf(value)])] }))}
        >
          Add as tags
        </button>
      </div>
      {inexact === 0 ? null : <InexactNumbers count={inexact} />}
      {error === undefined ? null : <ErrorBox error={error} onRetry={error.status === 409 ? onDone : undefined} />}
    </div>
  );
}

export function InexactNumbers({ count }: { readonly count: number }) {
  return (
    <p class="box warning">
      <span class="text">
        {count === 1 ? 'This example has' : `${count} of these examples have`} a whole number with more than 15 digits, which a browser
        would round. Export the dataset, edit the file, and import it again.
      </span>
    </p>
  );
}
