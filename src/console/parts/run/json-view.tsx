/** A JSON value as a tree of lines. Members that a verdict names are marked, with what is wrong beside them. */
import { useMemo, useState } from 'preact/hooks';
import { type JsonLine, jsonLines, type JsonMark } from './json-lines.ts';
import { LongText } from './long-text.tsx';

export interface JsonViewProps {
  readonly value: unknown;
  /** Names the value for a screen reader. */
  readonly label: string;
  readonly marks?: readonly JsonMark[];
  /** Lines that stand without asking. */
  readonly linesMax?: number;
}

const linesMaxDefault = 40;
const allLines = { linesMax: 5_000, depthMax: 60, charsMax: 100_000 };
const fewChars = 400;
const noMarks: readonly JsonMark[] = [];

/** A text stands as text, unless it is JSON itself. */
export function JsonView({ value, label, marks = noMarks, linesMax = linesMaxDefault }: JsonViewProps) {
  const [isOpen, setOpen] = useState(false);
  const parsed = useMemo(() => parsedText(value), [value]);
  const lines = useMemo(
    () => jsonLines(parsed, { marks, ...(isOpen ? allLines : { linesMax, charsMax: fewChars }) }),
    [parsed, marks, isOpen, linesMax],
  );
  if (typeof parsed === 'string' && marks.length === 0) return <LongText text={parsed} />;
  const isCut = lines.some((line) => line.isCut);
  return (
    <div class="json">
      <ol class="json-lines" aria-label={label}>
        {lines.map((line, at) => (
          <Line key={at} line={line} />
        ))}
      </ol>
      {isCut || isOpen ? (
        <button type="button" class="plain small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : 'Show all'}
        </button>
      ) : null}
    </div>
  );
}

function Line({ line: { depth, name, text, kind, marks } }: { readonly line: JsonLine }) {
  const isMarked = marks.length > 0;
  return (
    <li class={isMarked ? 'marked' : undefined} style={{ paddingInlineStart: `min(${Math.min(depth, 40) * 1.1 + 0.5}rem, 60%)` }}>
      {isMarked ? (
        <span class="mark" aria-hidden="true" title="A verdict names this value">
          ✗
        </span>
      ) : null}
      {name === undefined ? null : (
        <span class="json-name">
          <bdi>{name}</bdi>:{' '}
        </span>
      )}
      <bdi class={`json-${kind}`}>{text}</bdi>
      {marks.map((mark) => (
        <span key={mark} class="mark-text">
          {' '}
          {mark}
        </span>
      ))}
    </li>
  );
}

/** Longer texts are not parsed. */
const parsedCharsMax = 200_000;

function parsedText(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > parsedCharsMax || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
