/** Annotation queues: what waits for people, and what they have answered. */
import { AnswerState } from '../parts/answer-state.tsx';
import type { Schemas } from '../api/client.ts';
import { useGet } from '../api/use-api.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { countText, timeText, unknownText } from '../parts/format.ts';
import { PageFrame } from '../parts/page-frame.tsx';

type Queue = Schemas['Queue'];

/** Other people answer meanwhile. */
const everyMs = 10_000;

const columns: readonly Column<Queue>[] = [
  {
    key: 'name',
    title: 'Queue',
    cell: (queue) => (queue.configured ? <a href={pathOf(queue)}>{queue.name}</a> : `${queue.name} (not in the configuration)`),
  },
  { key: 'open', title: 'Open', isNumber: true, cell: ({ open }) => countText(open) },
  { key: 'leased', title: 'Held', isNumber: true, cell: ({ leased }) => countText(leased) },
  { key: 'done', title: 'Done', isNumber: true, cell: ({ done }) => countText(done) },
  { key: 'skipped', title: 'Skipped', isNumber: true, cell: ({ skipped }) => countText(skipped) },
  { key: 'expired', title: 'Expired', isNumber: true, cell: ({ expired }) => countText(expired) },
  { key: 'people', title: 'People an item', isNumber: true, cell: ({ people }) => countText(people) },
  { key: 'asks', title: 'Asks', cell: ({ ask }) => ask.map(({ name }) => name).join(', ') },
  { key: 'oldest', title: 'Oldest open', cell: ({ oldest_at: at }) => (at === null ? unknownText : timeText(at)) },
];

export function Queues() {
  const queues = useGet('/queues', {}, { everyMs });
  const { value } = queues;
  return (
    <PageFrame title="Queues">
      <AnswerState of={queues} what="the queues" />
      {value?.queues.length === 0 ? (
        <EmptyState title="There is no queue">
          <p>A queue holds runs that people answer questions about. Their answers validate judges. Add one to the configuration:</p>
          <pre>{'queues:\n  - name: review\n    when: tool_error < 1\n    ask: [ { label: tone, values: [ good, bad ] } ]'}</pre>
        </EmptyState>
      ) : null}
      {value !== undefined && value.queues.length > 0 ? (
        <DataTable caption="Queues" columns={columns} rows={value.queues} rowKey={({ name }) => name} href={addressOf} />
      ) : null}
    </PageFrame>
  );
}

function addressOf(queue: Queue): string | undefined {
  return queue.configured ? pathOf(queue) : undefined;
}

function pathOf({ name }: Queue): string {
  return `/queues/${encodeURIComponent(name)}`;
}
