/** The spans of a run as a waterfall: a tree by the keys of the arrows, with each span's place in time. Only rows on screen are drawn. */
import { Component } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { countText } from '../../parts/format.ts';
import type { PageSpan } from '../../parts/run/timeline-spans.ts';
import { durationText } from '../../parts/run/times.ts';
import { isEssential, spanTree, treeRows, type WaterfallRow } from '../../parts/run/waterfall.ts';
import { useVirtualRows } from '../../parts/virtual-rows.ts';

type Span = PageSpan;
type Row = WaterfallRow<Span>;

export interface SpanVerdicts {
  readonly failed: readonly string[];
  readonly passed: readonly string[];
}

export interface TimelineProps {
  readonly spans: readonly Span[];
  readonly verdicts: ReadonlyMap<string, SpanVerdicts>;
  /** Spans of calls that wait for a person: the exception on them is how they wait. */
  readonly waiting: ReadonlySet<string>;
  /** Id of the span of the first wrong step. */
  readonly firstWrong: string | undefined;
  /** Id of the selected span. */
  readonly selected: string | undefined;
  readonly onSelect: (spanId: string) => void;
  /** Called by a key that moves the selection; the next one may follow at once. */
  readonly onMove: (spanId: string) => void;
  /** Called by Enter: the details take the focus. */
  readonly onEnter: () => void;
}

const rowHeight = 28;
/** Fewer spans are seen without a search. */
const searchFrom = 12;

/** True when a row's text, or its span's name or error, has all words of the search. */
function filterOf({
  search,
  isFailedOnly,
  verdicts,
}: {
  readonly search: string;
  readonly isFailedOnly: boolean;
  readonly verdicts: ReadonlyMap<string, SpanVerdicts>;
}): (span: Span) => boolean {
  const sought = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return (span) => {
    if (isFailedOnly && span.status !== 'error' && (verdicts.get(span.span_id)?.failed.length ?? 0) === 0) return false;
    const text = `${labelOf(span)} ${span.name} ${span.status_message}`.toLowerCase();
    return sought.every((word) => text.includes(word));
  };
}

export function Timeline({ spans, verdicts, waiting, firstWrong, selected, onSelect, onMove, onEnter }: TimelineProps) {
  const [isWhole, setWhole] = useState(false);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [openGroups, setOpenGroups] = useState<ReadonlySet<string>>(new Set());
  const frame = useRef<HTMLDivElement>(null);
  /** A selected step has a row, too. */
  const step = useMemo(() => spans.find((span) => span.span_id === selected && !isEssential(span))?.span_id, [spans, selected]);
  const [search, setSearch] = useState('');
  const [isFailedOnly, setFailedOnly] = useState(false);
  const isFiltered = isFailedOnly || search.trim() !== '';
  const shown = useMemo(() => {
    if (isFiltered) return filterOf({ search, isFailedOnly, verdicts });
    return isWhole ? undefined : (span: Span) => isEssential(span) || verdicts.has(span.span_id) || span.span_id === step;
  }, [isFiltered, search, isFailedOnly, isWhole, verdicts, step]);
  const tree = useMemo(() => spanTree(spans, shown), [spans, shown]);
  const rows = useMemo(() => treeRows(tree, { closed, openGroups, apart: firstWrong }), [tree, closed, openGroups, firstWrong]);
  const { hidden, fromMicros, toMicros } = tree;
  const { items, before, after, scrollTo } = useVirtualRows(rows.length, frame, rowHeight);
  const places = useMemo(() => placesOf(rows), [rows]);
  const current = selected === undefined ? -1 : (places.get(selected) ?? -1);

  // A span that another part of the page has chosen comes into sight.
  useEffect(() => {
    if (current >= 0) scrollTo(current);
    else if (closed.size > 0 && spans.some((span) => span.span_id === selected)) setClosed(new Set());
  }, [selected, rows.length]);

  const choose = (to: number): void => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, to))];
    if (row !== undefined) onMove(row.span.span_id);
  };
  const toggle = (row: Row): void => {
    if (row.grouped === undefined) setClosed((set) => toggled(set, row.key));
    else setOpenGroups((set) => toggled(set, row.key));
  };
  const pressed = (event: KeyboardEvent): void => {
    const row = rows[current];
    const press = keys[event.key];
    if (press === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (press === 'enter') return onEnter();
    if (press === 'open' || press === 'close') {
      if (row === undefined) return choose(0);
      const canOpen = row.grouped !== undefined || (row.below > 0 && !row.isOpen);
      if (press === 'open' ? canOpen : row.isOpen) toggle(row);
      else if (press === 'close') choose(parentOf(rows, current));
      else choose(current + 1);
      return;
    }
    choose(press === 'first' ? 0 : press === 'last' ? rows.length - 1 : current + press);
  };

  return (
    <div class="timeline">
      <div class="row spread timeline-head">
        <span class="dim small">
          {rows.length} {rows.length === 1 ? 'row' : 'rows'}
          {isFiltered ? ` of ${countText(spans.length)} spans` : `, ${durationText(toMicros - fromMicros)}`}
        </span>
        {spans.length < searchFrom ? null : (
          <>
            <input
              type="search"
              data-search
              value={search}
              maxLength={200}
              placeholder="Name, tool, model or error"
              aria-label="Search the spans"
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
            <label class="row">
              <input type="checkbox" checked={isFailedOnly} onChange={() => setFailedOnly(!isFailedOnly)} />
              Failed only
            </label>
          </>
        )}
        {!isFiltered && (hidden > 0 || isWhole) ? (
          <label class="row">
            <input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} />
            Show steps of the framework{hidden > 0 ? ` (${hidden})` : ''}
          </label>
        ) : null}
      </div>
      {isFiltered && rows.length === 0 ? <p class="dim">No span matches.</p> : null}
      <div
        ref={frame}
        class="timeline-rows"
        style={{ height: `${rows.length * rowHeight + 2}px` }}
        role="tree"
        aria-label="Spans of the run"
        tabIndex={0}
        aria-activedescendant={current < 0 ? undefined : `row-${current}`}
        onKeyDown={pressed}
      >
        <div style={{ height: `${before}px` }} role="none" />
        {items.map(({ index }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <TimelineRow
              key={row.key}
              row={row}
              index={index}
              count={rows.length}
              isSelected={index === current}
              failed={verdicts.get(row.span.span_id)?.failed.length ?? 0}
              isWaiting={waiting.has(row.span.span_id)}
              isFirstWrong={row.span.span_id === firstWrong}
              onSelect={onSelect}
              onToggle={toggle}
            />
          );
        })}
        <div style={{ height: `${after}px` }} role="none" />
      </div>
    </div>
  );
}

const keys: { readonly [key: string]: 'open' | 'close' | 'first' | 'last' | 'enter' | number } = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 15,
  PageUp: -15,
  ArrowRight: 'open',
  ArrowLeft: 'close',
  Home: 'first',
  End: 'last',
  Enter: 'enter',
};

/** The row of each span: its own one rather than that of its group. */
function placesOf(rows: readonly Row[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const own = new Set<string>();
  for (const [at, { span, grouped }] of rows.entries()) {
    const isOwn = grouped === undefined;
    if (places.has(span.span_id) && (!isOwn || own.has(span.span_id))) continue;
    places.set(span.span_id, at);
    if (isOwn) own.add(span.span_id);
  }
  return places;
}

function parentOf(rows: readonly Row[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  for (let above = at - 1; above >= 0; above--) if ((rows[above]?.depth ?? 0) < depth) return above;
  return at;
}

function toggled(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

interface TimelineRowProps {
  readonly row: Row;
  readonly index: number;
  readonly count: number;
  readonly isSelected: boolean;
  /** Number of verdicts that fail the span. */
  readonly failed: number;
  readonly isWaiting: boolean;
  readonly isFirstWrong: boolean;
  readonly onSelect: (spanId: string) => void;
  readonly onToggle: (row: Row) => void;
}

/** Deeper rows are not indented further. */
const indentsMax = 14;

/** Is drawn again only when something of it has changed: a scroll moves the others. */
class TimelineRow extends Component<TimelineRowProps> {
  override shouldComponentUpdate(next: TimelineRowProps): boolean {
    const { row, index, count, isSelected, failed, isWaiting, isFirstWrong } = this.props;
    return (
      row !== next.row ||
      index !== next.index ||
      count !== next.count ||
      isSelected !== next.isSelected ||
      failed !== next.failed ||
      isWaiting !== next.isWaiting ||
      isFirstWrong !== next.isFirstWrong
    );
  }

  override render() {
    return drawnRow(this.props);
  }
}

function drawnRow({ row, index, count, isSelected, failed, isWaiting, isFirstWrong, onSelect, onToggle }: TimelineRowProps) {
  const { span, depth, left, width, tookMicros, below, isOpen, grouped, parallel, note, isSubAgent } = row;
  const kind = kindOf(span, isSubAgent);
  const isFailed = failed > 0 || (span.status === 'error' && !isWaiting);
  const canOpen = below > 0 || grouped !== undefined;
  return (
    <div
      id={`row-${index}`}
      role="treeitem"
      tabIndex={-1}
      aria-level={depth + 1}
      aria-posinset={index + 1}
      aria-setsize={count}
      aria-selected={isSelected}
      aria-expanded={canOpen ? isOpen : undefined}
      class={`timeline-row${isSelected ? ' selected' : ''}${isFailed ? ' failed' : ''}`}
      title={titleOf(row, failed)}
      onClick={() => onSelect(span.span_id)}
    >
      <span class="name" style={{ paddingInlineStart: `${Math.min(depth, indentsMax) * 0.9}rem` }}>
        <span
          class={canOpen ? 'twisty' : 'twisty none'}
          aria-hidden="true"
          onClick={(event) => {
            if (!canOpen) return;
            event.stopPropagation();
            onToggle(row);
          }}
        >
          {canOpen ? (isOpen ? '▾' : '▸') : ''}
        </span>
        <span class={`kind ${kind.style}`}>{kind.word}</span>
        <bdi class="label">{labelOf(span)}</bdi>
        {grouped === undefined ? null : (
          <span class="dim" title={`${grouped} equal calls in a row`}>
            ×{grouped}
          </span>
        )}
        {!isOpen && below > 0 ? (
          <span class="dim small" title={`${below} below it`}>
            +{below}
          </span>
        ) : null}
        {parallel > 1 ? (
          <span class="dim small" title={`${parallel} at the same time`}>
            ∥{parallel}
          </span>
        ) : null}
        {isFailed ? (
          <span class="failed-mark" title={failed > 0 ? 'Failed by a verdict' : 'Ended in an error'}>
            <span aria-hidden="true">✗</span>
            <span class="visually-hidden">{failed > 0 ? ' failed by a verdict' : ' ended in an error'}</span>
          </span>
        ) : null}
        {isFirstWrong ? (
          <span class="first-wrong" title="First wrong step">
            <span aria-hidden="true">⚑ first</span>
            <span class="visually-hidden"> first wrong step</span>
          </span>
        ) : null}
        {isWaiting ? <span title="Waits for a person or another program">‖</span> : null}
        {note === undefined ? null : (
          <span class="note" title={notes[note]}>
            !
          </span>
        )}
      </span>
      <span class="lane" aria-hidden="true">
        <span
          class={`bar ${kind.style}${isFailed ? ' failed' : ''}`}
          style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }}
        />
      </span>
      <span class="took">{durationText(tookMicros)}</span>
    </div>
  );
}

const words: { readonly [role: string]: string } = {
  agent: 'agent',
  workflow: 'flow',
  model: 'model',
  tool: 'tool',
  retriever: 'search',
  step: 'step',
  noise: 'step',
};

function kindOf({ role }: Pick<Span, 'role'>, isSubAgent: boolean): { readonly word: string; readonly style: string } {
  const word = words[role ?? ''] ?? 'span';
  const style = role === 'workflow' ? 'agent' : word === 'span' || word === 'search' ? (word === 'search' ? 'retriever' : 'step') : word;
  return { word: isSubAgent ? 'sub-agent' : word, style };
}

export function labelOf({ role, name, agent, tool, model }: Pick<Span, 'role' | 'name' | 'agent' | 'tool' | 'model'>): string {
  const given = role === 'tool' ? tool : role === 'agent' ? agent : role === 'model' ? model : null;
  return given ?? (name === '' ? 'no name' : name);
}

const notes: { readonly [note in NonNullable<Row['note']>]: string } = {
  parent_missing: 'Its parent is not stored.',
  parent_loop: 'It is its own ancestor, so the tree begins here.',
  ends_before_start: 'It ends before it starts: a clock is wrong.',
  outside_scale: 'It lies outside the time of the run: a clock may be wrong.',
};

function titleOf({ span, note, tookMicros }: Row, failed: number): string {
  return [
    span.name,
    durationText(tookMicros),
    ...(failed > 0 ? [`${failed} failed ${failed === 1 ? 'verdict' : 'verdicts'}`] : []),
    ...(span.status === 'error' ? [`error${span.status_message === '' ? '' : `: ${span.status_message}`}`] : []),
    ...(note === undefined ? [] : [notes[note]]),
  ].join(' · ');
}
