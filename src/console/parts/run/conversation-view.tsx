/** A conversation in order: messages, and tool calls with their results beside them. */
import { useState } from 'preact/hooks';
import { lineText, timeText } from '../format.ts';
import { type Entry, plainText } from './conversation.ts';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';
import './run.css';

export interface ConversationViewProps {
  readonly entries: readonly Entry[];
  /** Opens the span of an entry; absent: entries have no button for it. */
  readonly onOpen?: (target: { readonly spanId: string | undefined; readonly call: number | undefined }) => void;
  /** The span at which the conversation stands: its own entries have no button. */
  readonly atSpan?: string;
  /** Positions of tool calls that verdicts fail. */
  readonly failedCalls?: ReadonlySet<number>;
}

/** Entries that stand without asking. */
const entriesMax = 100;

export function ConversationView({ entries, onOpen, atSpan, failedCalls }: ConversationViewProps) {
  const [limit, setLimit] = useState(entriesMax);
  if (entries.length === 0) return <p class="dim">The spans carry no messages.</p>;
  return (
    <>
      <ol class="conversation">
        {entries.slice(0, limit).map((entry, at) => (
          <li key={at} class={entry.kind === 'message' ? `from-${roleClass(entry.role)}` : 'from-tool'}>
            <EntryView
              entry={entry}
              onOpen={onOpen}
              atSpan={atSpan}
              isFailed={entry.kind === 'call' && entry.index !== undefined && failedCalls?.has(entry.index) === true}
            />
          </li>
        ))}
      </ol>
      {entries.length > limit ? (
        <button type="button" onClick={() => setLimit(limit + 5 * entriesMax)}>
          Show more of {entries.length} entries
        </button>
      ) : null}
    </>
  );
}

interface EntryViewProps {
  readonly entry: Entry;
  readonly onOpen: ConversationViewProps['onOpen'];
  readonly atSpan: string | undefined;
  readonly isFailed: boolean;
}

function EntryView({ entry, onOpen, atSpan, isFailed }: EntryViewProps) {
  switch (entry.kind) {
    case 'message':
      return (
        <>
          <p class="who">
            <strong>{entry.role}</strong>
            {entry.at === undefined ? null : <span class="dim small"> {timeText(entry.at).slice(-8)}</span>}
            {onOpen === undefined || entry.spanId === undefined || entry.spanId === atSpan ? null : (
              <button type="button" class="plain small" onClick={() => onOpen({ spanId: entry.spanId, call: undefined })}>
                Model call
              </button>
            )}
          </p>
          {entry.reasoning === null ? null : (
            <details>
              <summary>Reasoning</summary>
              <LongText text={entry.reasoning} />
            </details>
          )}
          {entry.text === null ? null : <LongText text={entry.text} isCut={entry.isCut} charsMax={entry.role === 'system' ? 300 : 1_200} />}
        </>
      );
    case 'call':
      return <CallEntry entry={entry} onOpen={onOpen} isFailed={isFailed} />;
    case 'result':
      return (
        <>
          <p class="who">
            <strong>result{entry.name === null ? '' : ` of ${entry.name}`}</strong>
          </p>
          <JsonView value={entry.value} label="Result" linesMax={12} />
        </>
      );
  }
}

function CallEntry({
  entry,
  onOpen,
  isFailed,
}: Omit<EntryViewProps, 'entry' | 'atSpan'> & { readonly entry: Extract<Entry, { kind: 'call' }> }) {
  const { name, sent, result, index, spanId } = entry;
  const isError = result?.isError === true;
  const stateOf = isError ? 'failed' : isFailed ? 'has a failed verdict' : result === undefined ? 'no result' : 'returned';
  return (
    <details class={isError || isFailed ? 'call failed' : 'call'}>
      <summary>
        <span class="call-state" aria-hidden="true" title={stateOf}>
          {isError || isFailed ? '✗' : result === undefined ? '○' : '✓'}
        </span>{' '}
        <strong>
          <bdi>{name === '' ? 'a call without a name' : name}</bdi>
        </strong>
        <span class="visually-hidden"> {stateOf}</span> <bdi class="dim mono">{lineText(plainText(sent), 120)}</bdi>
        <span class="call-result">
          {' → '}
          {result === undefined ? <span class="dim">no result</span> : <bdi class="mono">{lineText(plainText(result.value), 120)}</bdi>}
        </span>
      </summary>
      <div class="stack">
        <section>
          <h3>Arguments</h3>
          <JsonView value={sent} label={`Arguments of ${name}`} linesMax={20} />
        </section>
        {result === undefined ? null : (
          <section>
            <h3>{isError ? 'Error' : 'Result'}</h3>
            <JsonView value={result.value} label={`Result of ${name}`} linesMax={20} />
          </section>
        )}
        {onOpen === undefined || (spanId === undefined && index === undefined) ? null : (
          <button type="button" class="small" onClick={() => onOpen({ spanId, call: index })}>
            Open the call
          </button>
        )}
      </div>
    </details>
  );
}

function roleClass(role: string): 'user' | 'assistant' | 'system' | 'tool' {
  return role === 'user' || role === 'system' || role === 'tool' ? role : 'assistant';
}
